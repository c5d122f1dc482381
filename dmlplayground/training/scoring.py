"""Scores of what there is already: a trial's trained weights, or arrays from any framework."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import numpy as np

from .. import metrics, records
from ..errors import UserError
from . import models


def of_arrays(embeddings: Path, labels: Path, **options: Any) -> dict[str, float]:
    """Metrics of two ``.npy`` files; the embeddings are read from disk as needed, not into memory."""
    points, classes = _array(embeddings), np.asarray(_array(labels))
    return metrics.evaluate(points, classes, **options)


def _array(path: Path) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    except ValueError as problem:
        raise UserError(f"{path} is not a .npy array of numbers: {problem}.") from None


def of_trial(
    folder: Path,
    *,
    which: str = "best",
    data: Optional[str] = None,
    split: str = "test",
    distance: Optional[str] = None,
    **options: Any,
) -> dict[str, float]:
    """Metrics of a trial's best or last weights on its own data set, or on another."""
    record = records.Record.load(folder / records.RECORD)
    result = record.results.get(which) or record.results.get("joined")
    if result is None:
        raise UserError(f"trial {record.id} is {record.status}; it has no {which} weights to evaluate.")
    learners = [models.load(folder / name) for name in result["weights"]]
    dataset, transform = models.data_of(learners[0].trial, split, data)
    embeddings = models.embed(learners, dataset, transform)
    distance = distance or learners[0].trial.evaluation.distance
    return metrics.evaluate(embeddings, dataset.labels, distance=distance, **options)
