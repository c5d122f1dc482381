"""How long a trial will take on this machine, from a few of its steps."""

from __future__ import annotations

import time
from itertools import islice

from .. import transforms
from ..config import Trial, units
from ..training import folds, models
from ..training.feed import Feed
from ..training.learner import Learner

STEPS = 3  # measured, after one to warm up
FORWARD = 1 / 3  # the cost of embedding an image, as a fraction of a training step's


def seconds(trial: Trial) -> float:
    """An estimate of the seconds that the trial takes: its steps, and the images embedded in its evaluations."""
    division = folds.divide(trial)
    train = division.folds[0].train
    learner = Learner(trial, train.num_classes, models.devices(trial), (0, 0))
    feed = Feed(trial, train, [learner], transforms.create(**trial.transform), seed=trial.seed)
    learner.begin_epoch(1, feed.steps(1))
    taken = []
    for batches in islice(feed.batches(1), 1 + STEPS):
        started = time.perf_counter()
        learner.step(batches).loss.wait_to_read()
        taken.append(time.perf_counter() - started)
    step = sum(taken[1:]) / max(1, len(taken) - 1)
    steps = sum(feed.steps(epoch) for epoch in range(1, trial.epochs + 1)) * len(units(trial))
    times = 1 + trial.epochs // trial.evaluation.every  # each fold is looked at, once before it is trained
    embedded = sum(len(fold.monitor) for fold in division.folds) * times
    embedded += len(division.test) * (1 + len(division.folds))
    return step * (steps + FORWARD * embedded / trial.batch_size)
