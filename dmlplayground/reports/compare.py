"""Two stores side by side: which cells changed, and whether beyond the noise."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import records
from .cells import SEED_AND_PLACE, Arena, Cell, arenas, canonical, flatten
from .statistics import LEVEL, Summary, differences, holm, paired, welch
from .tables import Column, Difference, Row, Seconds, Table, signed

METRICS = ("R@1", "NMI")
RULE = (
    "changed: a gap beyond the noise at 5 % (t-test of the differences where both have the same seeds, "
    "Welch's where not; Holm's adjustment over all rows). same numbers: every seed gave the same to the last "
    "digit."
)


def compare(a: str | Path, b: str | Path) -> Table:
    """What the trials of store ``b`` give against those of store ``a``: a row for each cell and metric."""
    before, after = (arenas(records.load_store(store)) for store in (a, b))
    shared = _keys(before) & _keys(after)
    ours, theirs = (
        {_signature(cell, shared): (arena, cell) for arena in side for cell in arena.cells}
        for side in (before, after)
    )
    several = len({arena.title for arena in [*before, *after]}) > 1
    rows: list[Row] = []
    chances: list[float | None] = []
    for signature in dict.fromkeys([*ours, *theirs]):
        (arena, cell) = ours.get(signature) or theirs[signature]
        label = f"{arena.title}: {cell.label}" if several else cell.label
        pair = [side[signature][1] if signature in side else None for side in (ours, theirs)]
        for metric in METRICS:
            scores = [each.scores(each.primary, metric) if each else Summary({}) for each in pair]
            rows.append(Row([label, metric, *scores, *_gap(*scores), None, *_seconds(pair)]))
            chances.append(_chance(*scores))
    for row, chance, adjusted in zip(rows, chances, holm(chances)):
        row.values[6] = _verdict(row.values[2], row.values[3], adjusted)
        row.kind = "" if chance is not None else "incomplete"
    return Table(
        "comparison", "Comparison", f"A {a}, B {b}", COLUMNS, rows, [RULE, *_ignored(before, after, shared)]
    )


COLUMNS = [
    Column("cell", numeric=False),
    Column("metric", numeric=False),
    Column("A", "mean ± sample standard deviation over seeds, percent"),
    Column("B", "mean ± sample standard deviation over seeds, percent"),
    Column("B − A", "percentage points"),
    Column("95 % interval", "of B − A, where both have the same seeds", numeric=False),
    Column("verdict", RULE, numeric=False),
    Column("time A"),
    Column("time B"),
]


def _keys(side: Iterable[Arena]) -> set[str]:
    return {key for arena in side for cell in arena.cells for key in flatten(cell.config)}


def _signature(cell: Cell, shared: set[str]) -> str:
    """A cell's configuration as far as both stores know its keys: a later version may have added some."""
    known = {
        key: value
        for key, value in flatten(cell.config).items()
        if key in shared and key not in SEED_AND_PLACE
    }
    return canonical(known)


def _gap(a: Summary, b: Summary) -> list[Any]:
    """The difference of the means, and its interval over the seeds that both have."""
    if not (a and b):
        return [None, None]
    interval = differences(b, a).interval
    return [
        Difference(b.mean - a.mean),
        f"{signed(interval[0])} to {signed(interval[1])}" if interval else None,
    ]


def _chance(a: Summary, b: Summary) -> float | None:
    by_seed = set(a.values) == set(b.values)
    return paired(differences(b, a)) if by_seed else welch(a, b)


def _verdict(a: Summary, b: Summary, chance: float | None) -> str:
    if not (a and b):
        return "only in A" if a else "only in B" if b else "no result in either"
    if a.values == b.values:
        return "same numbers"
    if chance is None:
        return "cannot be said: single run"
    return "changed" if chance < LEVEL else "within the noise"


def _seconds(pair: Iterable[Cell | None]) -> list[Any]:
    return [Seconds(cell.seconds.mean) if cell and cell.seconds else None for cell in pair]


def _ignored(before: Iterable[Arena], after: Iterable[Arena], shared: set[str]) -> list[str]:
    unshared = sorted((_keys(before) | _keys(after)) - shared)
    return [f"Only one store's configurations have: {', '.join(unshared)}."] if unshared else []
