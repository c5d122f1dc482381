"""Scores of existing embeddings and models: a trial's trained weights, or arrays from any framework."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Optional

import numpy as np

from ...base import files
from ...base.errors import UserError
from ...parts import metrics, protocols
from ...parts.backbones.shared.engines import Engine
from ..store import BEST, records
from . import models
from .learner import Learner


def of_arrays(embeddings: Any, labels: Any, **options: Any) -> dict[str, Optional[float]]:
    """Metrics of two arrays or ``.npy`` files; embeddings in a file are read from disk as needed, not into memory."""
    wanted = {key: value for key, value in options.items() if value is not None}
    return {**metrics.evaluate(_array(embeddings), np.asarray(_array(labels)), **wanted)}


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
    """The learners that together are a trial's best or last model. If its protocol has no such model, those of its
    leading result."""
    record = records.Record.load(folder / records.RECORD)
    result = record.results.get(which) or record.results.get(
        protocols.get(record.config["protocol"]["name"]).leading
    )
    if result is None:
        raise UserError(f"trial {record.id} is {record.status}; it has no {which} weights.")
    if not isinstance(result, dict) or not result.get("weights"):
        raise UserError(f"{folder / records.RECORD} does not say which weights are the {which} ones.")
    return [models.load(folder / name, owner=record.id) for name in result["weights"]]


def of_trial(
    folder: Path,
    *,
    which: str = BEST,
    data: Optional[str] = None,
    split: str = "test",
    seed: Optional[int] = None,
    engine: str = "float32",
    **changes: Any,
) -> dict[str, Optional[float]]:
    """Metrics of a trial's best or last weights on its own data set, or on another: the same as in the record, except
    for the ``changes`` to the configuration's ``evaluation``."""
    members = learners(folder, which)
    for learner in members:
        learner.extractor = Engine(learner.network, engine)
    trial = members[0].trial
    dataset, transform = models.data_of(trial, split, data)
    embeddings = models.embed(members, dataset, transform)
    wanted = {key: value for key, value in changes.items() if value is not None}
    trial = dataclasses.replace(trial, evaluation=dataclasses.replace(trial.evaluation, **wanted))
    return models.score(
        trial if seed is None else dataclasses.replace(trial, seed=seed), embeddings, dataset
    )["metrics"]
