"""Scores of existing embeddings and models: of a training's outcome, a trial's weights, or arrays from any framework."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mxnet as mx
import numpy as np

from ...base import files
from ...base.errors import UserError
from ...parts import metrics, protocols, transforms
from ...parts.backbones.shared.engines import Engine
from ...parts.data import Dataset
from ...parts.data.shared import cache
from ..config import Trial, starts_trained
from ..store import BEST, LAST, records, trained_weights
from . import models
from .folds import Division
from .learner import Learner

if TYPE_CHECKING:
    from .run import Run

Entry = dict[str, Any]


def of_arrays(embeddings: Any, labels: Any, **options: Any) -> dict[str, float | None]:
    """Metrics of two arrays or ``.npy`` files; embeddings in a file are read from disk as needed, not into memory."""
    return {**metrics.evaluate(_array(embeddings), np.asarray(_array(labels)), **options)}


def _array(given: Any) -> np.ndarray:
    if not isinstance(given, (str, Path)):
        return np.asarray(given)
    path = Path(given)
    try:
        with files.opened(path):  # reading a pipe could wait forever
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except EOFError:
        raise UserError(f"{path} is empty.") from None
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    except (ValueError, OverflowError) as problem:
        raise UserError(f"{path} is not a .npy array of numbers: {str(problem).rstrip('.')}.") from None
    if not isinstance(array, np.ndarray):
        raise UserError(f"{path} holds several arrays; give a .npy of one.")
    return array


def learners(folder: Path, which: str = BEST) -> list[Learner]:
    """The learners that together are a trial's best or last model; without one under its protocol, its leading result's."""
    record = records.Record.load(folder / records.RECORD)
    leading = protocols.get(record.config["protocol"]["name"]).leading
    result = record.results.get(which) or record.results.get(leading)
    if result is None:
        raise UserError(f"trial {record.id} is {record.status}; it has no {which} weights.")
    if not isinstance(result, dict) or not result.get("weights"):
        raise UserError(f"{folder / records.RECORD} does not say which weights are the {which} ones.")
    return [models.load(folder / name, owner=record.id) for name in result["weights"]]


def of_trial(
    folder: Path, which: str, data: str | None, split: str, engine: str, changes: dict[str, Any]
) -> dict[str, float | None]:
    """As in the record, except for the ``changes`` to the configuration's ``evaluation`` and to its seed."""
    members = learners(folder, which)
    for learner in members:
        learner.extractor = Engine(learner.network, engine)
    trial = members[0].trial
    dataset, transform = models.data_of(trial, split, data)
    embeddings = models.embed(members, dataset, transform)
    seed = changes.pop("seed", trial.seed)
    trial = dataclasses.replace(trial, evaluation=dataclasses.replace(trial.evaluation, **changes), seed=seed)
    return models.score(trial, embeddings, dataset)["metrics"]


class Outcome:
    """What the protocol makes the results of (``protocols.Trained``): all epochs, and the kept models, scored on request."""

    def __init__(self, run: "Run"):
        self.run, self.trial, self.division = run, run.trial, run.division
        # By file of weights: its embeddings of the test images, and its fold.
        self._parts: dict[str, tuple[np.ndarray, int]] = {}

    def entries(self, fold: int) -> list[Entry]:
        return [entry for entry in self.run.record.epochs if entry["fold"] == fold]

    def last(self, fold: int) -> Entry:
        members = range(self.trial.ensemble.members)
        files = [trained_weights.name(fold, member, LAST) for member in members]
        return {**self.entries(fold)[-1], "weights": files}

    def best(self, fold: int) -> Entry:
        return self.run.chosen.get(fold) or self.last(fold)

    def untrained(self) -> Entry:
        classes = self.division.folds[0].train.num_classes
        members = range(self.trial.ensemble.members)
        fresh = [Learner(self.trial, classes, self.run.contexts, (0, member)) for member in members]
        found = models.embed(fresh, self.division.test, self.division.transform, self.run.threads)
        return {"epoch": 0, **self._scored(found)}

    def tested(self, files: Sequence[str]) -> Entry:
        return {**self._scored(self.embeddings(files)), "weights": list(files)}

    def embeddings(self, files: Sequence[str]) -> np.ndarray:
        """Embeddings of the test images by the models with these weights, side by side."""
        for name in files:
            if name not in self._parts:
                learner = models.load(self.run.folder / name, self.run.contexts, self.trial.id)
                test, transform = self.division.test, self.division.transform
                self._parts[name] = models.outputs(learner, test, transform, self.run.threads), learner.fold
        parts, folds = zip(*(self._parts[name] for name in files))
        return models.join(self.trial, parts, folds)

    def _scored(self, embeddings: np.ndarray) -> Entry:
        return {"measured_on": "test", **models.score(self.trial, embeddings, self.division.test)}


def untouched(trial: Trial, division: Division, context: mx.Context, threads: int = 1) -> Entry | None:
    """The untouched features' scores on the test classes, unless the protocol never looks at them, and, if it keeps
    classes back, their mean over its folds; None if the trial begins with a network that has learned nothing.

    A trial that starts from a trained network, or from features, is to be better than these, and not only than a head with
    random weights. They are the same for all trials of a sweep, so they are embedded and scored once and kept in the cache.
    """
    if not starts_trained(trial.backbone):
        return None
    start = models.start(trial)
    found: dict[str, Any] = {"epoch": 0}
    kept = [fold for fold in division.folds if fold.measured_on != "test"]
    if kept:
        folds = [_untouched_scores(trial, fold.monitor, start, context, threads)["metrics"] for fold in kept]
        means = {name: _mean([one[name] for one in folds]) for name in folds[0]}
        found.update({"measured_on": kept[0].measured_on, "metrics": means, protocols.VALIDATION: means})
    if protocols.get(trial.protocol["name"]).tests:
        found.update(measured_on="test", **_untouched_scores(trial, division.test, start, context, threads))
    return found


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(values) if len(known) == len(values) else None


def _untouched_scores(
    trial: Trial, dataset: Dataset, start: dict[str, str] | None, context: mx.Context, threads: int
) -> Entry:
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
