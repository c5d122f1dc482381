"""Settings that a search found beside those that a person picked: one table, and how often the search was at least as good."""

from pathlib import Path
from statistics import fmean, variance
from typing import Any

from dmlplayground.parts import protocols
from dmlplayground.reports import usable_records
from dmlplayground.reports.grouping import score
from dmlplayground.reports.tables import Column, Row, Table, signed
from dmlplayground.trial.store.records import Record

PICKED, FOUND = "picked", "found"  # the stores of experiments/by_hand
ABOUT = (
    "Settings that a person who has read the papers would pick (`experiments/by_hand/picked.yaml`) were trained like those that "
    "the first search found: on the same folds of the training classes, which no search had, and with the same new seeds."
)


def of_stores(page: Any, folder: Path) -> None:
    """A section with what the stores below the folder hold for the same methods; nothing if one of them is not there."""
    if not all((folder / name).is_dir() for name in (PICKED, FOUND)):
        return
    records = {name: _finished(folder / name) for name in (PICKED, FOUND)}
    picked, found = (_scores(records[name]) for name in (PICKED, FOUND))
    shared = [method for method in picked if method in found]
    if not shared:
        return
    # The error of a gap of two means over seeds, from all settings together.
    spreads = [variance(values) for side in (picked, found) for values in side.values() if len(values) > 1]
    error = (2 * fmean(spreads) / min(map(len, picked.values()))) ** 0.5 if spreads else 0.0
    gaps = {method: fmean(found[method]) - fmean(picked[method]) for method in shared}
    shared.sort(key=lambda method: -gaps[method])
    below = sum(gap < 0 for gap in gaps.values())
    beyond = sum(gap < -2 * error for gap in gaps.values())
    page.blocks.append("## What a search finds, and what a person picks")
    page.say(
        ABOUT,
        f"The search's settings score at least as high for {len(shared) - below} of {len(shared)} methods, and lower by more "
        f"than twice the error of such a gap ({2 * error:.1f} points) for {beyond}.",
    )
    columns = [Column("method", numeric=False), *map(Column, ("picked", "found", "gap"))]
    rows = [
        Row([method, fmean(picked[method]), fmean(found[method]), signed(gaps[method])]) for method in shared
    ]
    criterion = records[PICKED][0].config["protocol"]["criterion"]
    note = f"{criterion} on validation classes, in percent: means of folds and seeds."
    page.fold(Table("by-hand", "Picked and found", "glyphs", columns, rows, [note]))


def _scores(records: list[Record]) -> dict[str, list[float]]:
    """What validation classes say of every method, a score for each seed."""
    scores: dict[str, list[float]] = {}
    for record in records:
        protocol = protocols.get(record.config["protocol"]["name"])
        value = score(record, protocol.leading, record.config["protocol"]["criterion"])
        if value is not None:
            scores.setdefault(record.config["method"]["name"], []).append(value)
    return scores


def _finished(store: Path) -> list[Record]:
    return [record for record in usable_records.load(store) if record.status == "finished"]
