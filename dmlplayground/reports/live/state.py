"""What the trials of a store are doing now, as plain values."""

import os
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from ...base.errors import UserError
from ...parts import metrics
from ...trial import config as configuration
from ...trial.store import existing, locks, manifest, packed, records, stream
from ...trial.store.manifest import Manifest
from ...trial.store.records import Record
from .. import usable_records

WAITING = "waiting"  # expected, and not started
MOMENT = 2 * 10**9  # nanoseconds
LOOKS = 2000  # folders that a poll looks at, of those that have ended
CURVE = 200  # the most points of a curve that are sent


class Known(NamedTuple):
    """What was read of a trial."""

    stamps: tuple[int, ...]  # of its folder, and of the file of packed records
    written: int  # the stamp of its record
    status: str = ""  # none without a record
    record: Record | None = None  # of one that runs
    stopped: dict[str, Any] | None = None
    problem: str = ""


NEW = Known((), 0)


class Listing:
    """The trials of a store. It is kept in memory: a poll reads only the records whose folders have changed."""

    def __init__(self, store: Path):
        self.store = store
        self._trials: dict[str, Known] = {}
        self._names: list[str] = []
        self._stamps: tuple[int, ...] = ()  # of the store's folder, of its packed records, of its manifest
        self._planned = Manifest()
        self._unpacked = ""  # why the packed records cannot be read
        self._moving: set[str] = set()  # the trials that run, have just changed, or are new
        self._said: dict[str, Any] = {}  # the summary of all
        self._next = 0
        self._watch = locks.Watch()
        self._one_at_a_time = threading.Lock()

    def now(self) -> dict[str, Any]:
        """How many trials are in which state, those that run with their progress, those that failed with their reason, and
        ``version``, which changes whenever the report would."""
        with self._one_at_a_time:
            if self._look() or not self._said:
                self._said = self._summary()
            running = ((self.store / name, self._trials[name].record) for name in sorted(self._moving))
            shown = [_running(folder, record) for folder, record in running if record]
            return {**self._said, "running": shown}

    def _summary(self) -> dict[str, Any]:
        known = self._trials
        states = Counter(one.status for one in known.values() if one.status)
        expected = (known.get(trial["id"]) for trial in self._planned.trials)
        states[WAITING] += sum(one is None or not (one.status or one.problem) for one in expected)
        version = hash(tuple((name, one.written) for name, one in known.items() if one.written))
        return {
            "title": self._planned.title or self.store.resolve().name,
            "states": {state: count for state, count in states.items() if count},
            "stopped": [one.stopped for one in known.values() if one.stopped],
            "problems": [*filter(None, [self._unpacked, *(one.problem for one in known.values())])],
            "version": format(version & 0xFFFFFFFFFFFF, "x"),
        }

    def _look(self) -> bool:
        """Read what has changed; returns whether anything has. Of many folders that have stood still a part is looked at, in
        turn; a new one is at once."""
        now = time.time_ns()
        stamps = tuple(map(_stamp, (self.store, self.store / packed.FILE, self.store / manifest.FILE)))
        changed = stamps != self._stamps
        if changed or now - stamps[0] < MOMENT:
            if stamps[2:] != self._stamps[2:]:
                self._planned = usable_records.planned(self.store)
            self._stamps = stamps
            changed |= self._list()
        begin, self._next = self._next, self._next + LOOKS
        turn = self._names[begin : self._next]
        if self._next >= len(self._names):
            self._next = 0
        for name in self._moving.union(turn):
            known, folder = self._trials[name], self.store / name
            new = (_stamp(folder), stamps[1])
            if name in self._moving or known.stamps != new:
                found = self._trials[name] = self._read(folder, new)
                changed |= found != known
                # It changes only with its stamps; two changes within a moment may leave the same ones.
                settled = found.record is None and now - new[0] > MOMENT
                (self._moving.discard if settled else self._moving.add)(name)
        return changed

    def _list(self) -> bool:
        """The names of the trials; returns whether they have changed."""
        folders = {entry.name for entry in os.scandir(existing(self.store)) if entry.is_dir()}
        try:
            together, self._unpacked = packed.read(self.store / packed.FILE), ""
        except UserError as problem:
            together, self._unpacked = {}, str(problem)
        before, self._names = self._names, sorted(folders.union(together))
        self._moving = {name for name in self._names if name in self._moving or name not in self._trials}
        self._trials = {name: self._trials.get(name, NEW) for name in self._names}
        return before != self._names

    def _read(self, folder: Path, stamps: tuple[int, ...]) -> Known:
        written = _stamp(folder / records.RECORD)
        try:
            record = records.find(folder)
        except UserError as problem:
            return Known(stamps, written, problem=str(problem))
        if record is None:
            return Known(stamps, written)
        if record.status == "running" and not self._watch.alive(folder):
            record.status = "interrupted"
        if record.status == "running":
            return Known(stamps, written, record.status, record)
        ended_well = record.status == "finished"
        return Known(stamps, written, record.status, stopped=None if ended_well else _stopped(record))


def _stamp(path: Path) -> int:
    """When it was changed; 0 where it is not."""
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116 (of tens of thousands, half the time)
    except OSError:
        return 0


def _running(folder: Path, record: Record) -> dict[str, Any]:
    entries = stream.read(folder)
    lock = locks.current(folder)
    done = sum(entry["epoch"] > 0 for entry in entries)
    try:
        total = configuration.total_epochs(configuration.trial(record.config))
    except UserError:  # it has parts that no longer exist
        total = 0
    # By the mean time of the epochs so far, with evaluation.
    timed = [one["seconds"] + one.get("evaluation_seconds", 0.0) for one in entries if "seconds" in one]
    scored = next((entry for entry in reversed(entries) if "metrics" in entry), None)
    return {
        "id": record.id,
        "where": lock.describe() if lock else "",
        "since": record.started,
        "epochs": done,
        "total": total,
        "seconds_left": sum(timed) / len(timed) * max(total - done, 0) if timed else None,
        "score": metrics.first(scored["metrics"]) if scored else "",
        "curve": _curve(entries),
    }


def _curve(entries: list[dict[str, Any]]) -> list[list[float]]:
    """(epoch counted over all folds and members, percent of the leading metric)."""
    points = []
    for number, entry in enumerate(entries):
        for name in metrics.leading(entry.get("metrics", {}))[:1]:
            if entry["metrics"][name] is not None:  # not finite
                points.append([number, round(metrics.get(name).scale * entry["metrics"][name], 3)])
    return points[:: max(1, -(-len(points) // CURVE))]


def _stopped(record: Record) -> dict[str, Any]:
    traceback = (record.error or "").strip()
    reason = traceback.splitlines()[-1:] or ["its process has ended; run the sweep again to continue it"]
    return {"id": record.id, "status": record.status, "reason": reason[0], "traceback": traceback}
