"""``place``: where a method stands in an arena, against the records of those that have been there. The one report that has
to train first, so it alone knows ``sweeps``, the room below."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from html import escape
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from ..base import files, outside
from ..base.errors import UserError
from ..parts import metrics
from ..sweeps import arenas
from ..trial import config
from ..trial.store.records import Record
from . import cost, grouping, repeated, rungs, usable_records, write
from .repeated import Repeated
from .tables import Column, Difference, Interval, Row, Seconds, Table, ends
from .variance import Comparison

BADGE = "badge.svg"  # beside the page
LETTER, EDGE = 6.6, 6  # pixels: the width of a letter of it, about; beside a text
BETTER = "better: the probability that it scores more with a new division, search and seed of each; and its 95 % interval."


class Placed(NamedTuple):
    """What came of a placement. Of a quick one, ``page`` and ``compared`` are none."""

    name: str  # of its row
    said: list[str]
    table: Table
    page: Path | None = None
    compared: Comparison | None = None


def place(
    method: str | Path = "",
    arena: str | Path = "",
    *,
    command: str | None = None,
    quick: bool = False,
    store: str | Path | None = None,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    parts: Iterable[str | Path] = (),
    **how: Any,
) -> Placed:
    """Put a method through the searches and finals of an arena, and compare it with the records of the others.

    ``method`` is a key, or a file with a method of one's own. With a ``command`` that trains (page External trainings) it is
    the name of the row. ``arena`` is one of ours, or a folder with ``search.yaml``, ``finals.yaml`` and the stores of their
    records. Nothing of others is trained again. Records go to ``runs/place/ARENA/METHOD`` unless a ``store`` is named, and the
    same call goes on where it was stopped. ``quick``: only what the first search trains first, for a first idea.
    ``overrides`` set or search what a method brings. The other arguments are those of ``sweep`` that say how trials run:
    ``workers``, ``executor``, ``address``, ``log`` and ``quiet``.

    >>> dml.place("margin", arena="glyph")
    Traceback (most recent call last):
        ...
    dmlplayground.base.errors.UserError: unknown arena 'glyph'. Did you mean 'glyphs'?...
    """
    outside.load(parts)
    entry = arenas.enter(method, arena, command, store, overrides)
    field = _field(entry.arena)
    if not quick:
        return _compared(entry, field, entry.train(**how))
    kept = rungs.read(entry.arena.kept / arenas.SEARCH)
    if kept is None:
        raise UserError(f"the arena {entry.arena.name} keeps no searches, so a quick look shows nothing.")
    return _first_idea(entry, field.compared(), kept, rungs.read(entry.look(**how)))


def _field(arena: arenas.ArenaFolder) -> Repeated:
    """Those that have been in the arena."""
    kept = arena.kept / arenas.FINALS
    if groups := repeated.of_arenas(grouping.arenas(usable_records.load(kept))):
        return max(groups, key=lambda one: len(one.runs))
    raise UserError(f"the records in {kept} repeat no method, so nothing can be compared.")


def _label(name: str, taken: Iterable[str]) -> str:
    """The name of its row, beside the one that it may have in the arena already."""
    return f"{name}, placed" if name in taken else name


# --- a place ------------------------------------------------------------------------------------------------------------


def _compared(entry: arenas.Entrant, field: Repeated, placed: list[Record]) -> Placed:
    arena, name = entry.arena.name, _label(entry.name, field.runs)
    known = {run[:2] for runs in field.runs.values() for run in runs}  # an arena may have divisions to come
    own = {run: record for record in placed if (run := _run(record))[:2] in known}
    joined = replace(field, title=f"Arena {arena}", runs={**field.runs, name: own}, _compared={})
    found = joined.compared()
    if name not in found.methods:
        shared = "divisions and searches in common"
        raise UserError(f"the records of {arena} have no {shared} with those of {name}.")
    joined.first = [table(joined, name)]
    records = [record for runs in joined.runs.values() for record in runs.values()]
    page = write(entry.store / arenas.FINALS, records, title=f"{name} in the arena {arena}", joined=[joined])
    places = found.places(name)
    with files.replacing(page.with_name(BADGE)) as stream:
        stream.write(badge(arena, places, len(found.methods)))
    said = [
        f"{name}: {joined.metric} ({joined.results[0]}) {found.mean(name):.1f} ({ends(found.interval(name), 1)}), place "
        f"{among(places, len(found.methods))} in {arena}. Beyond the noise, {places[0] - 1} are above it and "
        f"{len(found.methods) - places[1]} below."
    ]
    if name != entry.name and entry.name in found.means:
        gap = found.gap(name, entry.name)
        far = f"{gap.mean:+.1f} ({ends(gap.interval, 1)})"
        said.append(f"Against the row that {entry.name} has in the arena: {far}.")
    return Placed(name, said, joined.first[0], page, found)


def _run(record: Record) -> tuple[Any, Any, int]:
    given = config.upgraded(record.config)
    return repeated.division(given["data"]), given[repeated.SEARCH], record.seed


def table(joined: Repeated, name: str) -> Table:
    """A row for every method, with how far ``name`` is above it, and what a training of the finals cost."""
    found, which = joined.compared(), joined.results[0]
    heads = ("above it by", "interval", "better", "interval", "p", "images", "processor")
    columns = [Column("method", numeric=False), Column(f"{joined.metric} {which}"), *map(Column, heads)]
    rows = []
    for method in found.methods:
        against: list[Any] = [None] * 5
        if method != name:
            gap = found.gap(name, method)
            against = [Difference(gap.mean), ends(gap.interval), *repeated.next_time(found, name, method)]
        records = joined.runs[method].values()
        seconds = [known for record in records if (known := cost.processor(record)) is not None]
        spent = [round(fmean(map(cost.images, records))), Seconds(fmean(seconds)) if seconds else None]
        score = Interval.of(found.mean(method), found.interval(method))
        rows.append(Row([method, score, *against, *spent], bold={0} if method == name else set()))
    notes = [
        f"Percent, means of divisions × searches × seeds: {len(found.divisions)} × {found.searches} × {found.seeds:.3g}. Bold "
        f"(* in a terminal): the method that was placed. above it by, better: how far and how likely {name} is above the row.",
        f"{which}: {joined.protocol.meaning(which)}.",
        repeated.HOW,
        BETTER,
        "images, processor: of a training of the finals. A command's images are as it declares them.",
        *([f"Not complete, so not in this table: {', '.join(found.left_out)}."] if found.left_out else []),
    ]
    return Table("placed", f"{name} against the others", joined.title, columns, rows, notes)


# --- a badge -----------------------------------------------------------------------------------------------------------


def badge(arena: str, places: tuple[int, int], count: int) -> str:
    """Two texts side by side in a small picture (SVG), for a page that cites the place of a method in an arena."""
    texts = f"dmlplayground {arena}", f"place {among(places, count)}"
    left, right = (round(len(text) * LETTER) + 2 * EDGE for text in texts)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img">
<title>{escape(": ".join(texts))}</title>
<rect width="{left}" height="20" fill="#555"/><rect x="{left}" width="{right}" height="20" fill="#2b6cb0"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{EDGE}" y="14" textLength="{left - 2 * EDGE}">{escape(texts[0])}</text>
<text x="{left + EDGE}" y="14" textLength="{right - 2 * EDGE}">{escape(texts[1])}</text></g></svg>
"""


def among(places: tuple[int, int], count: int) -> str:
    """``1 to 6 of 13``"""
    first, last = places
    return f"{first} of {count}" if first == last else f"{first} to {last} of {count}"


# --- a first idea -------------------------------------------------------------------------------------------------------


def _first_idea(entry: arenas.Entrant, finals: Comparison, kept: rungs.Lengths, own: Any) -> Placed:
    """The best short training beside those of the others, and how little that says."""
    search = next(iter(entry.searches.values()))
    rung, metric = search.rungs[0], metrics.get(kept.metric)
    every = kept.scores.get(rung.share, {})
    values = {method: found[search.number] for method, found in every.items() if search.number in found}
    pairs = combinations([one for one in values if one in finals.means], 2)
    same = [(values[a] - values[b]) * (finals.mean(a) - finals.mean(b)) > 0 for a, b in pairs]
    name, length = _label(entry.name, values), rungs.named(rung.share)
    (values[name],) = own.scores[max(own.shares)][entry.name].values()
    order = sorted(values, key=lambda one: values[one], reverse=metric.higher_is_better)
    columns = [Column("method", numeric=False), Column(f"{kept.metric} after {length}"), Column("finals")]
    means = {one: finals.mean(one) for one in finals.means}
    rows = [Row([one, values[one], means.get(one)], bold={0} if one == name else set()) for one in order]
    said = [
        f"{name}: {kept.metric} {values[name]:.1f} on validation classes after {length}, {order.index(name) + 1} of "
        f"{len(order)} by this alone.",
        f"This tells little. It is the best of {rung.trials} short trainings of one search, each with one seed and one fold, on "
        "the classes that chose it. No test class was looked at, and there is no interval.",
        "For a place, the same command without --quick goes on from these trainings.",
    ]
    if same:
        share = f"{fmean(same):.0%} of the pairs of methods"
        said.insert(2, f"In {entry.arena.name}, {share} are in the order of the finals by it.")
    note = f"Percent. The best of {rung.trials} trainings of search {search.number}; finals: means of all of them."
    shown = Table("quick", "A first idea", f"Arena {entry.arena.name}", columns, rows, [note])
    return Placed(name, said, shown)
