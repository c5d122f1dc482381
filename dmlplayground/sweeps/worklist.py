"""What a sweep is to hold, what is left of it, and commands that do it elsewhere."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from .. import files
from ..config import Places, Trial
from ..errors import UserError, warn
from ..store import locks, manifest, records
from .grid import Experiment
from .job import Job
from .worker import TRIAL


def write(
    store: Path, experiment: Experiment, file: Path, trials: Sequence[Trial], part: bool = False
) -> None:
    """State in the store what the sweep is to hold. ``part``: besides what was stated before."""
    places = Places(store)
    configurations = {places.folder(trial).name: trial.mapping() for trial in trials}
    manifest.write(store, experiment.title, experiment.about, file.name, configurations, part)


def jobs(store: Path, trials: Sequence[Trial], retry_failed: bool = False) -> list[Job]:
    """What is left to do of the trials."""
    left, places = [], Places(store)
    for trial in trials:
        job = Job(trial, places.folder(trial), retry_failed)
        try:
            if job.outcome() is None:
                left.append(job)
            else:
                locks.tidy(job.folder)
        except UserError as problem:
            warn(f"{problem} The trial is left out; to train it, move that file away and sweep again.")
    return left


def commands(store: Path, left: Iterable[Job]) -> list[str]:
    """A command a trial, for any scheduler; their configurations are put into the store."""
    store = store.resolve()
    for job in left:
        files.write_json(job.folder / TRIAL, job.trial.mapping())
    return [
        shlex.join(["dmlplayground", "train", str(store / job.id / TRIAL), "--store", str(store), "--quiet"])
        for job in left
    ]


def tally(store: Path, trials: Sequence[Trial]) -> Counter:
    """How many of the trials have which status."""
    places = Places(store)
    return Counter(status(places.folder(trial)) for trial in trials)


def status(folder: Path) -> str:
    """How a trial is doing, in a word or two."""
    try:
        record = records.find(folder)
    except UserError:
        return "unreadable"
    return record.status if record else "not started"
