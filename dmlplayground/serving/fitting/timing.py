"""How long a trial will take on this machine, from a short stretch of its training and some of its images embedded."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterable

from ...parts import transforms
from ...trial.config import Trial
from ...trial.training import folds, models
from ...trial.training.feed import Feed
from ...trial.training.learner import Learner

WARM_UP = 2  # pieces of work that are not counted: the first ones allocate memory
COUNTED = 60  # pieces, unless SECONDS are over before and FEWEST are done
FEWEST, SECONDS = 3, 4.0


def seconds(trial: Trial) -> list[float]:
    """The least and the most seconds that the trial is likely to take: its steps, and the images embedded in its
    evaluations. They are equal on a machine that nobody else uses."""
    division = folds.divide(trial)
    train, test = division.folds[0].train, division.test
    transform = transforms.create(**trial.transform)
    learner = Learner(trial, train.num_classes, models.devices(trial), (0, 0))
    feed = Feed(trial, train, [learner], transform, seed=trial.seed)
    learner.begin_epoch(1, feed.steps(1))
    step = duration(learner.step(batches).loss.wait_to_read() for batches in feed.batches(1))
    block = next(models.blocks(test, transform, threads=0))
    embedding = duration(learner.embed([block]) for _ in itertools.count())
    steps = sum(feed.steps(epoch) for epoch in range(1, trial.epochs + 1)) * len(division.folds)
    times = 1 + trial.epochs // trial.evaluation.every  # each fold is looked at, once before it is trained
    embedded = sum(len(fold.monitor) for fold in division.folds) * times
    embedded += len(test) * (1 + len(division.folds))
    blocks = embedded / len(block)
    return [
        trial.ensemble.members * (steps * one_step + blocks * one_block)
        for one_step, one_block in zip(step, embedding)
    ]


def duration(pieces: Iterable[object]) -> tuple[float, float]:
    """The seconds for a piece of work, if other programs leave the machine alone (the median), and if they interrupt as
    often as they do now (the mean)."""
    taken: list[float] = []
    started = time.perf_counter()
    for _ in pieces:
        taken.append(time.perf_counter() - started)
        started += taken[-1]
        counted = taken[WARM_UP:]
        if len(counted) >= COUNTED or (len(counted) >= FEWEST and sum(counted) > SECONDS):
            break
    counted = taken[WARM_UP:] or taken
    middle, mean = statistics.median(counted), statistics.mean(counted)
    return middle, max(middle, mean)
