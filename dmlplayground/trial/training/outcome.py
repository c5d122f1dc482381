"""The outcome of training, from which the protocol makes the record's results (``protocols.Trained``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np

from ..config import Trial
from ..store import LAST, trained_weights
from ..store.records import Record
from . import models
from .folds import Division
from .learner import Learner

Entry = dict[str, Any]


class Outcome:
    """The epochs of all folds and the models that were kept. These are scored on the test classes on request."""

    def __init__(
        self,
        record: Record,
        trial: Trial,
        folder: Path,
        division: Division,
        chosen: Mapping[int, Entry],  # the best entry of each fold, with its weights
        contexts: list[mx.Context],
        threads: int,
    ):
        self.record = record
        self.trial = trial
        self.folder = folder
        self.division = division
        self.chosen = chosen
        self.contexts = contexts
        self.threads = threads
        # By file of weights: its embeddings of the test images, and its fold.
        self._parts: dict[str, tuple[np.ndarray, int]] = {}

    def entries(self, fold: int) -> list[Entry]:
        return [entry for entry in self.record.epochs if entry["fold"] == fold]

    def last(self, fold: int) -> Entry:
        members = range(self.trial.ensemble.members)
        files = [trained_weights.name(fold, member, LAST) for member in members]
        return {**self.entries(fold)[-1], "weights": files}

    def best(self, fold: int) -> Entry:
        return self.chosen.get(fold) or self.last(fold)

    def untrained(self) -> Entry:
        classes = self.division.folds[0].train.num_classes
        members = range(self.trial.ensemble.members)
        fresh = [Learner(self.trial, classes, self.contexts, (0, member)) for member in members]
        found = models.embed(fresh, self.division.test, self.division.transform, self.threads)
        return {"epoch": 0, **self._scored(found)}

    def tested(self, files: Sequence[str]) -> Entry:
        return {**self._scored(self.embeddings(files)), "weights": list(files)}

    def embeddings(self, files: Sequence[str]) -> np.ndarray:
        """Embeddings of the test images by the models with these weights, side by side."""
        for name in files:
            if name not in self._parts:
                learner = models.load(self.folder / name, self.contexts, self.record.id)
                found = models.outputs(learner, self.division.test, self.division.transform, self.threads)
                self._parts[name] = found, learner.fold
        parts, folds = zip(*(self._parts[name] for name in files))
        return models.join(self.trial, parts, folds)

    def _scored(self, embeddings: np.ndarray) -> Entry:
        return {"measured_on": "test", **models.score(self.trial, embeddings, self.division.test)}
