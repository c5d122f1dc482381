"""Two stores side by side: which cells changed, and whether by more than noise."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..parts import metrics
from .grouping import SEED_AND_PLACE, Cell, canonical, plain
from .kept_cells import Compared, compared, of_store
from .statistics import LEVEL, Summary, differences, holm, paired, welch
from .tables import Column, Difference, Row, Seconds, Table, signed, units

OF = ("method.name", "data.name", "protocol.name")
NOTHING = Summary({})
Sides = tuple[set[str], set[str]]  # a key's values in A and in B

RULE = (
    "better, worse: B against A, a gap beyond the noise at 5 % (t-test of the differences where both have the same seeds, "
    "Welch's where not; Holm's adjustment over all rows). same numbers: every seed gave exactly the same."
)
OVER_SEEDS = "mean ± sample standard deviation over seeds"
COLUMNS = [
    *(Column(name, numeric=False) for name in ("cell", "data and protocol", "metric")),
    *(Column(side, OVER_SEEDS) for side in "AB"),
    Column("B − A", "in percentage points where A and B are in percent"),
    Column("95 % interval", "of B − A, over the seeds that both have", numeric=False),
    Column("verdict", RULE, numeric=False),
    *(Column(f"time {side}") for side in "AB"),
]


def compare(a: str | Path, b: str | Path) -> Table:
    """The results of store ``b`` against those of store ``a``, with a row for each cell and metric.

    >>> table = dml.compare(store, store)
    >>> table.rows[0].values[-3]
    'same numbers'
    """
    before, after = (of_store(store) for store in (a, b))
    shared = _keys(before) & _keys(after)
    ours, theirs = _by_signature(before, shared), _by_signature(after, shared)
    changes = _changes(ours, theirs, shared)
    same = ours.keys() & theirs.keys()
    ours, theirs = (_without(side, changes, shared, same) for side in (ours, theirs))
    gaps = [gap for key in {**ours, **theirs} for gap in _gaps(ours.get(key), theirs.get(key))]
    rows = [*_rows(gaps)]
    unshared = sorted(_keys([*_met(before, after), *_met(after, before)]) - shared)
    notes = [*_units(gaps), RULE]
    if changes:
        words = (
            f"{key} from {' or '.join(sorted(ours))} to {' or '.join(sorted(theirs))}"
            for key, (ours, theirs) in changes.items()
        )
        notes.insert(0, f"Changed between A and B: {'; '.join(words)}.")
    if unshared:
        notes.append(f"Only one store's configurations have: {', '.join(unshared)}.")
    return Table("comparison", "Comparison", f"A {a}, B {b}", COLUMNS, rows, notes)


def of_cells(a: Cell, b: Cell) -> Table:
    """The scores of two cells, compared as ``compare`` does for a cell that two stores share."""
    gaps = list(_gaps(compared(a), compared(b)))
    rows = [Row(list(map(_by_side, row.values[2:]))) for row in _rows(gaps)]
    columns = [
        replace(column, name=_by_side(column.name), about=_by_side(column.about)) for column in COLUMNS[2:]
    ]
    title = f"left {a.label}, right {b.label}"
    return Table(
        "comparison",
        "Comparison",
        title,
        columns,
        rows,
        [*_units(gaps), _by_side(RULE)],
    )


def _by_side(value: Any) -> Any:
    """Words about stores A and B as words about cells on the left and on the right."""
    sides = {"A": "left", "B": "right"}
    return re.sub(r"\b[AB]\b", lambda letter: sides[letter[0]], value) if isinstance(value, str) else value


def _keys(cells: Iterable[Compared]) -> set[str]:
    return {key for cell in cells for key in cell.settings}


def _met(cells: Iterable[Compared], others: Iterable[Compared]) -> list[Compared]:
    """The cells whose method, data and protocol are also those of some of the others."""
    about = itemgetter(*OF)
    known = {about(cell.settings) for cell in others}
    return [cell for cell in cells if about(cell.settings) in known]


def _by_signature(cells: Sequence[Compared], shared: set[str]) -> dict[str, Compared]:
    """The cells by the part of their configuration that both stores know; a later version may have more keys. Cells that
    differ only in such a key have no counterpart in the other store, and keep their full configuration."""
    signatures = [_signature(cell, shared) for cell in cells]
    counts = Counter(signatures)
    return {one if counts[one] == 1 else cell.key: cell for one, cell in zip(signatures, cells)}


def _signature(cell: Compared, shared: set[str]) -> str:
    told = shared.difference(SEED_AND_PLACE)
    return canonical({key: value for key, value in cell.settings.items() if key in told})


def _changes(
    ours: Mapping[str, Compared], theirs: Mapping[str, Compared], shared: set[str]
) -> dict[str, Sides]:
    """The keys whose values differ between A and B, with the values of both sides, among the cells without a
    counterpart. A cell's method, data and protocol are never such keys: another method is another cell, and what only
    one store tried says nothing of a change.
    """
    alone = [cell for one, cell in ours.items() if one not in theirs]
    others = [cell for one, cell in theirs.items() if one not in ours]
    sides = _met(alone, others), _met(others, alone)
    if not all(sides):
        return {}
    values = {
        key: tuple({plain(cell.settings[key]) for cell in side if key in cell.settings} for side in sides)
        for key in sorted(shared.difference(SEED_AND_PLACE, OF))
    }
    return {key: (a, b) for key, (a, b) in values.items() if a != b}


def _without(
    side: Mapping[str, Compared], changes: Collection[str], shared: set[str], same: Collection[str]
) -> dict[str, Compared]:
    """The cells by their configuration without the changed keys. Cells that both stores share stay as they were, and
    so do those that differ only in a changed key."""
    kept = shared.difference(changes)
    others = {one: _signature(cell, kept) for one, cell in side.items() if one not in same}
    counts = Counter(others.values())
    alone = {one: other for one, other in others.items() if counts[other] == 1}
    return {alone.get(one, one): cell for one, cell in side.items()}


def _units(gaps: "Iterable[CellDifference]") -> list[str]:
    return units((gap.metric for gap in gaps), OVER_SEEDS)


@dataclass(frozen=True)
class CellDifference:
    """A cell's metric in both stores; ``a`` or ``b`` is empty if that store has no result."""

    cells: tuple[Compared | None, Compared | None]
    metric: str
    a: Summary
    b: Summary

    @property
    def chance(self) -> float | None:
        """The p-value of the gap; None if it cannot be tested."""
        same_seeds = set(self.a.values) == set(self.b.values)
        return paired(differences(self.b, self.a)) if same_seeds else welch(self.a, self.b)


def _gaps(a: Compared | None, b: Compared | None) -> Iterable[CellDifference]:
    known = [cell for cell in (a, b) if cell]
    for metric in metrics.leading(list(known[0].scores)):
        found = [cell.scores.get(metric, NOTHING) if cell else NOTHING for cell in (a, b)]
        if metric == known[0].headline or any(found):
            yield CellDifference((a, b), metric, *found)


def _rows(gaps: Sequence[CellDifference]) -> Iterable[Row]:
    for gap, chance in zip(gaps, holm([gap.chance for gap in gaps])):
        cell = next(cell for cell in gap.cells if cell)
        times = [Seconds(each.seconds.mean) if each and each.seconds else None for each in gap.cells]
        between: list[Any] = [None, None]
        if gap.a and gap.b:
            interval = differences(gap.b, gap.a).interval
            between = [Difference(gap.b.mean - gap.a.mean), interval and " to ".join(map(signed, interval))]
        measured = [gap.metric, gap.a, gap.b, *between]
        yield Row([cell.label, cell.arena, *measured, _verdict(gap, chance), *times])


def _verdict(gap: CellDifference, chance: float | None) -> str:
    if not (gap.a and gap.b):
        return "only in A" if gap.a else "only in B" if gap.b else "no result in either"
    if gap.a.values == gap.b.values:
        return "same numbers"
    if chance is None:
        return "unknown: single run"
    if chance >= LEVEL:
        return "within the noise"
    return "better" if metrics.get(gap.metric).better(gap.b.mean, gap.a.mean) else "worse"
