"""Methods that a store has several times: on several divisions of its data's classes, with the winners of several searches.

Any option of the data named ``division`` or ``seed`` with a whole number says which division a trial is of, and the key
``search`` which search found its settings. Trials that differ in these, in the seed and in what the searches chose are
repetitions of one method, and ``variance`` compares methods over them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from ..parts import metrics
from ..parts.protocols import UNTOUCHED_FEATURES, UNTRAINED, UNTRAINED_HEAD, ProtocolPart
from ..trial.store.records import Record
from . import orders
from .figures import Figure, Series
from .grouping import PROMINENT, Arena, Cell, alike, canonical, named, score
from .statistics import LEVEL
from .tables import Column, Interval, Row, Table, ends
from .variance import SOURCES, Comparison, Estimate, Run

SEARCH = "search"
DIVISIONS = ("division", "seed")  # options of data sets that say how their classes are divided
HOW = (
    "± is half of a 95 % interval of the mean over new divisions, searches and seeds: mean squares of the analysis of variance, "
    "Satterthwaite's degrees of freedom, Student's distribution."
)
RULE = (
    "Bold (* in a terminal): the best, and those that cannot be told apart from it (differences within divisions, Holm's "
    f"adjustment for all pairs, {LEVEL * 100:.0f} %); none below one that can. The noise is that of all methods together, or a "
    "method's own where that is larger."
)
WINS = (
    "below the best: the probability that the method scores less than the best one in a new division, with a new search "
    "and seed of each; and its 95 % interval."
)
SHARES = (
    "Standard deviations in points, and the share of the variance of a single score. 0.00: no more than noise. The last row is "
    "that of all methods together, with 95 % intervals; shares of one method alone are rough."
)
ONE_SEED = "There is one seed for each division and search, so what seeds add is counted as `division and search together`."
NEW_SEARCH = "The orders by one search and by another have a tau of"


@dataclass
class Repeated:
    """The same methods over divisions and searches."""

    title: str
    protocol: ProtocolPart
    metric: str
    runs: dict[str, dict[Run, Record]] = field(default_factory=dict)  # of every method
    beside: dict[str, dict[Run, Record]] = field(default_factory=dict)  # of networks that were not trained
    first: list[Table] = field(default_factory=list)  # what its tables begin with

    @property
    def results(self) -> list[str]:
        """What was measured of every trial: first what was chosen without test classes, if anything was."""
        every = [record.results for runs in self.runs.values() for record in runs.values()]
        common = set(self.protocol.results).intersection(*every) - {UNTRAINED}
        known = filter(common.__contains__, self.protocol.results)
        return sorted(known, key=lambda which: which in (self.protocol.leading, self.protocol.beside))

    def compared(self, which: str = "") -> Comparison:
        """By a result, in percent."""
        which = which or self.results[0]
        if which not in self._compared:
            found = {name: self.values(name, which) for name in self.runs}
            self._compared[which] = Comparison.of(found, metrics.get(self.metric).higher_is_better)
        return self._compared[which]

    _compared: dict[str, Comparison] = field(default_factory=dict)

    def values(self, name: str, which: str = "") -> dict[Run, float]:
        """The scores of a method, or of a network that was not trained, by division, search and seed, in percent."""
        records = (self.runs.get(name) or self.beside[name]).items()
        found = {run: score(record, which or self.results[0], self.metric) for run, record in records}
        return {run: value for run, value in found.items() if value is not None}

    def gained(self, first: str, second: str) -> Comparison:
        """How much more one result of the same training is than another."""
        found = {}
        for name in self.runs:
            a, b = (self.values(name, which) for which in (first, second))
            found[name] = {run: a[run] - b[run] for run in a if run in b}
        return Comparison.of(found)

    def before(self) -> dict[str, Comparison]:
        """The scores without any training: of the untouched features, of the trials' own networks at first, and of trials that
        trained nothing. Each alone, as there are no searches."""
        features: dict[Run, float] = {}
        starts: dict[Run, list[float]] = defaultdict(list)
        for runs in self.runs.values():
            for (place, _, seed), record in runs.items():
                value = score(record, UNTRAINED, self.metric)
                if value is not None and record.results[UNTRAINED].get("measured_on") == "test":
                    starts[place, 0, seed].append(value)
                untouched = self.protocol.untouched(record.results, self.results[0]).get(self.metric)
                if untouched is not None:
                    features[place, 0, 0] = metrics.get(self.metric).scale * untouched
        head = {run: fmean(values) for run, values in starts.items()}
        found = {UNTOUCHED_FEATURES: features, UNTRAINED_HEAD if features else UNTRAINED: head}
        found |= {name: self.values(name, self.protocol.beside) for name in self.beside}
        return {name: Comparison.of({name: values}) for name, values in found.items() if values}


# --- which trials repeat which ---------------------------------------------------------------------------------------


def division(data: Mapping[str, Any]) -> tuple[int, ...]:
    """The numbers of the divisions that a data set's options name, those of a data set inside it too.

    >>> dml.reports.repeated.division({"name": "frozen", "of": {"name": "grocery", "division": 2}})
    (2,)
    """
    own = [data[key] for key in DIVISIONS if type(data.get(key)) is int]
    inner = (division(value) for value in data.values() if isinstance(value, Mapping))
    return (*own, *(number for numbers in inner for number in numbers))


def undivided(data: Mapping[str, Any]) -> dict[str, Any]:
    """The options without the numbers of divisions."""
    return {
        key: undivided(value) if isinstance(value, Mapping) else value
        for key, value in data.items()
        if not (key in DIVISIONS and type(value) is int)
    }


def of_arenas(arenas: Sequence[Arena]) -> list[Repeated]:
    """Those of a store's arenas in which some method is repeated. A search's own trials are no results."""
    results = [cell for arena in arenas for cell in arena.finished if not cell.searched]
    groups = alike(results, lambda cell: canonical([undivided(cell.config["data"]), cell.compared_under]))
    repeated = [cells for cells in groups if _repeats(cells)]
    data = named([undivided(cells[0].config["data"]) for cells in repeated])
    protocol = named([cells[0].compared_under for cells in repeated], " protocol")
    return [_group(cells, ", ".join(title)) for cells, title in zip(repeated, zip(data, protocol))]


def _repeats(cells: Iterable[Cell]) -> bool:
    places = {(cell.method, _place(cell)) for cell in cells if cell.trained}
    return len(places) > len({method for method, _ in places})


def _group(cells: Sequence[Cell], title: str) -> Repeated:
    made = Repeated(title, cells[0].protocol, cells[0].headline)
    for cell, label in zip(cells, _labels(cells)):
        runs = (made.runs if cell.trained else made.beside).setdefault(label, {})
        runs.update({(*_place(cell), record.seed): record for record in cell.records})
    return made


def _place(cell: Cell) -> tuple[tuple[int, ...], Any]:
    """Which division and search it is of."""
    return division(cell.config["data"]), cell.config.get(SEARCH, 0)


def _labels(cells: Sequence[Cell]) -> list[str]:
    """A method's name (of a network that was not trained also what its head does). Where one search has several settings of
    it, also the network and the sizes that differ; where that is not enough, all that a table of the arena shows of them."""
    trained = [cell for cell in cells if cell.trained]
    keys = [key for key in PROMINENT if len({canonical(cell.flat.get(key)) for cell in trained}) > 1]
    heads = ["" if cell.trained else f", {cell.config['head']['reduction']} head" for cell in cells]
    labels = [cell.method + head for cell, head in zip(cells, heads)]
    sizes = ([str(cell.flat.get(key)) for key in keys] for cell in cells)
    sized = [", ".join([label, *own]) for label, own in zip(labels, sizes)]
    for longer in (sized, [cell.label_without(SEARCH) for cell in cells]):
        places = Counter((label, _place(cell)) for label, cell in zip(labels, cells))
        twice = {label for (label, _), count in places.items() if count > 1}
        labels = [long if label in twice else label for label, long in zip(labels, longer)]
    return labels


# --- tables ----------------------------------------------------------------------------------------------------------


def tables(one: Repeated) -> list[Table]:
    """Scores with their intervals, where the noise comes from, and who is better than whom."""
    found = one.compared()
    if not found.methods:
        return []
    made = [*one.first, scores(one)]
    made += [noise(one)] if found.repeated else []
    return made + ([wins(one)] if len(found.methods) > 1 else [])


def scores(one: Repeated) -> Table:
    """Every result of every method, the best first."""
    found = [one.compared(which) for which in one.results]
    first = found[0]
    columns = [
        Column("method", numeric=False),
        *(Column(f"{one.metric} {which}", one.protocol.meaning(which)) for which in one.results),
        Column(f"below {first.best}", WINS),
        Column("interval", WINS, numeric=False),
        Column("p", "adjusted"),
    ]
    rows = []
    for name, before in one.before().items():
        rows.append(Row([name, *[_interval(before, name)] * len(found), None, None, None], kind="baseline"))
    for name in first.methods:
        below = [None] * 3 if name == first.best else next_time(first, first.best, name)
        bold = {1} if name in first.leaders and first.repeated else set()
        rows.append(Row([name, *(_interval(each, name) for each in found), *below], bold))
    return Table("repeated", "Over divisions and searches", one.title, columns, rows, [*_notes(one, first)])


def next_time(found: Comparison, one: str, other: str) -> list[Any]:
    """How likely one method is better next time, the interval of that, and the adjusted p-value of their difference."""
    wins = found.gap(one, other).wins
    p = found.adjusted.get((one, other), found.adjusted.get((other, one), 1.0))
    return [wins.value, ends(wins.interval), f"{p:.3f}" if p >= 0.001 else "< 0.001"]


def _notes(one: Repeated, found: Comparison) -> Iterator[str]:
    design = f"{len(found.divisions)} × {found.searches} × {found.seeds:.3g}"
    yield f"Percent, means of divisions × searches × seeds: {design}."
    yield HOW
    yield from (f"{which}: {one.protocol.meaning(which)}." for which in one.results)
    yield from [RULE, WINS] if len(found.methods) > 1 else []
    if found.left_out:
        yield f"Not complete, so not in this table: {', '.join(found.left_out)}."
    if found.unlike:
        yield f"Noise beyond that of the others, so not pooled: {', '.join(found.unlike)}."
    if (tau := orders.by_search(found)) is not None:
        yield f"{NEW_SEARCH} {tau:.2f}."


def _interval(found: Comparison, name: str) -> Interval | None:
    return Interval.of(found.mean(name), found.interval(name)) if name in found.means else None


def noise(one: Repeated) -> Table:
    """How much each source adds to a single score."""
    found = one.compared()
    together = found.components()
    sources = [source for source in SOURCES if together[source] is not None]
    columns = [Column("method", numeric=False)]
    for source in sources:
        columns += [Column(SOURCES[source]), Column("share")]
    # What divisions do to all methods alike is known of all together only.
    every = {name: {**found.components(name), "division": together["division"]} for name in found.methods}
    every["all together"] = together
    rows = [Row([name, *_noise_of(parts, sources, parts is together)]) for name, parts in every.items()]
    notes = [SHARES] if "seed" in sources else [SHARES, ONE_SEED]
    return Table("noise", "Where the noise comes from", one.title, columns, rows, notes)


def _noise_of(parts: Mapping[str, Estimate | None], sources: Sequence[str], intervals: bool) -> Iterator[Any]:
    share = shares(parts)
    for source in sources:
        part = parts[source]
        yield part and (f"{part.value:.2f} ({ends(part.interval)})" if intervals else part.value)
        yield f"{share[source]:.0%}" if source in share else None


def shares(parts: Mapping[str, Estimate | None]) -> dict[str, float]:
    """Of the variance of a single score."""
    squares = {source: part.value**2 for source, part in parts.items() if part is not None}
    total = sum(squares.values())
    return {source: square / total for source, square in squares.items()} if total else {}


def wins(one: Repeated) -> Table:
    """For every pair, how likely the row is better than the column."""
    found = one.compared()
    above = {pair: gap.wins.value for pair, gap in found.gaps.items()}
    above |= {(b, a): 1 - value for (a, b), value in above.items()}
    columns = [Column("method", numeric=False), *map(Column, found.methods)]
    rows = [Row([name, *(above.get((name, other)) for other in found.methods)]) for name in found.methods]
    note = "The probability that the method of the row is better than that of the column in a new division, search and seed."
    return Table("wins", "Which is better next time", one.title, columns, rows, [note])


def figure(one: Repeated) -> Figure | None:
    """The means with their intervals."""
    found, which = one.compared(), one.results[0]
    if not found.methods:
        return None
    bars = Series(which)
    repeats = f"{len(found.divisions)} divisions, {found.searches} searches"
    for place, name in enumerate(found.methods):
        bars.put(name, found.mean(name), found.interval(name), label=repeats, colour=place)
    title, label = f"{one.metric} over divisions and searches", f"{one.metric} ({which}), %"
    note = "Whiskers here: new divisions, searches and seeds."
    return Figure("repeated", title, "bars", label, "", [bars], note=note)
