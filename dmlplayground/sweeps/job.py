"""A trial on its way through a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from ..base.errors import UserError, warn
from ..parts import metrics, protocols
from ..trial.config import Places, Trial, criterion, total_epochs
from ..trial.store import records, stream
from ..trial.store.records import Record


@dataclass(eq=False)
class Job:
    """A trial on its way."""

    trial: Trial
    folder: Path
    retry: bool = False  # run it again if it has failed
    searching: bool = False  # it is one of a search, which looks at validation classes alone
    entries: list[dict[str, Any]] = field(default_factory=list)  # its epochs so far
    before: int = 0  # epochs it had when the runner first looked
    reached: int = 0  # epochs when its process began
    deaths: int = 0  # how often in a row its process died without getting further
    started: float = 0.0
    ended: bool = False

    def __post_init__(self) -> None:
        self._size = -1
        self._failure = _stamp(self.folder / records.RECORD)
        self.look()
        self.before = self.epochs

    @property
    def id(self) -> str:
        return self.trial.id

    @property
    def total(self) -> int:
        return total_epochs(self.trial)

    @property
    def epochs(self) -> int:
        """How many epochs it has done."""
        return sum(entry["epoch"] > 0 for entry in self.entries)

    def look(self) -> list[dict[str, Any]]:
        """Read the stream of its epochs and return the new ones."""
        path, known = self.folder / stream.FILE, len(self.entries)
        size = path.stat().st_size if path.exists() else -1
        if size == self._size:
            return []
        self._size = size
        self.entries = stream.read(self.folder)
        return self.entries[known:]

    def outcome(self) -> Optional[Record]:
        """Its record, once there is nothing left to do. An earlier failure counts, unless it is to be retried."""
        record = records.find(self.folder)
        if record is None or record.status not in ("finished", "failed"):
            return None
        again = (
            record.status == "failed" and self.retry and _stamp(self.folder / records.RECORD) == self._failure
        )
        return None if again else record

    def outcome_line(self, record: Optional[Record]) -> str:
        """How it ended, in a line."""
        if record is None:
            return f"{self.id}: stopped"
        if record.status != "finished":
            return f"{self.id}: {record.status}: {(record.error or 'by hand').strip().splitlines()[-1]}"
        protocol = protocols.get(self.trial.protocol["name"])
        if self.searching:
            metric = criterion(self.trial.protocol, self.trial.evaluation)
            judged = protocols.create(**self.trial.protocol).judged(record.results)
            score = f"{metric.key} {metric.shown(judged)}"
        else:
            score = metrics.first(protocol.measured(record.results, protocol.leading)[0])
        return f"{self.id}: {score} in {record.seconds:.0f} s"


def _stamp(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def jobs_left(
    store: Path, trials: Sequence[Trial], retry_failed: bool = False, searching: bool = False
) -> list[Job]:
    """The trials that are left to do."""
    left, places = [], Places(store)
    for trial in trials:
        job = Job(trial, places.folder(trial), retry_failed, searching)
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


def status(folder: Path) -> str:
    """The status of a trial, in a word or two."""
    try:
        record = records.find(folder)
    except UserError:
        return "unreadable"
    return record.status if record else "not started"
