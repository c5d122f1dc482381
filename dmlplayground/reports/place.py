"""``place``: where a method stands in an arena, against the records of those that have been there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, Optional, Union

from ..base import files, outside
from ..base.errors import UserError
from ..parts import metrics
from ..sweeps import arenas
from ..sweeps.halving import Proposal
from ..trial import config
from ..trial.store.records import Record
from . import badge, cost, grouping, overview, repeated, rungs, usable_records, write
from .page import Overview
from .repeated import Repeated, ends
from .tables import Column, Difference, Interval, Row, Seconds, Table
from .variance import Comparison

PLACED = "{}, placed"  # the row of a method that has one of its own in the arena
BADGE = "badge.svg"  # beside the page
BETTER = "The probability that it scores more in a new division, with a new search and seed of each; and its 95 % interval."


class Placed(NamedTuple):
    """What came of a placement. Of a quick one, ``page`` and ``compared`` are none."""

    name: str  # of its row
    said: list[str]
    table: Table
    page: Optional[Path] = None
    compared: Optional[Comparison] = None


def place(
    method: Union[str, Path] = "",
    arena: Union[str, Path] = "",
    *,
    command: Optional[str] = None,
    quick: bool = False,
    store: Optional[Union[str, Path]] = None,
    workers: Optional[int] = None,
    executor: str = "local",
    address: Optional[str] = None,
    overrides: Union[Iterable[str], Mapping[str, Any]] = (),
    log: Iterable[str] = (),
    quiet: bool = True,
    parts: Iterable[Union[str, Path]] = (),
) -> Placed:
    """Put a method through the searches and finals of an arena, and compare it with the records of the others.

    ``method`` is a key, or a file with a method of one's own. With a ``command`` that trains (page External trainings) it is
    the name of the row. ``arena`` is one of ours, or a folder with ``search.yaml``, ``finals.yaml`` and the stores of their
    records. Nothing of others is trained again. Records go to ``runs/place/ARENA/METHOD`` unless a ``store`` is named, and the
    same call goes on where it was stopped. ``quick``: only the shortest trainings of the first search, for a first idea.
    The other arguments are those of ``sweep``; ``overrides`` set or search what a method brings.

    >>> dml.place("margin", arena="glyph")
    Traceback (most recent call last):
        ...
    dmlplayground.base.errors.UserError: unknown arena 'glyph'. Did you mean 'glyphs'?...
    """
    outside.load(parts)
    entry = arenas.enter(method, arena, command, store, overrides)
    look = _kept_searches(entry) if quick else None
    how: dict[str, Any] = {
        "executor": executor,
        "address": address,
        "log": log,
        "workers": workers,
        "quiet": quiet,
    }
    if look:
        return _first_look(entry, look, entry.look(**how))
    field = _field(entry.arena)
    return _compared(entry, field, entry.train(**how))


# --- with all that an arena asks for ------------------------------------------------------------------------------------


def _field(arena: arenas.Arena) -> Repeated:
    """Those that have been in the arena."""
    kept = usable_records.load(arena.kept / arenas.FINALS)
    groups = repeated.of_arenas(grouping.arenas(kept))
    if not groups:
        raise UserError(
            f"the records in {arena.kept / arenas.FINALS} repeat no method, so nothing can be compared."
        )
    return max(groups, key=lambda one: len(one.runs))


def _compared(entry: arenas.Entry, field: Repeated, placed: list[Record]) -> Placed:
    name = _label(entry.name, field.runs)
    known = {run[:2] for runs in field.runs.values() for run in runs}  # an arena may have divisions to come
    runs = {_run(record): record for record in placed}
    joined = replace(
        field,
        title=f"Arena {entry.arena.name}",
        runs={**field.runs, name: {run: record for run, record in runs.items() if run[:2] in known}},
        _compared={},
    )
    found = joined.compared()
    if name not in found.methods:
        raise UserError(
            f"{name} and the records of {entry.arena.name} have no common divisions and searches."
        )
    shown = table(joined, name)
    every = [record for each in joined.runs.values() for record in each.values()]
    page = write(
        entry.store / arenas.FINALS,
        every,
        title=f"{name} in the arena {entry.arena.name}",
        overviews=[Overview(joined.title, [shown], []), overview(joined)],
    )
    with files.replacing(page.with_name(BADGE)) as stream:
        stream.write(badge.of_place(entry.arena.name, found.places(name), len(found.methods)))
    return Placed(name, _said(entry, joined, name), shown, page, found)


def _label(name: str, taken: Iterable[str]) -> str:
    return PLACED.format(name) if name in taken else name


def _run(record: Record) -> tuple[Any, Any, int]:
    given = config.upgraded(record.config)
    return repeated.division(given["data"]), given[repeated.SEARCH], record.seed


def _said(entry: arenas.Entry, joined: Repeated, name: str) -> list[str]:
    found = joined.compared()
    above, below = (sum(pair[own] == name for pair in found.apart) for own in (1, 0))
    said = [
        f"{name}: {joined.metric} ({joined.results[0]}) {found.mean(name):.1f} ({ends(found.interval(name), 1)}), place "
        f"{badge.among(found.places(name), len(found.methods))} in {entry.arena.name}. Beyond the noise, {above} are above it "
        f"and {below} below."
    ]
    if name != entry.name and entry.name in found.means:
        gap = found.gap(name, entry.name)
        said.append(
            f"It is compared with the row that {entry.name} has in the arena: {gap.mean:+.1f} ({ends(gap.interval, 1)})."
        )
    if found.left_out:
        said.append(f"Not complete, so not compared: {', '.join(found.left_out)}.")
    return said


def table(joined: Repeated, name: str) -> Table:
    """A row for every method, with how far ``name`` is above it, and what a training cost."""
    found, which = joined.compared(), joined.results[0]
    columns = [
        Column("method", numeric=False),
        Column(f"{joined.metric} {which}", joined.protocol.meaning(which)),
        Column(f"{name} above it by"),
        Column("interval", numeric=False),
        Column("p", "adjusted"),
        Column(f"{name} better", BETTER),
        Column("interval", numeric=False),
        cost.SEEN.column,
        Column("processor", cost.PROCESSOR),
    ]
    rows = []
    for method in found.methods:
        low, high = found.interval(method) or (None, None)
        score = Interval(found.mean(method), None if low is None or high is None else (high - low) / 2)
        own = method == name
        against = [None] * 5 if own else _against(found, name, method)
        spent = _spent(list(joined.runs[method].values()))
        rows.append(Row([method, score, *against, *spent], bold={0} if own else set()))
    design = f"{len(found.divisions)} × {found.searches} × {found.seeds:.3g}"
    notes = [
        f"Percent, means of divisions × searches × seeds: {design}. Bold (* in a terminal): the method that was placed.",
        f"{which}: {joined.protocol.meaning(which)}.",
        repeated.HOW,
        f"better: {BETTER}",
        "images, processor: of a training of the finals.",
    ]
    return Table("placed", f"{name} against the others", joined.title, columns, rows, notes)


def _against(found: Comparison, name: str, other: str) -> list[Any]:
    gap = found.gap(name, other)
    chance = found.adjusted[(name, other) if (name, other) in found.adjusted else (other, name)]
    return [
        Difference(gap.mean),
        ends(gap.interval),
        repeated.p_value(chance),
        gap.wins.value,
        ends(gap.wins.interval),
    ]


def _spent(records: list[Record]) -> tuple[int, Optional[Seconds]]:
    seconds = [known for record in records if (known := cost.processor(record)) is not None]
    return round(fmean(map(cost.images, records))), Seconds(fmean(seconds)) if seconds else None


# --- a first idea -------------------------------------------------------------------------------------------------------


def _kept_searches(entry: arenas.Entry) -> rungs.Lengths:
    kept, share = entry.arena.kept / arenas.SEARCH, next(iter(entry.searches.values())).rungs[0].share
    found = rungs.read(kept)
    if found is None or share not in found.scores:
        raise UserError(
            f"{kept} has no searches with trainings of {rungs.named(share)}, so a quick look shows nothing."
        )
    return found


def _first_look(entry: arenas.Entry, kept: rungs.Lengths, best: Proposal) -> Placed:
    """The best short training beside those of the others, and how little that says."""
    search = next(iter(entry.searches.values()))
    rung, metric = search.rungs[0], metrics.get(kept.metric)
    values = {
        method: found[search.number]
        for method, found in kept.scores[rung.share].items()
        if search.number in found and found[search.number] is not None
    }
    finals = _field(entry.arena).compared()
    agreed = _same_order(values, finals)
    name = _label(entry.name, values)
    values[name] = metric.scale * (best.value or 0.0)
    order = sorted(values, key=lambda one: values[one], reverse=metric.higher_is_better)
    columns = [
        Column("method", numeric=False),
        Column(f"{kept.metric} after {rungs.named(rung.share)}"),
        Column("finals"),
    ]
    rows = [
        Row(
            [one, values[one], finals.mean(one) if one in finals.means else None],
            bold={0} if one == name else set(),
        )
        for one in order
    ]
    said = [
        f"{name}: {kept.metric} {values[name]:.1f} on validation classes after {rungs.named(rung.share)}, "
        f"{order.index(name) + 1} of {len(order)} by this alone.",
        f"This tells little. It is the best of {rung.trials} short trainings of one search, each with one seed and one fold, on "
        "the classes that chose it. No test class was looked at, and there is no interval.",
        *(
            [
                f"In {entry.arena.name}, {agreed:.0%} of the pairs of methods are in the order of the finals by it."
            ]
            if agreed
            else []
        ),
        "For a place, the same command without --quick goes on from these trainings.",
    ]
    note = f"Percent. The best of {rung.trials} trainings of search {search.number}; finals: means of all of them."
    return Placed(
        name, said, Table("quick", "A first idea", f"Arena {entry.arena.name}", columns, rows, [note])
    )


def _same_order(values: Mapping[str, float], finals: Comparison) -> Optional[float]:
    """The share of the pairs that the finals have in the same order."""
    pairs = [*combinations([name for name in values if name in finals.means], 2)]
    same = [(values[a] - values[b]) * (finals.mean(a) - finals.mean(b)) > 0 for a, b in pairs]
    return fmean(same) if same else None
