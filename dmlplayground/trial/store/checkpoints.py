"""The checkpoint of a trial: everything needed to continue after its last epoch as if nothing had happened."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...base import array_files
from ...base.errors import UserError
from . import CHECKPOINT as FILE

DAMAGED = "checkpoint.npz.damaged"  # an unusable one, out of the way
KEYS = {"unit", "epoch", "epochs", "chosen", "started", "seconds"}


class Checkpoint(NamedTuple):
    """``header`` says how far the trial is, ``arrays`` hold the states of what it trains."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]


def write(folder: Path, trial: str, checkpoint: Checkpoint, through: Path) -> None:
    array_files.write(folder / FILE, {"trial": trial, **checkpoint.header}, checkpoint.arrays, through)


def read(folder: Path, trial: str) -> Checkpoint:
    """The trial's checkpoint; a UserError if it is damaged or belongs to another trial."""
    path = folder / FILE
    header, arrays = array_files.read(path)
    if not isinstance(header, dict) or not set(header) >= KEYS:
        raise UserError(f"{path} is not a checkpoint.")
    if (whose := header.pop("trial", "which it does not name")) != trial:
        raise UserError(f"{path} is the checkpoint of another trial, {whose}.")
    return Checkpoint(header, arrays)
