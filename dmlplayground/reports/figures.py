"""The numbers of every figure; ``figure_files`` draws them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Literal

from ..parts import metrics
from ..parts.protocols import UNTOUCHED_FEATURES, VALIDATION
from ..studies import published
from ..studies.published import Quoted
from ..trial.store.records import Record
from . import optimism as optimisms
from .grouping import Arena, Cell, alike
from .statistics import Summary, differences, summary

INTERVAL = (
    "Whiskers and bands: 95 % interval of the mean, for three seeds or more. Two seeds say too little about it, so bars "
    "show both runs as dots."
)
BANDS = 4  # with more lines than this, none has a band
# With more cells than this, only the best setting of every method is shown.
BARS, CURVES, POINTS = 30, 16, 200
BEST = "Every method at its best setting."
Ends = tuple[float, float] | None  # of an interval


@dataclass
class Series:
    """Points under one name. ``x`` holds numbers, or categories if the figure has bars."""

    name: str
    quoted_for: str = ""  # the series that these published values belong to
    x: list[Any] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)
    runs: list[list[float]] = field(default_factory=list)  # both runs where there are two seeds
    labels: list[str] = field(default_factory=list)  # what is shown when a point is pointed at
    colours: list[int] = field(default_factory=list)  # those of cells; without, the series is grey
    sizes: list[str] = field(default_factory=list)  # written beside the points

    def put(self, x: Any, y: float, ends: Ends = None, label: str = "", colour: int | None = None) -> None:
        """Add a point."""
        low, high = ends or (None, None)
        self.x.append(x)
        self.y.append(y)
        self.low.append(low)
        self.high.append(high)
        self.runs.append([])
        self.labels.append(label)
        self.colours += [] if colour is None else [colour]

    def add(self, x: Any, measured: Summary, label: str = "", colour: int | None = None) -> None:
        """Add a mean over seeds."""
        label = ", ".join(filter(None, [label, f"{measured.n} seed{'s' * (measured.n != 1)}"]))
        self.put(x, measured.mean, measured.interval, label, colour)
        self.runs[-1] += measured.values.values() if measured.n == 2 else []

    def quote(self, x: Any, found: Quoted | None) -> None:
        """Add a published value, if there is one."""
        if found:
            self.put(x, found.value, label=f"quoted: {found.source}")


@dataclass
class Figure:
    name: str
    title: str
    kind: Literal["bars", "lines", "points"]
    x_label: str
    y_label: str
    series: list[Series]
    log: bool = False  # the x axis, by powers of two
    note: str = ""
    references: dict[str, float] = field(default_factory=dict)  # lines drawn across, by what they stand for

    def tips(self, series: Series) -> list[str]:
        """What is said of each point of a series when it is pointed at."""
        heads = map(str, series.x) if self.kind == "bars" else (f"{self.x_label} {x:.5g}" for x in series.x)
        found = []
        points: Any = zip_longest(heads, series.y, series.low, series.high, series.runs, series.labels)
        for head, y, low, high, runs, label in points:
            lines = [head, f"{series.name}: {y:.4g}"]
            lines += [] if low is None else [f"95 % interval {low:.4g} to {high:.4g}"]
            lines += [f"runs {' and '.join(f'{run:.4g}' for run in runs)}"] if runs else []
            found.append("\n".join([*lines, label] if label else lines))
        return found

    @property
    def measured(self) -> list[Series]:
        """Those that were not published."""
        return [one for one in self.series if not one.quoted_for]

    @property
    def tangle(self) -> bool:
        """Whether bands would overlap too much."""
        return self.kind == "lines" and len(self.series) > BANDS

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest value to be shown: means, and the intervals and runs that are drawn."""
        values = [value for series in self.series for value in series.y] + [*self.references.values()]
        for series in [] if self.tangle else self.series:
            values += [end for end in (*series.low, *series.high) if end is not None]
            values += [run for runs in series.runs for run in runs if self.kind == "bars"]
        return min(values), max(values)


def of_arena(arena: Arena, others: Sequence[Arena] = ()) -> list[Figure]:
    """Every figure for which the arena, with the others of its store, has numbers."""
    if not arena.finished:
        return []
    made = [bars(arena), optimism(arena, others), learning_curves(arena), cost(arena)]
    made += [against(arena, "embed_dim", "embedding size"), against(arena, "batch_size", "batch size")]
    return [figure for figure in made if figure]


def bars(arena: Arena) -> Figure:
    """The score of every cell, with the published values. Where backbones differ, a shade stands for each of them."""
    measured: dict[str, Series] = {}
    quoted: dict[str, Series] = {}
    cells, note = _shown(arena, BARS)
    backbones = {cell.config["backbone"]["name"] for cell in cells}
    for cell in cells:
        backbone = cell.config["backbone"]["name"]
        category = cell.label_without("backbone.name")
        colour = arena.colour(cell) if len(backbones) == 1 else None
        measured.setdefault(backbone, Series(backbone)).add(category, cell.score, colour=colour)
        theirs = quoted.setdefault(backbone, Series(f"{backbone}, published", backbone))
        theirs.quote(category, cell.published(cell.primary).get(cell.headline))
    series = [*measured.values(), *(one for one in quoted.values() if one.x)]
    untrained = list(arena.untrained(arena.headline).values())
    lines = _untouched(arena, cells[0].primary)
    if len(untrained) == 1 and arena.untrained_on == {"test"}:
        lines = {cells[0].before: untrained[0].mean, **lines}
    title = f"{arena.headline} by method"
    return Figure("bars", title, "bars", axis(arena), "", series, note=note, references=lines)


def _untouched(arena: Arena, which: str) -> dict[str, float]:
    """A line at the untouched features' score, if all cells begin with the same ones."""
    if len({cell.beginning for cell in arena.finished}) > 1:
        return {}
    found = [cell.untouched(which, arena.headline) for cell in arena.untouched()]
    return {UNTOUCHED_FEATURES: found[0]} if found and found[0] is not None else {}


def _shown(arena: Arena, limit: int) -> tuple[list[Cell], str]:
    """The cells that fit into a figure, and a note on how they were chosen."""
    return (arena.finished, "") if len(arena.finished) <= limit else (arena.champions(), BEST)


def learning_curves(arena: Arena) -> Figure | None:
    """The score after every epoch, mean over seeds (and folds, which are watched on validation classes)."""
    cells, note = _shown(arena, CURVES)
    series = [_curve(cell, arena.colour(cell)) for cell in cells]
    if max(len(curve.x) for curve in series) < 2:
        return None
    watched = arena.protocol.watches
    label = f"{arena.headline} on {watched} classes{arena.metric.suffix}"
    across = _untouched(arena, VALIDATION if watched == VALIDATION else arena.protocol.leading)
    return Figure("curves", "Learning curves", "lines", "epoch", label, series, note=note, references=across)


def _curve(cell: Cell, colour: int) -> Series:
    by_epoch: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for record in cell.records:
        for epoch, values in epochs(record, cell.headline).items():
            by_epoch[epoch].append((record.seed, sum(values) / len(values)))
    curve = Series(cell.label)
    for epoch, pairs in sorted(by_epoch.items()):
        curve.add(epoch, summary(pairs), colour=colour)
    return curve


def epochs(record: Record, metric: str) -> dict[int, list[float]]:
    """A metric's values as they are shown by epoch, one for each fold."""
    values: dict[int, list[float]] = defaultdict(list)
    for entry in record.epochs:
        value = entry.get("metrics", {}).get(metric)
        if value is not None:  # where it was not measured, or is not finite
            values[position(record, entry)].append(metrics.get(metric).scale * value)
    return values


def position(record: Record, entry: dict[str, Any]) -> int:
    """The epoch of an entry. In an ensemble trained in sequence the count continues from member to member."""
    return entry.get("member", 0) * record.config["epochs"] + entry["epoch"]


def against(arena: Arena, key: str, words: str) -> Figure | None:
    """The score against a size, a line for each group of cells that differ in nothing else; None if no line has two points."""
    shown, note = _shown(arena, POINTS)
    lines = {cell.label_without(key) for cell in shown}  # those through the best settings, if not all
    series = []
    for cells in alike(arena.finished, lambda cell: cell.label_without(key)):
        label = cells[0].label_without(key)
        if label in lines and len({cell.config[key] for cell in cells}) > 1:
            series += _line(arena, label, key, sorted(cells, key=lambda cell: cell.config[key]))
    title = f"{arena.headline} against {words}"
    if not series:
        return None
    across = _untouched(arena, arena.cells[0].primary)
    return Figure(key, title, "lines", words, axis(arena), series, log=True, note=note, references=across)


def _line(arena: Arena, label: str, key: str, cells: Sequence[Cell]) -> list[Series]:
    measured, quoted = Series(label), Series(f"{label}, published", label)
    colour = arena.colour(cells[0])
    for cell in cells:
        measured.add(cell.config[key], cell.score, colour=colour)
        points = published.curve(cell.config, len(cell.records), key)
        quoted.quote(cell.config[key], points.get(cell.headline))
    return [measured, quoted] if quoted.x else [measured]


def cost(arena: Arena) -> Figure | None:
    """The score against the wall time of a trial."""
    if len(arena.finished) < 2:
        return None
    series: dict[str, Series] = {}
    cells, note = _shown(arena, POINTS)
    sizes = {cell.length for cell in cells}
    if len(sizes) > 1:
        note = f"The numbers beside the points are the sizes of the embeddings. {note}"
    for cell in cells:
        points = series.setdefault(cell.method, Series(cell.method))
        points.add(cell.seconds.mean, cell.score, ", ".join(cell.distinctions), arena.colour(cell))
        points.sizes += [str(cell.length)] if len(sizes) > 1 else []
    title, label = f"{arena.headline} against training time", "seconds per trial (wall time, with evaluation)"
    across = _untouched(arena, arena.cells[0].primary)
    made = [*series.values()]
    return Figure("cost", title, "points", label, axis(arena), made, note=note, references=across)


def optimism(arena: Arena, others: Sequence[Arena]) -> Figure | None:
    """How much of the score comes from reporting the best test epoch. None if that is nothing."""
    cells, note = _shown(arena, BARS)
    shown = [one for one in optimisms.of_arena(arena, others) if one.cell in cells]
    gains, bound = Series(f"{arena.protocol.leading} − {arena.protocol.beside}"), Series("")
    for one in shown:
        gains.add(one.cell.label, one.gain)
        if one.twin and (gap := differences(one.reported, one.validated)):
            bound.name = f"{arena.protocol.leading} − {one.twin.protocol.chosen} ({one.twin.protocol.key})"
            bound.add(one.cell.label, gap)
    series = [one for one in (gains, bound) if any(one.y)]
    note = (
        "What reporting the best test epoch changes, compared with the same runs and with models that never saw the test set. "
        f"The latter were trained on fewer classes, so their gap is an upper bound of the optimism. {note}"
    )
    title = "Optimism of the best test epoch"
    lower = ", lower is better" * (not arena.metric.higher_is_better)
    label = f"{arena.headline}{', points' * arena.metric.percent}{lower}"
    return Figure("optimism", title, "bars", label, "", series, note=note) if series else None


def axis(arena: Arena) -> str:
    return f"{arena.headline} ({arena.finished[0].primary}){arena.metric.suffix}"
