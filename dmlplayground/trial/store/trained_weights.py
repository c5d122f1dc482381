"""Trained weights: a file for each member of each fold, after its best and its last epoch."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...base import array_files
from ...base.errors import UserError


class Weights(NamedTuple):
    """The content of a file of weights: the arrays, and the network they belong to."""

    trial: str
    config: dict[str, Any]
    classes: int
    fold: int
    arrays: dict[str, np.ndarray]


def name(fold: int, member: int, which: str) -> str:
    """The file of the ``best`` or ``last`` weights of a member of a fold."""
    return f"fold{fold}-member{member}.{which}.npz"


def write(path: Path, weights: Weights, through: Path) -> None:
    header = {key: value for key, value in weights._asdict().items() if key != "arrays"}
    array_files.write(path, header, weights.arrays, through)


def read(path: Path, trial: str | None = None) -> Weights:
    """The weights in a file; a UserError if they are damaged, or do not belong to the trial with this id."""
    header, arrays = array_files.read(path)
    if not isinstance(header, dict) or not {"config", "classes"} <= set(header):
        raise UserError(f"{path} does not hold trained weights.")
    whose = header.get("trial")
    if trial is not None and whose is not None and whose != trial:
        raise UserError(f"{path} holds the weights of another trial, {whose}, not of {trial}.")
    return Weights(whose or "", header["config"], header["classes"], header.get("fold", 0), arrays)
