"""Sweeps: ``sweep(file)`` runs every trial of an experiment file and reports on the records."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Optional

from ..config import Places
from ..store import records
from ..store.records import Record

__all__ = ["sweep"]


def sweep(
    file: str | Path,
    store: Optional[str | Path] = None,
    *,
    workers: Optional[int] = None,
    executor: str = "local",
    where: Iterable[str] = (),
    overrides: Iterable[str] = (),
    retry_failed: bool = False,
    tensorboard: bool = False,
    quiet: bool = True,
) -> list[Record]:
    """Run the trials of an experiment that have not been run yet, ``workers`` at a time, and give all their records.

    ``store`` is ``runs/<name of the file>`` where nothing else is said. What was finished is never run again; what was
    interrupted goes on; a trial that fails is recorded as failed and the others go on. ``executor`` is ``local``, or
    ``ray`` for the Ray cluster that this machine belongs to. Where another runner works on the store they share the work.
    """
    from . import executors, grid, runner, worklist

    experiment, path = grid.load(file)
    where, overrides = list(where), list(overrides)
    trials = experiment.trials(where, overrides)
    store = Path(store or Path("runs") / path.stem)
    worklist.write(store, experiment, path, trials, part=bool(where or overrides))
    runner.run(
        store,
        trials,
        executors.create(executor, tensorboard=tensorboard),
        workers=workers,
        retry_failed=retry_failed,
        quiet=quiet,
    )
    places = Places(store)
    found = (records.find(places.folder(trial)) for trial in trials)
    return [record for record in found if record is not None]
