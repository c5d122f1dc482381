"""Two stores side by side: which cells changed, and whether by more than noise. A report keeps what is compared beside its
page, so that the records of a large store need not all be read; it holds until a record changes."""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..base import files
from ..base.errors import UserError
from ..parts import metrics
from ..studies.published import flatten
from ..trial.store import checks, packed, records
from . import usable_records
from .grouping import SEED_AND_PLACE, Arena, Cell, Flat, arenas, canonical, plain
from .statistics import LEVEL, Summary, differences, holm, paired, summary, welch
from .tables import Column, Difference, Row, Seconds, Table, signed, units

FOLDER, FILE = "report", "cells.json"
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


@dataclass(frozen=True)
class Compared:
    """A cell with all that was measured, by seed."""

    key: str
    label: str
    arena: str
    config: Mapping[str, Any]
    headline: str
    scores: Mapping[str, Summary]  # of the result that ranks, by metric
    seconds: Summary

    @cached_property
    def settings(self) -> Flat:
        return flatten(self.config)


Cells = dict[str, Compared]  # by the settings that match them


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
    return Table("comparison", "Comparison", f"A {a}, B {b}", COLUMNS, [*_rows(gaps)], notes)


def of_cells(a: Cell, b: Cell) -> Table:
    """The scores of two cells, compared as ``compare`` does for a cell that two stores share."""
    gaps = list(_gaps(compared(a), compared(b)))
    rows = [Row(list(map(_by_side, row.values[2:]))) for row in _rows(gaps)]
    columns = [Column(_by_side(one.name), _by_side(one.about), one.numeric) for one in COLUMNS[2:]]
    title = f"left {a.label}, right {b.label}"
    return Table("comparison", "Comparison", title, columns, rows, [*_units(gaps), _by_side(RULE)])


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


def _by_signature(cells: Sequence[Compared], shared: set[str]) -> Cells:
    """The cells by the part of their configuration that both stores know; a later version may have more keys. Cells that
    differ only in such a key have no counterpart in the other store, and keep their full configuration."""
    signatures = [_signature(cell, shared) for cell in cells]
    counts = Counter(signatures)
    return {one if counts[one] == 1 else cell.key: cell for one, cell in zip(signatures, cells)}


def _signature(cell: Compared, shared: set[str]) -> str:
    told = shared.difference(SEED_AND_PLACE)
    return canonical({key: value for key, value in cell.settings.items() if key in told})


def _changes(ours: Cells, theirs: Cells, shared: set[str]) -> dict[str, Sides]:
    """The keys whose values differ between A and B, with the values of both sides, among the cells without a
    counterpart. A cell's method, data and protocol are never such keys: another method is another cell, and what only
    one store tried says nothing of a change."""
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


def _without(side: Cells, changes: Collection[str], shared: set[str], same: Collection[str]) -> Cells:
    """The cells by their configuration without the changed keys. Cells that both stores share stay as they were, and
    so do those that differ only in a changed key."""
    kept = shared.difference(changes)
    others = {one: _signature(cell, kept) for one, cell in side.items() if one not in same}
    counts = Counter(others.values())
    alone = {one: other for one, other in others.items() if counts[other] == 1}
    return {alone.get(one, one): cell for one, cell in side.items()}


def _units(gaps: "Iterable[CellDifference]") -> list[str]:
    return units((gap.metric for gap in gaps), OVER_SEEDS)


class CellDifference(NamedTuple):
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


# --- the cells of a store ------------------------------------------------------------------------------------


def compared(cell: Cell, arena: str = "") -> Compared:
    scores = {name: cell.scores(cell.primary, name) for name in [cell.headline, *cell.metrics]}
    return Compared(cell.key, cell.label, arena, cell.config, cell.headline, scores, cell.seconds)


def of_store(store: str | Path) -> list[Compared]:
    """The cells of a store, in the order of its tables."""
    store = Path(store)
    if found := _kept(store):
        return found
    every = arenas(usable_records.load(store, epochs=False))
    found = [compared(cell, arena.title) for arena in every for cell in arena.cells]
    if not any(cell.scores[cell.headline] for cell in found):
        raise UserError(f"no trial in {store} has finished: there is nothing to compare.")
    return found


def keep(store: Path, found: Iterable[Arena], began: int) -> None:
    """Keep the cells of all records of a store, which were read since this time. What must be looked at each time is not kept:
    parts of one's own, and packed records."""
    cells = [(cell, arena.title) for arena in found for cell in arena.cells]
    strange = any(cell.config.get("parts") for cell, _ in cells) or (store / packed.FILE).exists()
    if strange or not any(cell.score for cell, _ in cells):
        return
    trials = [record.id for cell, _ in cells for record in cell.records]
    trials += [problem.id for cell, _ in cells for problem in cell.problems]
    contents = [asdict(compared(cell, title)) for cell, title in cells]
    for one in contents:
        one["seconds"] = _pairs(one["seconds"])
        one["scores"] = {name: _pairs(of_seeds) for name, of_seeds in one["scores"].items()}
    content = {"version": __version__, "trials": sorted(trials), "cells": contents}
    files.write_json(store / FOLDER / FILE, checks.sealed(content))
    os.utime(store / FOLDER / FILE, ns=(began, began))


def _pairs(of_seeds: Mapping[str, Mapping[int, float]]) -> list[tuple[int, float]]:
    """Seeds are numbers, which no key of JSON is."""
    return list(of_seeds["values"].items())


def _kept(store: Path) -> list[Compared]:
    """Those that a report has kept, if they are still those of all records."""
    file = store / FOLDER / FILE
    if not usable_records.unchanged(store, file):
        return []
    try:
        content = files.read_json(file)
        checks.seal(content)
    except (UserError, checks.Wrong):
        return []
    trials = sorted(path.parent.name for path in store.glob(f"*/{records.RECORD}"))
    if content.get("version") != __version__ or content.get("trials") != trials:
        return []
    for one in content["cells"]:
        one["seconds"] = summary(one["seconds"])
        one["scores"] = {name: summary(pairs) for name, pairs in one["scores"].items()}
    return [Compared(**one) for one in content["cells"]]
