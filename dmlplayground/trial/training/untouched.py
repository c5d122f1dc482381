"""The network's own row: what its features give before any head and any training, compared by the cosine.

A trial that starts from a trained network, or from features, is to be better than these, and not only than a head with
random weights. They are the same for all trials of a sweep, so they are embedded and scored once and kept in the cache.
"""

import dataclasses
from typing import Any

import mxnet as mx

from ...parts import protocols, transforms
from ...parts.data import Dataset
from ...parts.data.shared import cache
from ..config import Trial, starts_trained
from ..store import records
from . import models
from .folds import Division


def entry(trial: Trial, division: Division, context: mx.Context, threads: int = 1) -> dict[str, Any] | None:
    """The untouched features' scores on the test classes, unless the protocol never looks at them, and, if it keeps
    classes back, their mean over its folds; None if the trial begins with a network that has learned nothing."""
    if not starts_trained(trial.backbone):
        return None
    start = models.start(trial)
    found: dict[str, Any] = {"epoch": 0}
    kept = [fold for fold in division.folds if fold.measured_on != "test"]
    if kept:
        folds = [_scores(trial, fold.monitor, start, context, threads)["metrics"] for fold in kept]
        means = {name: _mean([one[name] for one in folds]) for name in folds[0]}
        found.update({"measured_on": kept[0].measured_on, "metrics": means, protocols.VALIDATION: means})
    if protocols.get(trial.protocol["name"]).tests:
        found.update(measured_on="test", **_scores(trial, division.test, start, context, threads))
    return found


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(values) if len(known) == len(values) else None


def _scores(
    trial: Trial, dataset: Dataset, start: dict[str, str] | None, context: mx.Context, threads: int
) -> dict[str, Any]:
    """The scores of a data set's untouched features. Nothing of the trial but what ``key`` lists changes them."""
    evaluation = dataclasses.replace(trial.evaluation, distance="cosine")
    counting = ("metrics", "ks", "clustering", "kmeans_starts", "intervals")
    key = {
        "data": dataset.digest,
        "backbone": trial.backbone,
        "pooling": trial.head.pooling,
        "start": start and start["sha256"],
        "transform": trial.transform,
        "evaluation": {name: getattr(evaluation, name) for name in counting},
        "device": context.device_type,
        "versions": records.versions(),
    }

    def make() -> dict[str, Any]:
        transform = transforms.create(**trial.transform)
        found = models.features(trial, models.blocks(dataset, transform, threads), context)
        # Seeds draw the starts of clusterings: for features that no seed has touched there is one.
        return models.score(dataclasses.replace(trial, seed=0, evaluation=evaluation), found, dataset)

    return cache.content("untouched", key, make)
