"""``python docs/makers/findings.py experiments/results/arenas docs`` writes the page of the findings, its figures, tables as CSV,
and ``findings.json``, from the records of the arenas alone. Any of them may be missing or incomplete: the page says so.

No sentence names a method unless the statistics do: each is made of ``reports.variance`` and ``reports.orders``.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, permutations
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1]), str(HERE.parents[1] / "experiments" / "results")]

import by_hand  # noqa: E402
import contradictions  # noqa: E402
import foretold  # noqa: E402
import networks  # noqa: E402
import pictures  # noqa: E402

from dmlplayground import hyperparams  # noqa: E402
from dmlplayground.base import files  # noqa: E402
from dmlplayground.base.errors import UserError  # noqa: E402
from dmlplayground.base.layout import plural  # noqa: E402
from dmlplayground.reports import cost, orders, repeated, rungs, tables, usable_records  # noqa: E402
from dmlplayground.reports.answers import listing  # noqa: E402
from dmlplayground.reports.grouping import arenas  # noqa: E402
from dmlplayground.reports.repeated import Repeated  # noqa: E402
from dmlplayground.reports.tables import Column, Row, Table, body, ends  # noqa: E402
from dmlplayground.reports.variance import SOURCES, Comparison  # noqa: E402
from dmlplayground.trial.store import manifest  # noqa: E402
from dmlplayground.trial.store.records import Record  # noqa: E402

PAGE, DATA = "findings.md", "findings.json"
FINALS, SEARCHES, PICKED, NETWORKS = "finals", "search", "by_hand", "backbones_grocery"
FROZEN = "frozen"  # the data set of features that are not trained further
EXPERIMENTS = HERE.parents[1] / "experiments" / "arenas"
MANY = 8  # names of a list; of a longer one the rest is counted
MARK = "†"  # at an end of a range
FEWER = 0.9  # with less than this share of the classes, a search trains on another problem

LIMITS = """* **Other data, networks and lengths.** An interval covers new divisions of the same classes, new searches in the same
  ranges and new seeds. It covers no other images, network or budget. What differs between the arenas below shows how far that
  matters.
* **The best that a method can do.** A search has the same images for every method, however many options it has. A larger one may
  find more, and more for one method than for another.
* **That methods are equal.** Two that cannot be told apart may differ by less than the noise; the intervals say by how much.
* **Why.** A method here is a loss with its batches, its own settings and what its search found; their parts are not taken apart.
* **Cause.** A figure that goes with the score over methods need not raise it where it is changed."""

HOW = """Every method is tuned by two independent searches with the same number of images each, on validation classes alone.
The winners of both are trained on several divisions of the classes with seeds that no search saw. A score is the mean over
these, and its interval is one over new divisions, searches and seeds. Two methods are told apart if the gap of their means,
taken within divisions, is beyond the noise after Holm's adjustment for all pairs (5 %). The noise is that of all methods
together, or a method's own where that is larger.

In the tables, ± is half of the 95 % interval. Bold: the first, and those that cannot be told apart from it; none below one that
can. The column *below* has the probability that a method scores less than the first one in a new division, with a new search and
seed of each."""

AGAIN = """`sh experiments/arenas/run.sh NAME` runs an arena's searches and finals and keeps their records;
`python docs/makers/findings.py experiments/results/arenas docs` makes this page of them. A store of your own that repeats
searches or divisions has the same statistics in its report."""


@dataclass
class Arena:
    """What an arena's experiments have left so far."""

    name: str
    records: list[Record] = field(default_factory=list)
    missing: int = 0  # trials of the finals that were planned and have no result
    lengths: rungs.Lengths | None = None
    searched: list[Record] = field(default_factory=list)  # the trials of one search
    edges: list[dict[str, str]] = field(
        default_factory=list
    )  # of every search: {"method option": "low" or "high"}

    @cached_property
    def found(self) -> Repeated | None:
        """The methods over divisions and searches; of several groups the largest."""
        groups = repeated.of_arenas(arenas(self.records))
        return max(groups, key=lambda one: len(one.runs), default=None)

    @cached_property
    def compared(self) -> Comparison:
        return self.found.compared() if self.found else Comparison.of({})

    @property
    def tells(self) -> bool:
        """Whether two methods can be compared."""
        return len(self.compared.methods) > 1 and self.compared.repeated

    @property
    def complete(self) -> bool:
        return self.tells and not self.missing and not self.compared.left_out

    @property
    def score(self) -> str:
        """What methods are ranked by."""
        assert self.found is not None
        return f"{self.found.metric} ({self.found.results[0]})"

    @property
    def kind(self) -> str:
        """What is trained: ``scratch``, ``finetuned``, or a head on ``features`` that are not."""
        config = self.records[0].config
        if config["data"]["name"] == FROZEN or config["backbone"]["name"] == "identity":
            return "features"
        return "scratch" if config["backbone"].get("pretrained", "none") == "none" else "finetuned"


def read(results: Path) -> list[Arena]:
    """The arenas below a folder of results, and those that are only planned."""
    if not results.is_dir() and not EXPERIMENTS.is_dir():
        raise UserError(f"there is no folder {results}.")
    names = {
        path.name
        for folder in (results, EXPERIMENTS)
        if folder.is_dir()
        for path in folder.iterdir()
        if path.is_dir()
    }
    return [_arena(results / name) for name in sorted(names)]


def _arena(folder: Path) -> Arena:
    store = folder / FINALS
    records = usable_records.load(store) if store.is_dir() else []
    done = [record for record in records if record.status == "finished"]
    planned = {trial["id"] for trial in manifest.read(store).trials} if store.is_dir() else set()
    failed = len(records) - len(done)
    missing = len(planned - {record.id for record in records}) + failed
    searches = folder / SEARCHES
    lengths = rungs.read(searches) if searches.is_dir() else None
    stores = sorted(path.parent for path in searches.glob(f"**/{manifest.FILE}"))
    searched = usable_records.load(stores[0]) if stores else []
    return Arena(folder.name, done, missing, lengths, searched, _edges(searches))


def _edges(searches: Path) -> list[dict[str, str]]:
    """The options whose winning value is close to an end of its range."""
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for path in sorted(searches.glob(f"**/{hyperparams.WINNER}")):
        winner = hyperparams.read(path)
        for key, end in (winner.search.get("edges") or {}).items():
            found[winner.search["number"]][f"{winner.method} {key}"] = end
    return list(found.values())


def classes(records: Iterable[Record]) -> int:
    """The most classes that one of them trained on; 0 if none says so."""
    found = (re.search(r"of (\d+) classes", record.data.get("train", "")) for record in records)
    return max((int(one[1]) for one in found if one), default=0)


# --- the page ----------------------------------------------------------------------------------------------------------


@dataclass
class Page:
    blocks: list[str] = field(default_factory=list)
    figures: dict[str, Callable[[], bytes]] = field(default_factory=dict)
    sheets: dict[str, Table] = field(default_factory=dict)  # tables that are long: as CSV

    def say(self, *sentences: str) -> None:
        told = " ".join(sentence for sentence in sentences if sentence)
        self.blocks += [told] if told else []

    def show(self, name: str, draw: Callable[[], bytes], about: str) -> None:
        self.figures[name] = draw
        self.blocks.append(f"![{about}]({name})")

    def fold(self, table: Table) -> None:
        """A table that opens when asked for, and stands beside the page as CSV."""
        self.blocks.append(
            f'<details markdown="1"><summary>{table.title}</summary>\n\n{body(table)}\n{self._sheet(table)}\n\n</details>'
        )

    def attach(self, table: Table) -> None:
        """A table with a column for every method: beside the page alone."""
        self.say(f"{table.title}: {self._sheet(table)}.", *table.notes)

    def _sheet(self, table: Table) -> str:
        name = f"findings-{table.name}.csv"
        self.sheets[name] = table
        return f"[as CSV]({name})"


def made(found: Sequence[Arena], beside: Path | None = None) -> Page:
    """The page; ``beside`` is the folder of the stores of other experiments."""
    page = Page(["# Findings"])
    ready = [arena for arena in found if arena.tells]
    _answer(page, found, ready)
    page.blocks += ["## What cannot be concluded", LIMITS, "## How it was compared", HOW]
    better = contradictions.find(beside) if beside else []
    for arena in ready:
        _of_arena(page, arena, contradicted(arena, better))
    if len(ready) > 1:
        _between(page, ready)
    foretold.of_arenas(page, ready)
    if beside:
        networks.of_store(page, beside / NETWORKS)
        by_hand.of_stores(page, beside / PICKED)
    page.blocks += ["## How to make it again", AGAIN]
    return page


def _answer(page: Page, found: Sequence[Arena], ready: Sequence[Arena]) -> None:
    lines = [f"* **{arena.name}**: {verdict(arena)}" for arena in ready]
    if len(ready) > 1:
        lines.insert(0, f"* **All arenas**: {' '.join(everywhere(ready))}")
    if ready:
        lines.append(
            "* **Noise**: how far single scores of a method lie apart within a division (standard deviation), and how far the "
            f"first method is ahead of the one in the middle, in points: {'; '.join(map(_spread, ready))}."
        )
    lines += [f"* **{arena.name}**: {unfinished(arena)}" for arena in found if not arena.complete]
    if not ready:
        lines.insert(
            0,
            "* No arena has two methods that were repeated over divisions and searches yet. So there is nothing to say.",
        )
    page.blocks += ["## In short", "\n".join(lines)]


def verdict(arena: Arena) -> str:
    """Who leads, if the statistics say so."""
    compared = arena.compared
    leaders, others = compared.leaders, len(compared.methods) - len(compared.leaders)
    behind = sum((compared.best, name) in compared.apart for name in compared.methods)
    rest = f"Of the {others} others, {behind} {'is' if behind == 1 else 'are'} behind it beyond the noise."
    if not compared.apart:
        return f"by {arena.score}, no two of {len(compared.methods)} methods can be told apart."
    if not others:
        return f"by {arena.score}, none of {len(compared.methods)} methods can be told apart from the one with the highest mean."
    if len(leaders) == 1:
        return f"by {arena.score}, **{leaders[0]}** leads with {_at(compared, leaders[0])}. {rest}"
    first = f"{leaders[0]} has the highest mean, {_at(compared, leaders[0])}"
    return f"by {arena.score}, {first}, and {listed(leaders[1:])} cannot be told apart from it. {rest}"


def _at(compared: Comparison, name: str) -> str:
    return f"{compared.mean(name):.1f} ({ends(compared.interval(name), 1)})"


def unfinished(arena: Arena) -> str:
    """What is not there yet."""
    if not arena.records:
        return "no records yet."
    parts = [f"{plural(arena.missing, 'trial')} of its finals without a result"] if arena.missing else []
    left_out = arena.compared.left_out
    parts += [f"not repeated as often as the others, so left out: {listed(left_out)}"] if left_out else []
    parts += [] if arena.tells else ["fewer than two methods are repeated"]
    return f"not complete: {'; '.join(parts)}."


def everywhere(ready: Sequence[Arena]) -> list[str]:
    """The differences that hold in all arenas, of methods that no more than one arena lacks."""
    most = max(2, len(ready) - 1)
    having = {name: [one.compared for one in ready if name in one.compared.means] for name in _methods(ready)}
    shared = sorted(name for name, own in having.items() if len(own) >= most)
    pairs = {
        pair: [one for one in having[pair[0]] if pair[1] in one.means] for pair in permutations(shared, 2)
    }
    pairs = {pair: own for pair, own in pairs.items() if len(own) >= most}
    told = [f"{a} above {b}" for (a, b), own in pairs.items() if all((a, b) in one.apart for one in own)]
    never = [name for name in shared if all(name in one.leaders for one in having[name])]
    have = (
        f"all {len(ready)} arenas have"
        if most == len(ready)
        else f"at least {most} of the {len(ready)} arenas have"
    )
    return [
        f"of {plural(len(pairs) // 2, 'pair')} of methods that {have}, {_told_apart(len(told))} in the same order in "
        f"all of these{f': {listed(told)}' if told else ''}.",
        _counted(len({tuple(sorted(one.pair)) for one in turned(ready)})),
        f"Of the {plural(len(shared), 'method')} that {have}, "
        + (f"no arena tells apart from its first: {listed(never)}." if never else "each is behind the first of some arena."),
    ]  # fmt: skip


class Turned(NamedTuple):
    """A pair that both arenas tell apart, the better one of the first arena first."""

    pair: tuple[str, str]
    arenas: tuple[str, str]


def turned(ready: Sequence[Arena]) -> list[Turned]:
    return [
        Turned(pair, (a.name, b.name))
        for a, b in combinations(ready, 2)
        if (found := orders.agreement(a.compared, b.compared))
        for pair in found.reversed
    ]


def _counted(pairs: int) -> str:
    stand = f"{plural(pairs, 'pair')} stand{'s' * (pairs == 1)}" if pairs else "No pair stands"
    return f"{stand} in opposite order in two arenas, beyond the noise of both."


def _methods(ready: Sequence[Arena]) -> set[str]:
    return {name for one in ready for name in one.compared.means}


def _spread(arena: Arena) -> str:
    """How far single scores of a method lie apart, and how far methods do."""
    compared = arena.compared
    known = [one.value for source, one in compared.components().items() if one and source != "division"]
    middle = compared.methods[len(compared.methods) // 2]
    ahead = abs(compared.mean(compared.best) - compared.mean(middle))
    return f"{arena.name} {points(sum(one**2 for one in known) ** 0.5)} and {points(ahead)}"


def _told_apart(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'} told apart"


def listed(words: Iterable[str], most: int = MANY) -> str:
    words = list(words)
    if len(words) > most + 1:
        words = [*words[:most], f"{len(words) - most} more"]
    return listing(words) if words else "none"


# --- an arena ------------------------------------------------------------------------------------------------------------


def contradicted(arena: Arena, better: Sequence[contradictions.Contradiction]) -> str:
    """The methods whose searches missed something that other records have."""
    own = [one for one in better if one.tuned.endswith(f"/{arena.name}/{FINALS}")]
    parts = [f"{one.method} by {one.gap:.1f} points (`{one.better}`)" for one in own]
    return (
        f"Other settings that are kept here, on the same data, network and images, score more beyond the noise: {listed(parts)}. "
        "So its place is not the best that such a method can have."
        if parts
        else ""
    )


def _of_arena(page: Page, arena: Arena, missed: str) -> None:
    assert arena.found is not None
    compared, slug = arena.compared, tables.slug(arena.name)
    page.blocks.append(f"## Arena {arena.name}")
    page.say(conditions(arena))
    page.say(
        f"{verdict(arena)[:1].upper()}{verdict(arena)[1:]}",
        f"Of {plural(len(compared.gaps), 'pair')}, {_told_apart(len(compared.apart))}.",
        *(not_above(arena)),
        missed,
    )
    page.show(
        f"findings-{slug}.svg",
        lambda: pictures.means(arena.found, arena.score),
        f"{arena.score} in {arena.name}",
    )
    page.blocks.append(body(scores(arena)))
    page.say(noise(compared), new_search(compared))
    page.say(*optimism(arena))
    if arena.lengths and len(arena.lengths.shares) > 1:
        page.say(*length(arena))
        page.show(
            f"findings-{slug}-length.svg",
            lambda: pictures.places(places(arena)),
            f"Places by length in {arena.name}",
        )
        page.fold(_named(rungs.table(arena.lengths, arena.name), arena))
    page.fold(_named(repeated.noise(arena.found), arena))
    page.attach(_named(repeated.wins(arena.found), arena))


def _named(table: Table | None, arena: Arena) -> Table:
    assert table is not None
    table.of = arena.name
    return table


def conditions(arena: Arena) -> str:
    records, compared = arena.records, arena.compared
    config = records[0].config
    images = sorted(
        {cost.images(record) for record in records if record.config["method"]["name"] in compared.methods}
    )
    named = records[0].config["data"]
    data = named["of"]["name"] if isinstance(named.get("of"), dict) else named.get("of", named["name"])
    hours = sum(cost.processor(record) or 0.0 for record in records) / 3600
    seen = (
        f"{images[0]:,}"
        if images and images[0] == images[-1]
        else f"{images[0]:,} to {images[-1]:,}"
        if images
        else "no"
    )
    searches = f"{compared.searches} search{'es' * (compared.searches != 1)}"
    return (
        f"Data: {data}. Network: {config['backbone']['name']}, {_weights(config)}. {plural(len(compared.methods), 'method')}, "
        f"{plural(len(compared.divisions), 'division')} of the classes, {searches}, {_seeds(compared)}. {seen} images a "
        f"training; {hours:.1f} hours of processor time for {plural(len(records), 'training')}."
    )


def _seeds(compared: Comparison) -> str:
    return "a seed for each" if compared.seeds == 1 else f"{compared.seeds:.3g} seeds for each"


def _weights(config: Any) -> str:
    if config["data"]["name"] == FROZEN:
        return f"a head on frozen features of {config['data'].get('backbone', 'a network')}"
    return "from scratch" if config["backbone"].get("pretrained", "none") == "none" else "pretrained"


def scores(arena: Arena) -> Table:
    """The one table: what the report of a store shows, without its tests."""
    assert arena.found is not None
    table = repeated.scores(arena.found)
    common = (repeated.HOW, repeated.RULE, repeated.WINS)  # said once, above
    table.notes = [
        note for note in table.notes if note not in common and not note.startswith(repeated.NEW_SEARCH)
    ]
    close = {option.split()[0] for found in arena.edges for option in found}
    for row in table.rows:
        if row.values[0] in close:
            row.values[0] += f" {MARK}"
    if close:
        table.notes.append(_about_edges(arena.edges))
    return table


def _about_edges(edges: Sequence[dict[str, str]]) -> str:
    note = f"{MARK}: a search found a value in the outer tenth of its range, so a wider range may hold a better one."
    shared = set.intersection(*(set(found.items()) for found in edges)) if len(edges) > 1 else set()
    named = [f"{option.replace(' ', ' (')}, {end})" for option, end in sorted(shared)]
    return f"{note} All searches at the same end: {listed(named)}."


def not_above(arena: Arena) -> list[str]:
    """Methods that are not better than the network without their training."""
    assert arena.found is not None
    told = []
    for name, before in arena.found.before().items():
        level = {
            division: float(cells.mean())
            for division, cells in zip(before.divisions, before.means.get(name, ()))
        }
        runs = {
            method: {
                run: value - level[run[0]]
                for run, value in arena.found.values(method).items()
                if run[0] in level
            }
            for method in arena.compared.methods
        }
        gained = Comparison.of(runs)
        low = [one for one in gained.methods if (ends := gained.interval(one)) and ends[0] <= 0]
        if gained.methods:
            told.append(
                f"Not above the row `{name}` beyond the noise: {listed(low)}."
                if low
                else f"All are above the row `{name}` beyond the noise."
            )
    return told


def noise(compared: Comparison) -> str:
    found = compared.components()
    share = repeated.shares(found)
    parts = [
        f"{SOURCES[source]} {share[source]:.0%} ({one.value:.2f} points)"
        for source, one in found.items()
        if one is not None and source in share
    ]
    seeds = "" if found["seed"] else f" {repeated.ONE_SEED}"
    unlike = (
        f" Noisier than the others, so judged by their own noise alone, and with wide intervals: {listed(compared.unlike)}."
        if compared.unlike
        else ""
    )
    return f"Where the variance of a single score comes from, all methods together: {'; '.join(parts)}.{seeds}{unlike}"


def new_search(compared: Comparison) -> str:
    tau = orders.by_search(compared)
    return "" if tau is None else f"{repeated.NEW_SEARCH} {tau:.2f}."


def optimism(arena: Arena) -> Iterable[str]:
    """What choosing the epoch by test classes adds, and where training ends below its best."""
    assert arena.found is not None
    best = arena.found.protocol.leading
    for other in (which for which in arena.found.results if which != best):
        gaps = arena.found.gained(best, other)
        if not gaps.methods:
            continue
        means = [gaps.mean(name) for name in gaps.methods]
        beyond = [name for name in gaps.methods if (found := gaps.interval(name)) and found[0] > 0]
        yield (
            f"{best} is {points(fmean(means))} points above {other} on average over methods ({points(min(means))} to "
            f"{points(max(means))}), beyond the noise for {len(beyond)} of {len(means)}."
        )
    few, many = classes(arena.searched), classes(arena.records)
    if 0 < few < FEWER * many and arena.found.results[0] != best:
        yield (
            f"The searches trained on {few} classes, these trainings on {many}. So an epoch that a search chose can come too "
            f"early: what {best} is above {arena.found.results[0]} is not the choice by test classes alone."
        )
    agreed = orders.agreement(arena.found.compared(best), arena.compared)
    if agreed and arena.found.results[0] != best:
        yield f"The orders by {best} and by {arena.found.results[0]} have a tau of {_tau(agreed)}."


def points(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _tau(found: orders.Agreement) -> str:
    return f"{found.tau:.2f}".replace("-", "−") + (f" ({ends(found.interval)})" if found.interval else "")


def length(arena: Arena) -> Iterable[str]:
    """Whether a short training foretells the order of a long one."""
    assert arena.lengths is not None
    full = arena.lengths.compared(arena.lengths.shares[-1])
    for share in arena.lengths.shares[:-1]:
        found = orders.agreement(arena.lengths.compared(share), full)
        if found:
            turned = [f"{a} above {b}" for a, b in found.reversed]
            yield (
                f"The orders after {rungs.named(share)} and after all of it, by validation scores, have a tau of {_tau(found)}"
                + (
                    f"; beyond the noise of both, the shorter one alone has {listed(turned)}."
                    if turned
                    else "."
                )
            )


def places(arena: Arena) -> dict[str, list[str]]:
    """The order at every length by validation scores, and that of the finals on test classes."""
    assert arena.lengths is not None
    found = {rungs.named(share): arena.lengths.compared(share).methods for share in arena.lengths.shares}
    found[f"finals, {arena.score}"] = arena.compared.methods
    shared = set.intersection(*map(set, found.values()))
    return {label: [name for name in order if name in shared] for label, order in found.items()}


# --- between arenas --------------------------------------------------------------------------------------------------------


def _between(page: Page, ready: Sequence[Arena]) -> None:
    page.blocks.append("## Between arenas")
    columns = [
        Column(head, numeric=number > 1)
        for number, head in enumerate(("first", "second", "methods", "tau", "interval", "reversed"))
    ]
    rows = [
        Row([a.name, b.name, len(found.methods), found.tau, ends(found.interval), len(found.reversed)])
        for a, b in combinations(ready, 2)
        if (found := orders.agreement(a.compared, b.compared))
    ]
    told = everywhere(ready)
    page.say(told[0][:1].upper() + told[0][1:], *told[1:])
    page.say(
        *(
            f"{better} is above {worse} in {first}, and below it in {second}."
            for (better, worse), (first, second) in turned(ready)
        )
    )
    if rows:
        note = "reversed: pairs that both arenas tell apart, in opposite order."
        page.blocks.append(body(Table("between", "Between arenas", "", columns, rows, [note])))


# --- what is written -------------------------------------------------------------------------------------------------------


def data(found: Sequence[Arena]) -> dict[str, Any]:
    """What recommendations and cards may say: of every arena the methods that cannot be told apart from the best, and the places
    that each may have."""
    return {
        arena.name: {
            "complete": arena.complete,
            "kind": arena.kind,
            "score": arena.score,
            "best": arena.compared.leaders,
            "year": max(record.started for record in arena.records)[:4],
            "methods": {
                name: {
                    "mean": round(arena.compared.mean(name), 2),
                    "interval": _rounded(arena.compared.interval(name)),
                    "places": arena.compared.places(name),
                }
                for name in arena.compared.methods
            },
        }
        for arena in found
        if arena.tells
    }


def _rounded(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else [round(end, 2) for end in interval]


def write(results: str | Path, folder: str | Path) -> None:
    found = read(Path(results))
    page, folder = made(found, Path(results).parent), Path(folder)
    contents = {
        PAGE: text(page).encode(),
        DATA: (json.dumps(data(found), indent=1) + "\n").encode(),
        **{name: tables.comma_separated(table).encode() for name, table in page.sheets.items()},
        **{name: draw() for name, draw in page.figures.items()},
    }
    for old in folder.glob("findings-*"):
        if old.name not in contents:
            old.unlink()
    for name, content in contents.items():
        with files.replacing(folder / name, "wb") as stream:
            stream.write(content)


def text(page: Page) -> str:
    return "\n\n".join(block.strip() for block in page.blocks) + "\n"


if __name__ == "__main__":
    try:
        if len(sys.argv) != 3:
            raise UserError(
                "name the folder of results and that of the page: experiments/results/arenas docs."
            )
        write(*sys.argv[1:])
    except UserError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
