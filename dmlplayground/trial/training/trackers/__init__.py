"""Trackers: other programs for watching curves. They get what the record holds of every epoch.

The record stays what counts: a tracker that fails is left out with a warning, and training continues.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ....base.errors import unknown

if TYPE_CHECKING:
    from ..progress import Progress
    from .programs import Tracker

__all__ = ["FILES", "create", "progress", "require"]

FILES = {"tensorboard": "TensorBoard", "wandb": "WeightsAndBiases", "mlflow": "MLflow"}


def create(name: str) -> Tracker:
    """The tracker called ``tensorboard``, ``wandb`` or ``mlflow``; a ``UserError`` where its package is missing."""
    if name not in FILES:
        raise unknown("tracker", name, FILES)
    from . import programs  # here, as what only lists asks for names alone

    return getattr(programs, FILES[name])()


def require(names: Iterable[str]) -> None:
    """A ``UserError`` where one of them is unknown, or its package missing."""
    for name in names:
        create(name)


def progress(names: Iterable[str], quiet: bool) -> Progress:
    """The progress of a trial, shown to the user unless ``quiet``, and sent to these trackers."""
    from .programs import TrackedProgress

    return TrackedProgress([create(name) for name in dict.fromkeys(names)], quiet)
