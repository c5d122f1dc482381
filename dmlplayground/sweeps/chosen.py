"""The trials of an experiment that somebody wants to run, and the store for their records: what the command ``sweep`` and
``dml.sweep`` have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

from ..trial.config import Places, Trial
from ..trial.store import records
from ..trial.store.records import Record
from . import derived_files, executors, grid, runner, worklist

__all__ = ["Chosen", "choose"]


@dataclass(frozen=True)
class Chosen:
    """Trials of ``experiment``, whose file is ``file``, for ``store``."""

    experiment: grid.Experiment
    file: Path
    trials: list[Trial]
    store: Path
    part: bool  # not just what the file says: then what the store is to hold besides stays as it was stated

    def state(self) -> None:
        """Write down in the store what it is to hold."""
        worklist.write(self.store, self.experiment, self.file, self.trials, self.part)

    def run(
        self,
        *,
        workers: Optional[int] = None,
        executor: str = "local",
        address: Optional[str] = None,
        log: Iterable[str] = (),
        retry_failed: bool = False,
        quiet: bool = True,
    ) -> None:
        """Run what is left of the trials; returns when all have ended."""
        self.state()
        made = executors.create(executor, address, log)
        try:
            runner.run(self.store, self.trials, made, workers=workers, retry_failed=retry_failed, quiet=quiet)
        finally:
            made.close([])

    def commands(self, retry_failed: bool = False) -> list[str]:
        """A command for each trial that is left, for any scheduler."""
        self.state()
        return worklist.commands(self.store, worklist.jobs(self.store, self.trials, retry_failed))

    def tally(self) -> Counter:
        """How many of the trials have which status."""
        return worklist.tally(self.store, self.trials)

    def records(self) -> list[Record]:
        """The records that there are of the trials."""
        places = Places(self.store)
        found = (records.find(places.folder(trial)) for trial in self.trials)
        return [record for record in found if record is not None]


def choose(
    file: Union[str, Path, Mapping[str, Any]],
    store: Optional[str | Path] = None,
    where: Union[Iterable[str], Mapping[str, Any]] = (),
    overrides: Union[Iterable[str], Mapping[str, Any]] = (),
) -> Chosen:
    """The trials of an experiment ``where`` some keys have these values, with ``overrides``; ``store`` is ``runs/<name of
    the file>`` where nothing else is said."""
    where, overrides = derived_files.settings(where), derived_files.settings(overrides)
    experiment, path = grid.load(file)
    trials = experiment.trials(where, overrides)
    if overrides:
        experiment = experiment.changed(path.stem, overrides)
    return Chosen(experiment, path, trials, Path(store or Path("runs") / path.stem), bool(where or overrides))
