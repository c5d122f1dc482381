"""Trackers: other programs for watching curves. They get what the record holds of every epoch. One file each:

    class Tracker:
        program = "..."                                # as users call it
        def __init__(self): ...                        # a UserError where its package is missing: before training
        def begin(self, trial, held, step): ...        # the trial is locked; steps below ``step`` an earlier run sent
        def write(self, step, values): ...             # numbers by name; of a resumed trial the last may be sent twice
        def end(self): ...                             # also after a failed ``begin``

The record stays what counts: a tracker that fails is left out with a warning, and training continues.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from ....base.errors import unknown

if TYPE_CHECKING:
    from ...config import Trial
    from ...store import locks
    from ..progress import Progress

__all__ = ["FILES", "Tracker", "create", "progress", "require"]

FILES = {"tensorboard": "tensorboard_files", "wandb": "wandb_runs", "mlflow": "mlflow_runs"}


class Tracker(Protocol):
    """What a trial's curves go to."""

    program: str

    def begin(self, trial: Trial, held: locks.Held, step: int) -> None: ...
    def write(self, step: int, values: Mapping[str, float]) -> None: ...
    def end(self) -> None: ...


def create(name: str) -> Tracker:
    """The tracker called ``tensorboard``, ``wandb`` or ``mlflow``."""
    if name not in FILES:
        raise unknown("tracker", name, FILES)
    return importlib.import_module(f".{FILES[name]}", __name__).Tracker()


def require(names: Iterable[str]) -> None:
    """A ``UserError`` where one of them is unknown, or its package missing."""
    for name in names:
        create(name)


def progress(names: Iterable[str], quiet: bool) -> Progress:
    """The progress of a trial, shown to the user unless ``quiet``, and sent to these trackers."""
    from .tracked_progress import TrackedProgress  # here, as what only lists asks for names alone

    return TrackedProgress([create(name) for name in dict.fromkeys(names)], quiet)
