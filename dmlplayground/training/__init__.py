"""Training: ``train(config)`` runs one trial under the one loop (``run``) and gives its record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import config as configuration
from .. import records
from ..config import Trial
from ..records import Record

__all__ = ["train"]


def train(config: Trial | Mapping[str, Any] | str | Path, store: str | Path = "runs", *, workers: int = 1, quiet: bool = True) -> Record:
    """Train a trial to its end and give its record, which stays in ``store`` under the trial's id.

    ``config`` is a mapping, a YAML file or a ``Trial``. A finished trial is not run again; one that was interrupted goes on
    from its checkpoint. ``workers`` threads prepare the batches; the numbers do not depend on it.
    """
    from .progress import Progress
    from .run import Run

    if isinstance(config, (str, Path)):
        config = configuration.read_yaml(config)
    trial = configuration.trial(config)
    folder = Path(store) / trial.id
    known = records.find(folder)
    if known is not None and known.status == "finished":
        return known
    return Run(trial, folder, workers, Progress(quiet)).execute()
