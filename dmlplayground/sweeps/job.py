"""Trials on their way through a sweep."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.errors import UserError, warn
from ..parts import metrics, protocols
from ..trial.config import Places, Trial, criterion, total_epochs
from ..trial.store import CHECKPOINT, records, stream
from ..trial.store.records import Record

HEAD = 2**16  # bytes of a record in which its id, its configuration and its status stand
FINISHED = re.compile(
    rb'\{\s*"id": "([^"]*)",\s*"config": .*?\},\s*"status": "finished",\s*"epochs": \[', re.DOTALL
)
# What a killed process leaves in the folder of a finished trial:
LITTER = re.compile(f"lock-|{re.escape(CHECKPOINT)}$")


@dataclass(eq=False)
class SweepTrial:
    """A trial on its way."""

    trial: Trial
    folder: Path
    retry: bool = False  # run it again if it has failed
    searching: bool = False  # it is one of a search, which looks at validation classes alone
    entries: list[dict[str, Any]] = field(default_factory=list)  # its epochs so far
    deaths: int = 0  # how often in a row its process died without getting further
    started: float = 0.0
    ended: bool = False

    def __post_init__(self) -> None:
        self.id, self.total = self.trial.id, total_epochs(self.trial)
        self._size = -1
        self._failure = _stamp(self.folder / records.RECORD)
        self.look()
        self.before = self.epochs  # that it had when the runner first looked
        self.reached = 0  # epochs when its process began

    @property
    def epochs(self) -> int:
        """How many epochs it has done."""
        return sum(entry["epoch"] > 0 for entry in self.entries)

    def look(self) -> None:
        """Read the stream of its epochs, if it has grown."""
        path = self.folder / stream.FILE
        size = path.stat().st_size if path.exists() else -1
        if size != self._size:
            self._size, self.entries = size, stream.read(self.folder)

    def outcome(self) -> Record | None:
        """Its record, once there is nothing left to do. An earlier failure counts, unless it is to be retried."""
        record = records.find(self.folder)
        if record is None or record.status not in ("finished", "failed"):
            return None
        known = _stamp(self.folder / records.RECORD) == self._failure
        return None if record.status == "failed" and self.retry and known else record

    def outcome_line(self, record: Record | None) -> str:
        """How it ended, in a line."""
        if record is None:
            return f"{self.id}: stopped"
        if record.status != "finished":
            return f"{self.id}: {record.status}: {(record.error or 'by hand').strip().splitlines()[-1]}"
        if self.searching:
            metric = criterion(self.trial.protocol, self.trial.evaluation)
            judged = protocols.create(**self.trial.protocol).judged(record.results)
            score = f"{metric.key} {metric.shown(judged)}"
        else:
            protocol = protocols.get(self.trial.protocol["name"])
            score = metrics.first(protocol.measured(record.results, protocol.leading)[0])
        return f"{self.id}: {score} in {record.seconds:.0f} s"


def _stamp(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def jobs_left(
    store: Path, trials: Sequence[Trial], retry_failed: bool = False, searching: bool = False
) -> list[SweepTrial]:
    """The trials that are left to do."""
    left, places = [], Places(store)
    for trial in trials:
        folder = places.folder(trial)
        if _finished(folder) and not any(LITTER.match(path.name) for path in folder.iterdir()):
            continue
        try:
            job = SweepTrial(trial, folder, retry_failed, searching)
            if job.outcome() is None:
                left.append(job)
            else:
                records.tidy(folder)
        except UserError as problem:
            remedy = "To train it, move that file away and run the sweep again."
            warn(f"{problem} The trial is left out. {remedy}")
    return left


def status(folder: Path) -> str:
    """The status of a trial, in a word or two."""
    if _finished(folder):
        return "finished"
    try:
        record = records.find(folder)
    except UserError:
        return "unreadable"
    return record.status if record else "not started"


def _finished(folder: Path) -> bool:
    """Whether the record's first and last lines say that the trial has finished. This is quick, and so many trials are soon
    looked through; a record that is damaged between them is found by whoever reads it."""
    try:
        with (folder / records.RECORD).open("rb") as file:
            said = FINISHED.match(file.read(HEAD))
            file.seek(-2, os.SEEK_END)
            whole = file.read().rstrip().endswith(b"}")
    except OSError:
        return False
    return said is not None and whole and said[1] == os.fsencode(folder.name)
