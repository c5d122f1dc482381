"""Protocols: which classes are trained on, which choose the epoch, and which are reported."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from .. import data, metrics, transforms
from ..config import Trial, check_data
from ..data import Dataset


@dataclass(frozen=True)
class Fold:
    """One training of the trial: on ``train``, watched on ``monitor`` after its epochs."""

    number: int
    train: Dataset
    monitor: Dataset
    measured_on: str  # "test" or "validation"


@dataclass(frozen=True)
class Plan:
    """All that a trial trains and tests on."""

    folds: list[Fold]
    test: Dataset


def plan(trial: Trial) -> Plan:
    """The trial's data, loaded and divided; raises UserError where a batch cannot be made of it."""
    transform = transforms.create(**trial.transform)
    train = data.load(**trial.data, split="train", stored=transform.stored)
    test = data.load(**trial.data, split="test", stored=transform.stored_for_test)
    if trial.protocol.name == "paper":
        folds = [Fold(0, train, test, "test")]
    else:
        watched = data.load(**trial.data, split="train", stored=transform.stored_for_test)
        folds = [
            _validation_fold(train, watched, number, trial.protocol.folds)
            for number in range(trial.protocol.folds)
        ]
    for fold in folds:
        check_data(trial, fold.train.num_classes)
        transform.test_shape(fold.train.images)  # refuses images that it cannot make blocks of
    return Plan(folds, test)


def _validation_fold(pool: Dataset, watched: Dataset, number: int, count: int) -> Fold:
    """Classes in their order as a ring; fold i trains on the share (count - 1) / count of it from i / count on. ``watched``
    is the pool with its images stored as for test."""
    classes = pool.num_classes
    ring = np.roll(np.arange(classes), -(number * classes // count))
    cut = classes * (count - 1) // count
    return Fold(number, pool.subset(sorted(ring[:cut])), watched.subset(sorted(ring[cut:])), "validation")


def criterion(trial: Trial) -> metrics.Metric:
    """The metric that the best epoch is chosen by."""
    if trial.protocol.name == "paper":
        return metrics.headline(dataclasses.asdict(trial.evaluation))
    return metrics.get(trial.protocol.criterion)
