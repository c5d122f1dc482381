"""The trials of a sweep: all of them, those that are left, and commands that run these elsewhere."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..base import files, outside
from ..base.errors import UserError, warn
from ..trial.config import Places, Trial
from ..trial.store import manifest, records
from .grid import Experiment
from .job import Job
from .worker import TRIAL


def write(
    store: Path, experiment: Experiment, file: Path, trials: Sequence[Trial], part: bool = False
) -> None:
    """Write into the store which trials the sweep is to hold. ``part``: in addition to those already listed."""
    places = Places(store)
    configurations = {places.folder(trial).name: trial.mapping() for trial in trials}
    manifest.write(store, experiment.title, experiment.about, file.name, configurations, part)


def jobs(store: Path, trials: Sequence[Trial], retry_failed: bool = False) -> list[Job]:
    """The trials that are left to do."""
    left, places = [], Places(store)
    for trial in trials:
        job = Job(trial, places.folder(trial), retry_failed)
        try:
            if job.outcome() is None:
                left.append(job)
            else:
                records.tidy(job.folder)
        except UserError as problem:
            warn(
                f"{problem} The trial is left out. To train it, move that file away and run the sweep again."
            )
    return left


def commands(store: Path, left: Iterable[Job]) -> list[str]:
    """One command for each trial, for any scheduler. The configurations are written into the store."""
    store = store.resolve()
    for job in left:
        outside.keep(job.trial.parts, store)
        files.write_json(job.folder / TRIAL, job.trial.mapping())
    return [
        shlex.join(["dmlplayground", "train", str(store / job.id / TRIAL), "--store", str(store), "--quiet"])
        for job in left
    ]


def tally(store: Path, trials: Sequence[Trial]) -> Counter:
    """How many of the trials have each status."""
    places = Places(store)
    return Counter(status(places.folder(trial)) for trial in trials)


def status(folder: Path) -> str:
    """The status of a trial, in a word or two."""
    try:
        record = records.find(folder)
    except UserError:
        return "unreadable"
    return record.status if record else "not started"
