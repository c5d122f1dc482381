"""The results of a protocol with folds under the names of its study, with the interval of the mean over runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from ..parts.protocols import UNTOUCHED_FEATURES
from ..studies import published
from ..studies.published import Study
from .grouping import Arena, Cell, name
from .statistics import Summary
from .tables import Column, Interval, Row, Table, units

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
    quoted = {
        (which, metric) for cell in arena.finished for which in labels for metric in cell.published(which)
    }
    columns = [
        Column("method", numeric=False),
        *(Column(name(key), numeric=False) for key in arena.factors),
        Column("runs"),
    ]
    for which, label in labels.items():
        for metric, theirs in study.metrics.items():
            columns.append(Column(f"{label} {theirs}"))
            if (which, metric) in quoted:
                columns.append(Column(f"{label} {theirs} published", "quoted from the study"))
    rows = [Row(_untouched(cell, study.metrics, quoted), kind="baseline") for cell in arena.untouched()]
    # Untrained networks first, then the best first.
    cells = sorted(arena.finished, key=lambda cell: cell.trained)
    rows += [Row(_values(cell, study.metrics, quoted), cell=cell.key) for cell in cells]
    meanings = "; ".join(f"{label}: {arena.protocol.results[which]}" for which, label in labels.items())
    notes = published.notes(
        published.Trials(cell.config, len(cell.records), tuple(labels)) for cell in arena.finished
    )
    title = " and ".join(labels.values()).capitalize()
    said = [*units(study.metrics, "mean over runs"), f"{meanings}.", INTERVALS]
    return Table("repeats", title, arena.title, columns, rows, [*said, *notes])


def _values(cell: Cell, metrics: Mapping[str, str], quoted: set[tuple[str, str]]) -> list[Any]:
    values: list[Any] = [cell.method, *map(cell.factor, cell.factors), len(cell.records)]
    for which in cell.protocol.labels:
        for metric in metrics:
            values.append(_mean(cell.scores(which, metric)))
            if (which, metric) in quoted:
                values.append(cell.published(which).get(metric))
    return values


def _untouched(cell: Cell, metrics: Mapping[str, str], quoted: set[tuple[str, str]]) -> list[Any]:
    """The features that the cell begins with, without head and training."""
    factors = [cell.factor(key) if key.startswith("backbone.") else None for key in cell.factors]
    values: list[Any] = [UNTOUCHED_FEATURES, *factors, None]
    for which in cell.protocol.labels:
        for metric in metrics:
            values += [cell.untouched(which, metric), *([None] if (which, metric) in quoted else [])]
    return values


def _mean(measured: Summary) -> Optional[Interval]:
    if not measured:
        return None
    ends = measured.interval
    return Interval(measured.mean, (ends[1] - ends[0]) / 2 if ends else None)
