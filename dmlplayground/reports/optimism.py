"""Optimism: how much of a figure comes from having looked at the test set."""

from __future__ import annotations

from collections.abc import Sequence

from .cells import SEED_AND_PLACE, Arena, Cell, canonical, name, plain
from .statistics import Summary, differences
from .tables import Column, Row, Table

NOTES = [
    "best − last: what reporting the best test epoch adds to the same runs (mean ± spread of the gaps, seed "
    "by seed).",
    "best − separate: what it adds to models that never saw the test set before they were scored. Those were "
    "trained on fewer classes, as a fold was kept for validation: this is an upper bound of the optimism.",
    "best − joined: against the folds' embeddings side by side, an ensemble of several times the size.",
]


def optimism(arena: Arena, others: Sequence[Arena]) -> list[Table]:
    """Every cell of the paper's protocol: its best test epoch against its last, and its validated twin's."""
    if arena.protocol != "paper":
        return []
    twins = {
        _without_protocol(cell): cell
        for other in others
        if other.protocol == "validated"
        for cell in other.finished
    }
    paired = any(_without_protocol(cell) in twins for cell in arena.finished)
    columns = [
        Column("method", numeric=False),
        *(Column(name(key), numeric=False) for key in arena.factors),
        Column("best", f"{arena.headline} at the best test epoch"),
        Column("last", f"{arena.headline} after the last epoch"),
        Column("best − last", NOTES[0]),
    ]
    if paired:
        columns += [
            Column("separate", "validated: mean of the folds' models"),
            Column("joined", "validated: the folds' embeddings side by side"),
            Column("best − separate", NOTES[1]),
            Column("best − joined", NOTES[2]),
        ]
    rows = [_row(cell, twins.get(_without_protocol(cell)), paired) for cell in arena.finished]
    rows.sort(key=lambda row: -row.values[3 + len(arena.factors)].mean)
    notes = NOTES if paired else NOTES[:1]
    return [Table("optimism", f"Optimism of {arena.headline}", arena.title, columns, rows, notes)]


def _row(cell: Cell, twin: Cell | None, paired: bool) -> Row:
    best, last = cell.scores("best", cell.headline), cell.scores("last", cell.headline)
    values = [cell.method, *map(plain, cell.factors.values()), best, last, differences(best, last)]
    if paired:
        scores = [
            twin.scores(which, cell.headline) if twin else Summary({}) for which in ("separate", "joined")
        ]
        values += [*scores, *(differences(best, score) for score in scores)]
    return Row(values, cell=cell.key)


def _without_protocol(cell: Cell) -> str:
    return canonical(
        {key: value for key, value in cell.config.items() if key not in (*SEED_AND_PLACE, "protocol")}
    )
