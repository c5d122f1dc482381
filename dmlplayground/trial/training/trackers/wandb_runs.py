"""Weights & Biases: a run for each trial, in the project $WANDB_PROJECT, else dmlplayground.

Its other variables count too; with WANDB_MODE=offline all stays in the trial's folder until ``wandb sync``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

from ....base import optional
from ...config import Trial
from ...store import locks


class Tracker:
    """A continued trial is the same run: it is known by the trial's id and folder."""

    program = "Weights & Biases"

    def __init__(self) -> None:
        self._wandb = optional.load("wandb")
        self._run: Any = None

    def begin(self, trial: Trial, held: locks.Held, step: int) -> None:
        place = hashlib.sha256(str(held.folder.resolve()).encode()).hexdigest()[:8]
        self._run = self._wandb.init(
            project=os.environ.get("WANDB_PROJECT", "dmlplayground"),
            id=f"{trial.id[:100]}-{place}",
            name=trial.id,
            resume="allow",
            config=trial.mapping(),
            dir=str(held.folder),
            settings=self._wandb.Settings(console="off", silent=True),
        )

    def write(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log(dict(values), step=step)  # W&B passes over steps that it has

    def end(self) -> None:
        if self._run is not None:
            self._run.finish()
