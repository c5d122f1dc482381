"""What the trials of a store are doing now, as plain values."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Optional

from ...base.errors import UserError
from ...parts import metrics
from ...trial import config as configuration
from ...trial.store import locks, records, stream
from ...trial.store.records import Record
from .. import usable_records

WAITING = "waiting"  # expected, and not started
CURVE = 200  # the most points of a curve that are sent


def of(store: Path, watch: locks.Watch) -> dict[str, Any]:
    """All trials of a store: how many are in which state, those that run with their progress, those that failed with
    their reason, and ``version``, which changes whenever the report would. ``watch`` has seen the locks before: one that
    has stood still since is nobody's."""
    found, problems = records.survey(store)
    for record in found:
        if record.status == "running" and not watch.alive(store / record.id):
            record.status = "interrupted"
    known = {record.id: record for record in found}
    stated = usable_records.planned(store)
    expected = {entry["id"]: entry["config"] for entry in stated.trials}
    states = Counter(record.status for record in found)
    states[WAITING] += sum(name not in known for name in expected)
    return {
        "title": stated.title or store.resolve().name,
        "states": {state: count for state, count in states.items() if count},
        "running": [_running(store / record.id, record) for record in found if record.status == "running"],
        "stopped": [_stopped(record) for record in found if record.status in ("failed", "interrupted")],
        "problems": problems,
        "version": version(store),
    }


def version(store: Path) -> str:
    """A value that changes whenever a record does. The record of a running trial does not change until the trial ends."""
    stamps = [
        (path.parent.name, path.stat().st_mtime_ns) for path in sorted(store.glob(f"*/{records.RECORD}"))
    ]
    return format(hash(json.dumps(stamps)) & 0xFFFFFFFFFFFF, "x")


def _running(folder: Path, record: Record) -> dict[str, Any]:
    entries = stream.read(folder)
    lock = locks.current(folder)
    done = sum(entry["epoch"] > 0 for entry in entries)
    total = _total(record)
    scored = next((entry for entry in reversed(entries) if "metrics" in entry), None)
    return {
        "id": record.id,
        "where": lock.describe() if lock else "",
        "since": record.started,
        "epochs": done,
        "total": total,
        "seconds_left": _seconds_left(entries, done, total),
        "score": metrics.first(scored["metrics"]) if scored else "",
        "curve": _curve(entries),
    }


def _total(record: Record) -> int:
    """How many epochs it is to have; 0 if it has parts that no longer exist."""
    try:
        return configuration.total_epochs(configuration.trial(record.config))
    except UserError:
        return 0


def _seconds_left(entries: list[dict[str, Any]], done: int, total: int) -> Optional[float]:
    """The time left, by the mean time of the epochs so far, with evaluation."""
    timed = [
        entry["seconds"] + entry.get("evaluation_seconds", 0.0) for entry in entries if "seconds" in entry
    ]
    return sum(timed) / len(timed) * max(total - done, 0) if timed else None


def _curve(entries: list[dict[str, Any]]) -> list[list[float]]:
    """(epoch counted over all folds and members, percent of the leading metric)."""
    points = []
    for number, entry in enumerate(entries):
        for name in metrics.leading(entry.get("metrics", {}))[:1]:
            if entry["metrics"][name] is not None:  # not finite
                points.append([number, round(metrics.get(name).scale * entry["metrics"][name], 3)])
    step = max(1, -(-len(points) // CURVE))
    return points[::step]


def _stopped(record: Record) -> dict[str, Any]:
    reason = (record.error or "").strip()
    return {
        "id": record.id,
        "status": record.status,
        "reason": reason.splitlines()[-1]
        if reason
        else "its process has ended; run the sweep again to continue it",
        "traceback": reason,
    }
