"""How long a trial will take on this machine, from a short stretch of its training and some of its images embedded."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterable

from .. import transforms
from ..config import Trial
from ..training import folds, models
from ..training.feed import Feed
from ..training.learner import Learner

WARM_UP = 2  # pieces of work that are not counted: the first ones allocate memory
COUNTED = 15  # pieces, unless SECONDS are over before and FEWEST are done
FEWEST, SECONDS = 3, 8.0


def seconds(trial: Trial) -> float:
    """An estimate of the seconds that the trial takes: its steps, and the images embedded in its evaluations."""
    division = folds.divide(trial)
    train, test = division.folds[0].train, division.test
    transform = transforms.create(**trial.transform)
    learner = Learner(trial, train.num_classes, models.devices(trial), (0, 0))
    feed = Feed(trial, train, [learner], transform, seed=trial.seed)
    learner.begin_epoch(1, feed.steps(1))
    step = usual(learner.step(batches).loss.wait_to_read() for batches in feed.batches(1))
    block = next(models.blocks(test, transform, threads=0))
    image = usual(learner.embed([block]) for _ in itertools.count()) / len(block)
    steps = sum(feed.steps(epoch) for epoch in range(1, trial.epochs + 1)) * len(division.folds)
    times = 1 + trial.epochs // trial.evaluation.every  # each fold is looked at, once before it is trained
    embedded = sum(len(fold.monitor) for fold in division.folds) * times
    embedded += len(test) * (1 + len(division.folds))
    return trial.ensemble.members * (steps * step + embedded * image)


def usual(pieces: Iterable[object]) -> float:
    """The seconds that a piece of work usually takes, when they are done one after another: the median, which a pause that
    other programs cause does not change."""
    taken: list[float] = []
    started = time.perf_counter()
    for _ in pieces:
        taken.append(time.perf_counter() - started)
        started += taken[-1]
        counted = taken[WARM_UP:]
        if len(counted) >= COUNTED or (len(counted) >= FEWEST and sum(counted) > SECONDS):
            break
    return statistics.median(taken[WARM_UP:] or taken)
