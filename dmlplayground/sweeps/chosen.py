"""Trials of an experiment and the store for their records: what the command ``sweep`` and ``dml.sweep`` have in common."""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base import files, outside
from ..trial.config import Places, Trial
from ..trial.store import manifest, records
from ..trial.store.records import Record
from . import derived_files, executors, grid, runner
from .job import jobs_left, status
from .worker import TRIAL


@dataclass(frozen=True)
class Chosen:
    """Trials of ``experiment``, whose file is ``file``, for ``store``."""

    experiment: grid.Experiment
    file: Path
    trials: list[Trial]
    store: Path
    # Not just what the file says: then what the store is to hold besides stays as it was stated.
    part: bool = False

    def state(self) -> None:
        """Write down in the store what it is to hold."""
        configurations = {folder.name: trial.mapping() for folder, trial in zip(self.folders(), self.trials)}
        named = self.experiment.title, self.experiment.about, self.file.name
        manifest.write(self.store, *named, configurations, self.part)

    def run(
        self, executor: str = "local", address: str | None = None, log: Iterable[str] = (), **how: Any
    ) -> None:
        """Run what is left of the trials, as ``runner.run`` is told how; returns when all have ended."""
        self.state()
        with closing(executors.create(executor, address, log)) as opened:
            runner.run(self.store, self.trials, opened, **how)

    def commands(self, retry_failed: bool = False) -> list[str]:
        """A command for each trial that is left, for any scheduler. The configurations are written into the store."""
        self.state()
        store = self.store.resolve()
        commands = []
        for job in jobs_left(store, self.trials, retry_failed):
            outside.keep(job.trial.parts, store)
            file = job.folder / TRIAL
            files.write_json(file, job.trial.mapping())
            commands.append(["dmlplayground", "train", str(file), "--store", str(store), "--quiet"])
        return [*map(shlex.join, commands)]

    def folders(self) -> list[Path]:
        return [*map(Places(self.store).folder, self.trials)]

    def tally(self) -> Counter:
        """How many of the trials have which status."""
        return Counter(map(status, self.folders()))

    def records(self) -> list[Record]:
        """The records that there are of the trials."""
        return [record for record in map(records.find, self.folders()) if record is not None]


def choose(
    file: str | Path | Mapping[str, Any],
    store: str | Path | None = None,
    where: Iterable[str] | Mapping[str, Any] = (),
    overrides: Iterable[str] | Mapping[str, Any] = (),
) -> Chosen:
    """The trials of an experiment ``where`` some keys have these values, with ``overrides``; ``store`` is ``runs/<name of
    the file>`` where nothing else is said."""
    where, overrides = derived_files.settings(where), derived_files.settings(overrides)
    experiment, path = grid.load(file)
    trials = experiment.trials(where, overrides)
    if overrides:
        experiment = experiment.changed(path.stem, overrides)
    return Chosen(experiment, path, trials, Path(store or Path("runs") / path.stem), bool(where or overrides))
