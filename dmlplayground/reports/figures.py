"""The numbers of every figure, apart from how they are drawn (``drawing`` for files, ``page.js`` for the page)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, Optional

from ..records import Record
from . import published
from .cells import Arena, Cell
from .statistics import Summary, differences, summary

INTERVAL = "Whiskers and bands: 95 % interval of the mean over seeds; a single run has none."


@dataclass
class Series:
    """Points of one name. ``x`` holds numbers, or categories where the figure has bars."""

    name: str
    x: list = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    low: list[Optional[float]] = field(default_factory=list)
    high: list[Optional[float]] = field(default_factory=list)
    quoted: bool = False  # published by others
    labels: list[str] = field(default_factory=list)

    def add(self, x, measured: Summary, label: str = "") -> None:
        low, high = measured.interval or (None, None)
        self.x.append(x)
        self.y.append(measured.mean)
        self.low.append(low)
        self.high.append(high)
        self.labels.append(label or f"{measured.n} seed" + "s" * (measured.n != 1))


@dataclass
class Figure:
    name: str
    title: str
    kind: Literal["bars", "lines", "points"]
    x_label: str
    y_label: str
    series: list[Series]
    log: bool = False  # the x axis
    note: str = ""
    reference: Optional[float] = None  # a line drawn across, and what it stands for
    reference_label: str = ""


def of_arena(arena: Arena) -> list[Figure]:
    """Every figure that the arena has the numbers for."""
    makers: tuple[Callable[[Arena], Optional[Figure]], ...] = (
        bars,
        learning_curves,
        embedding_size,
        batch_size,
        cost,
        optimism,
    )
    return [figure for figure in (maker(arena) for maker in makers) if figure]


def bars(arena: Arena) -> Optional[Figure]:
    """R@1 of every cell, a colour a backbone; published values beside them."""
    backbones: dict[str, Series] = {}
    quoted = Series("published", quoted=True)
    for cell in arena.finished:
        backbone = cell.config["backbone"]["name"]
        category = _without_backbone(cell)
        backbones.setdefault(backbone, Series(backbone)).add(category, cell.scores(cell.primary, "R@1"))
        quote = published.find(cell.config).get("R@1")
        if quote:
            quoted.x.append(category)
            quoted.y.append(quote.value)
            quoted.labels.append(f"{backbone}, quoted: {quote.source}")
    if not backbones:
        return None
    untrained = list(arena.untrained("R@1").values())
    reference = untrained[0].mean if len(untrained) == 1 else None
    figure = Figure(
        "bars",
        "R@1 by method",
        "bars",
        f"R@1 ({arena.finished[0].primary}), %",
        "",
        [*backbones.values(), *([quoted] if quoted.x else [])],
    )
    figure.note, figure.reference, figure.reference_label = INTERVAL, reference, "untrained"
    return figure


def _without_backbone(cell: Cell) -> str:
    return Cell(cell.config, factors={k: v for k, v in cell.factors.items() if k != "backbone.name"}).label


def learning_curves(arena: Arena) -> Optional[Figure]:
    """R@1 after every epoch, mean over seeds (and folds, which are watched on validation classes)."""
    series = []
    for cell in arena.finished:
        curve = Series(cell.label)
        by_epoch: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for record in cell.records:
            for epoch, values in epochs(record, "R@1").items():
                by_epoch[epoch].append((record.seed, sum(values) / len(values)))
        for epoch, values in sorted(by_epoch.items()):
            curve.add(epoch, summary(values))
        series.append(curve)
    if not any(len(curve.x) > 1 for curve in series):
        return None
    watched = "validation classes" if arena.protocol == "validated" else "test classes"
    return Figure(
        "curves", "Learning curves", "lines", "epoch", f"R@1 on {watched}, %", series, note=INTERVAL
    )


def epochs(record: Record, metric: str) -> dict[int, list[float]]:
    """A metric's values in percent by epoch: one a fold. Members trained one after another count their epochs on."""
    values: dict[int, list[float]] = defaultdict(list)
    for entry in record.epochs:
        if metric in entry.get("metrics", {}):
            values[position(record, entry)].append(100 * entry["metrics"][metric])
    return values


def position(record: Record, entry: dict) -> int:
    """The epoch of an entry, counted on from member to member of an ensemble trained in sequence."""
    return entry.get("member", 0) * record.config["epochs"] + entry["epoch"]


def embedding_size(arena: Arena) -> Optional[Figure]:
    return _against(arena, "embed_dim", "Embedding size", "embedding size")


def batch_size(arena: Arena) -> Optional[Figure]:
    return _against(arena, "batch_size", "Batch size", "batch size")


def _against(arena: Arena, key: str, title: str, x_label: str) -> Optional[Figure]:
    """R@1 against a size, a line for all that differs otherwise; None where no line would have two points."""
    lines: dict[str, list[Cell]] = defaultdict(list)
    for cell in arena.finished:
        others = {factor: value for factor, value in cell.factors.items() if factor != key}
        lines[Cell(cell.config, factors=others).label].append(cell)
    series = []
    for label, cells in lines.items():
        if len({cell.config[key] for cell in cells}) > 1:
            cells = sorted(cells, key=lambda cell: cell.config[key])
            series += _line(label, key, cells)
    if not series:
        return None
    kind = arena.finished[0].primary
    return Figure(key, title, "lines", x_label, f"R@1 ({kind}), %", series, log=True, note=INTERVAL)


def _line(label: str, key: str, cells: Iterable[Cell]) -> list[Series]:
    measured, quoted = Series(label), Series(f"{label}, published", quoted=True)
    for cell in cells:
        measured.add(cell.config[key], cell.scores(cell.primary, "R@1"))
        quote = published.find(cell.config).get("R@1")
        if quote:
            quoted.x.append(cell.config[key])
            quoted.y.append(quote.value)
            quoted.labels.append("quoted")
    return [measured, quoted] if quoted.x else [measured]


def cost(arena: Arena) -> Optional[Figure]:
    """R@1 against the wall time of a trial."""
    series: dict[str, Series] = {}
    for cell in arena.finished:
        points = series.setdefault(cell.method, Series(cell.method))
        points.add(cell.seconds.mean, cell.scores(cell.primary, "R@1"), cell.label)
    if len(arena.finished) < 2:
        return None
    return Figure(
        "cost", "R@1 against training time", "points", "seconds a trial (wall time, evaluation included)",
        f"R@1 ({arena.finished[0].primary}), %", list(series.values()), note=INTERVAL,
    )  # fmt: skip


def optimism(arena: Arena) -> Optional[Figure]:
    """How much of R@1 comes of reporting the best test epoch: best minus last, seed by seed."""
    if arena.protocol != "paper":
        return None
    gains = Series("best − last epoch")
    for cell in arena.finished:
        gap = differences(cell.scores("best", "R@1"), cell.scores("last", "R@1"))
        gains.add(cell.label, gap)
    if not gains.x:
        return None
    return Figure(
        "optimism", "Optimism of the best test epoch", "bars", "R@1 at the best test epoch − at the last, points", "", [gains],
        note="What choosing the epoch on the test set adds. " + INTERVAL,
    )  # fmt: skip
