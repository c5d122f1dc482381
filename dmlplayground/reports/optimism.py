"""Optimism: how much of a figure comes from having looked at the test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import protocols
from .grouping import SEED_AND_PLACE, Arena, Cell, canonical, name, plain
from .statistics import Summary, differences
from .tables import Column, Row, Table

LAST = (
    "best − last: what reporting the best test epoch adds to the same runs (mean ± spread of the gaps, seed by "
    "seed)."
)
SAME = "Here the best test epoch was the last in every run: nothing was gained by choosing it."
VALIDATED = [
    "best − separate: what it adds to models that never saw the test set before they were scored. Those were "
    "trained on fewer classes, as a fold was kept for validation: but for the noise, the optimism is no more.",
    "best − joined: against the folds' embeddings side by side, an ensemble of several times the size.",
]


@dataclass(frozen=True)
class Optimism:
    """A cell whose epoch the test classes chose: what it reports, its last epoch, and its twin whose epoch validation
    classes chose."""

    cell: Cell
    best: Summary
    last: Summary
    separate: Summary  # empty where it has no twin
    joined: Summary


def of_arena(arena: Arena, others: Sequence[Arena]) -> list[Optimism]:
    """Of every cell, the highest first; none where validation classes chose."""
    if protocols.get(arena.protocol).watches != "test":
        return []
    twins = {
        _without_protocol(cell): cell
        for other in others
        if protocols.get(other.protocol).watches == "validation"
        for cell in other.finished
    }
    found = [_of_cell(cell, twins.get(_without_protocol(cell))) for cell in arena.finished]
    return sorted(found, key=lambda one: -one.best.mean)


def _of_cell(cell: Cell, twin: Cell | None) -> Optimism:
    own = [cell.scores(which, cell.headline) for which in (cell.primary, cell.secondary)]
    validated = [
        twin.scores(which, cell.headline) if twin else Summary({})
        for which in ((twin.secondary, twin.primary) if twin else ("", ""))
    ]
    return Optimism(cell, *own, *validated)


def _without_protocol(cell: Cell) -> str:
    return canonical(
        {key: value for key, value in cell.config.items() if key not in (*SEED_AND_PLACE, "protocol")}
    )


def tables(arena: Arena, others: Sequence[Arena]) -> list[Table]:
    """The one table of it, where there is any."""
    found = of_arena(arena, others)
    if not found:
        return []
    paired = any(one.separate for one in found)
    columns = [
        Column("method", numeric=False),
        *(Column(name(key), numeric=False) for key in arena.factors),
        Column("best", f"{arena.headline} at the best test epoch"),
        Column("last", f"{arena.headline} after the last epoch"),
        Column("best − last", LAST),
    ]
    if paired:
        columns += [
            Column("separate", "validated: mean of the folds' models"),
            Column("joined", "validated: the folds' embeddings side by side"),
            Column("best − separate", VALIDATED[0]),
            Column("best − joined", VALIDATED[1]),
        ]
    notes = [
        LAST,
        *([SAME] if all(one.best == one.last for one in found) else []),
        *(VALIDATED if paired else []),
    ]
    rows = [_row(one, paired) for one in found]
    return [Table("optimism", f"Optimism of {arena.headline}", arena.title, columns, rows, notes)]


def _row(one: Optimism, paired: bool) -> Row:
    values: list[Any] = [one.cell.method, *map(plain, one.cell.factors.values())]
    values += [one.best, one.last, differences(one.best, one.last)]
    if paired:
        values += [one.separate, one.joined]
        values += [differences(one.best, score) for score in (one.separate, one.joined)]
    return Row(values, cell=one.cell.key)
