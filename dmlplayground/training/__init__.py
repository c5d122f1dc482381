"""Training: ``train(config)`` runs one trial under the one loop (``run``) and gives its record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from .. import config as configuration
from ..config import Trial
from ..store import locks, records
from ..store.records import Record

__all__ = ["train"]


def train(
    config: Trial | Mapping[str, Any] | str | Path,
    store: str | Path = "runs",
    *,
    threads: int = 1,
    quiet: bool = True,
    tensorboard: bool = False,
) -> Record:
    """Train a trial to its end and give its record, which stays in ``store`` under the trial's id.

    ``config`` is a mapping, a YAML file or a ``Trial``. A finished trial is not run again; one that was interrupted goes on
    from its checkpoint; one that another process trains at this moment is left to it (``locks.Busy``). ``threads`` threads
    prepare the batches; the numbers do not depend on it. ``tensorboard`` writes its event files beside the record.
    """
    from .progress import Progress
    from .tensorboard_files import Events

    given = configuration.read_yaml(config) if isinstance(config, (str, Path)) else config
    trial = configuration.trial(given)
    folder = configuration.Places(store).folder(trial)
    known = _finished(folder)
    if known is not None:
        return known
    progress = Events(quiet) if tensorboard else Progress(quiet)
    with locks.hold(folder) as held:
        if (known := _finished(folder)) is not None:  # by another process, a moment ago
            return known
        from .run import Run  # under the lock: it takes seconds, in which two would begin the same trial

        return Run(trial, held, threads, progress).execute()


def _finished(folder: Path) -> Optional[Record]:
    known = records.find(folder)
    return known if known is not None and known.status == "finished" else None
