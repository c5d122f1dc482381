"""The table of A Metric Learning Reality Check: the folds' models joined and apart, with the interval of the mean over runs."""

from __future__ import annotations

from typing import Any, Optional

from .. import protocols
from . import published
from .grouping import Arena, Cell, name, shown
from .statistics import Summary
from .tables import Column, Interval, Row, Table

OUTCOMES = {"joined": "concatenated", "separate": "separated"}  # ours, and the study's words
METRICS = {"R@1": "P@1", "RP": "RP", "MAP@R": "MAP@R"}
NOTES = [
    "Percent. concatenated: the embeddings of all folds' models side by side; separated: the mean of the folds' models.",
    "±: half of the 95 % interval of the mean over runs, by Student's t. A single run has none.",
]


def tables(arena: Arena) -> list[Table]:
    """The one table of it, where validation classes chose the epochs and the study's scores were measured."""
    if set(OUTCOMES) - set(protocols.get(arena.protocol).results) or set(METRICS) - set(arena.metrics):
        return []
    quoted = {
        (which, metric) for cell in arena.finished for which in OUTCOMES for metric in cell.published(which)
    }
    columns = [
        Column("method", numeric=False),
        *(Column(name(key), numeric=False) for key in arena.factors),
        Column("runs"),
    ]
    for which, words in OUTCOMES.items():
        for metric, theirs in METRICS.items():
            columns.append(Column(f"{words} {theirs}"))
            if (which, metric) in quoted:
                columns.append(Column(f"{words} {theirs} published", "quoted from the study"))
    cells = sorted(
        arena.finished, key=lambda cell: cell.trained
    )  # networks as they came, and then the best first
    rows = [Row(_values(cell, quoted), cell=cell.key) for cell in cells]
    notes = published.notes(
        published.Trials(cell.config, len(cell.records), tuple(OUTCOMES)) for cell in arena.finished
    )
    return [Table("repeats", "Concatenated and separated", arena.title, columns, rows, [*NOTES, *notes])]


def _values(cell: Cell, quoted: set[tuple[str, str]]) -> list[Any]:
    values: list[Any] = [cell.method, *map(shown, cell.factors.values()), len(cell.records)]
    for which in OUTCOMES:
        for metric in METRICS:
            values.append(_mean(cell.scores(which, metric)))
            if (which, metric) in quoted:
                values.append(cell.published(which).get(metric))
    return values


def _mean(measured: Summary) -> Optional[Interval]:
    if not measured:
        return None
    ends = measured.interval
    return Interval(measured.mean, (ends[1] - ends[0]) / 2 if ends else None)
