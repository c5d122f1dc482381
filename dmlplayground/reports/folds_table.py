"""The results of a protocol with folds under the names of its study, with the interval of the mean over runs."""

from __future__ import annotations

from typing import Optional

from ..studies import published
from ..studies.published import Study
from . import columns
from .columns import Field
from .grouping import Arena, Cell
from .tables import Column, Interval, Table, units

INTERVALS = (
    "±: half of the 95 % interval of the mean over runs, by Student's t. Fewer than three runs have none."
)


def tables(arena: Arena) -> list[Table]:
    """One for each study whose tables show this protocol's results, if its metrics were measured."""
    return [
        _table(arena, study)
        for study in published.tabulated(arena.protocol.key)
        if set(study.metrics) <= set(arena.metrics)
    ]


def _table(arena: Arena, study: Study) -> Table:
    labels = arena.protocol.labels
    fields = [*columns.naming(arena), Field(Column("runs"), lambda cell: len(cell.records))]
    for which, label in labels.items():
        known = {metric for cell in arena.finished for metric in cell.published(which)}
        for metric, theirs in study.metrics.items():
            fields.append(_mean(which, metric, f"{label} {theirs}"))
            if metric in known:
                fields.append(columns.quoted(metric, which, f"{label} {theirs} published"))
    # Untrained networks first, then the best first.
    cells = sorted(arena.finished, key=lambda cell: cell.trained)
    meanings = "; ".join(f"{label}: {arena.protocol.results[which]}" for which, label in labels.items())
    quotes = published.notes(
        published.Trials(cell.config, len(cell.records), tuple(labels)) for cell in arena.finished
    )
    notes = [*units(study.metrics, "mean over runs"), f"{meanings}.", INTERVALS, *quotes]
    title = " and ".join(labels.values()).capitalize()
    return columns.table("repeats", title, arena, fields, notes, cells, arena.untouched())


def _mean(which: str, metric: str, heading: str) -> Field:
    def value(cell: Cell) -> Optional[Interval]:
        measured = cell.scores(which, metric)
        return Interval.of(measured.mean, measured.interval) if measured else None

    return Field(Column(heading), value, of_features=lambda cell: cell.untouched(which, metric))
