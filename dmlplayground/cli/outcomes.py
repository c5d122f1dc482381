"""What is to run, and what has come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import metrics
from . import text

if TYPE_CHECKING:
    from ..config import Trial
    from ..store.records import Record


def plan(trials: Sequence[Trial], store: Path) -> str:
    """What would run, and what of it is there already."""
    from ..sweeps.plan import status

    rows = [(trial.id, status(store / trial.id)) for trial in trials]
    states = Counter(state for _, state in rows)
    return text.columns(rows) + f"\n{text.plural(len(trials), 'trial')} in {store}: " + text.tally(states)


def results(record: Record, folder: Path) -> str:
    """A finished trial's results."""
    shown = [key for key in ("untrained", "last", "best", "joined") if key in record.results]
    names = list(record.results[shown[-1]]["metrics"])
    rows = [("", *names)]
    for key in shown:
        entry = record.results[key]
        label = f"{key} (epoch {entry['epoch']})" if key in ("last", "best") else key
        rows.append((label, *(metrics.get(name).shown(entry["metrics"][name]) for name in names)))
    return text.columns(rows) + f"\nfinished in {record.seconds:.0f} s; record in {folder}"


def scores(values: Mapping[str, Any]) -> str:
    """Metrics, a line each: in percent, or as numbers where they are no shares."""
    return text.columns([(name, metrics.get(name).shown(value)) for name, value in values.items()])


def report(store: Path) -> None:
    """Make the report of a store, and print its leaderboard."""
    from .. import reports
    from ..reports import reading

    page = reports.report(store)
    board = reports.leaderboard(reading.load(store), reports.planned(store))
    print(f"\n{reports.terminal(board)}\n\nreport: {page}")
