"""The checkpoint of a trial: all that it takes to go on after its last epoch as if nothing had happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import array_files
from ..errors import UserError

FILE = "checkpoint.npz"
DAMAGED = "checkpoint.npz.damaged"
KEYS = {"unit", "epoch", "epochs", "chosen", "started", "seconds"}


class Checkpoint(NamedTuple):
    """``header`` says how far the trial is, ``arrays`` hold the states of what it trains."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]


def write(folder: Path, trial: str, checkpoint: Checkpoint, through: Path) -> None:
    array_files.write(folder / FILE, {"trial": trial, **checkpoint.header}, checkpoint.arrays, through)


def read(folder: Path, trial: str) -> Checkpoint:
    """The trial's checkpoint; a UserError where it is damaged, or another trial's."""
    path = folder / FILE
    header, arrays = array_files.read(path)
    if not isinstance(header, dict) or not set(header) >= KEYS:
        raise UserError(f"{path} is not a checkpoint.")
    if (whose := header.pop("trial", trial)) != trial:
        raise UserError(f"{path} is the checkpoint of another trial, {whose}.")
    return Checkpoint(header, arrays)


def set_aside(folder: Path) -> Path:
    """Move what cannot be gone on from out of the way; gives where it is."""
    return (folder / FILE).replace(folder / DAMAGED)
