"""Figures as files: the numbers of ``figures`` drawn by matplotlib, for papers and slides."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from typing import Any

from .figures import Figure, Series

COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#6a51a3",
    "#7f7f7f",
)  # after Okabe and Ito
SHADES = ("#40505f", "#8a99a8", "#bcc6cf", "#66788a", "#2b3640")
DASHES = ("-", "--", ":", "-.")
INK = "#333333"
PUBLISHED = "published"
LONGEST = 48  # characters of a label
TOLD = 16  # up to so many sizes get a mark each on a logarithmic axis; beyond that, powers of ten do
STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",
    "svg.hashsalt": "dmlplayground",  # the same numbers give the same file
    "savefig.dpi": 160,
}


def draw(figure: Figure) -> dict[str, bytes]:
    """The figure as a PNG and an SVG file, by suffix."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    with mpl.rc_context(STYLE):
        sheet = Sheet(figsize=(6.4, _height(figure)), layout="constrained")
        FigureCanvasAgg(sheet)
        axes = sheet.add_subplot()
        {"bars": _bars, "lines": _lines, "points": _points}[figure.kind](axes, figure)
        _references(axes.axvline if figure.kind == "bars" else axes.axhline, figure)
        axes.set(title=figure.title, xlabel=figure.x_label, ylabel=figure.y_label)
        if len(figure.series) > 1 or figure.references:
            _legend(axes)
        return {suffix: saved(sheet, suffix) for suffix in (".png", ".svg")}


def _legend(axes) -> None:
    """The legend, beside the axes. The published values of all series share one entry."""
    handles, labels = axes.get_legend_handles_labels()
    entries = dict(zip(labels, handles))
    axes.legend(entries.values(), [*map(_short, entries)], loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _short(label: str) -> str:
    """A label short enough to leave room for the figure."""
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _height(figure: Figure) -> float:
    """In inches. Every bar and every entry of the legend needs a row."""
    measured = [series for series in figure.series if not series.quoted_for]
    if figure.kind != "bars":
        return max(3.6, 1 + 0.19 * len(measured))
    rows = len({x for series in measured for x in series.x})
    return 0.9 + rows * (0.14 + 0.14 * len(measured))


def saved(sheet, suffix: str) -> bytes:
    """The file's content; it holds no date, so that the same numbers give the same file."""
    stream = io.BytesIO()
    metadata = {"Date": None} if suffix == ".svg" else {"Software": None}
    sheet.savefig(stream, format=suffix[1:], metadata=metadata)
    return stream.getvalue()


def placed(figure: Figure) -> Iterator[tuple[int, Series]]:
    """The series with their places: published values have that of what they stand beside."""
    measured = [series.name for series in figure.series if not series.quoted_for]
    return ((measured.index(series.quoted_for or series.name), series) for series in figure.series)


def _colours(figure: Figure, place: int) -> list[str]:
    """The colours of the series at this place, one for each point or one for all: its cells' or a shade of grey."""
    series = [one for one in figure.series if not one.quoted_for][place]
    return [COLOURS[colour % len(COLOURS)] for colour in series.colours] or [SHADES[place % len(SHADES)]]


def _round(figure: Figure, place: int) -> int:
    """How often the colours have come round, and how many series before this one have its colour: tells them apart."""
    measured = [series for series in figure.series if not series.quoted_for]
    colours = [series.colours[0] if series.colours else number for number, series in enumerate(measured)]
    return colours[place] // len(COLOURS) + colours[:place].count(colours[place])


def _bars(axes, figure: Figure) -> None:
    count = sum(not series.quoted_for for series in figure.series)
    categories = list(dict.fromkeys(x for series in figure.series for x in series.x))
    width = 0.75 / count
    for number, series in placed(figure):
        rows = [categories.index(x) + (number - (count - 1) / 2) * width for x in series.x]
        if series.quoted_for:
            axes.plot(series.y, rows, "D", mfc="white", mec=INK, ms=4.5, ls="", label=PUBLISHED)
            continue
        axes.barh(
            rows, series.y, height=width * 0.9, color=_colours(figure, number), label=_legend_entry(series)
        )
        axes.errorbar(series.y, rows, xerr=_errors(series), fmt="none", ecolor=INK, elinewidth=1, capsize=2)
        dots = [(run, row) for runs, row in zip(series.runs, rows) for run in runs]
        axes.plot(*zip(*dots) if dots else ([], []), "o", mfc="white", mec=INK, mew=0.8, ms=3.2)
        _values(axes, figure, series, rows)
    low, high = figure.span
    axes.set_xlim(min(0, low * 1.12), max(0, high * 1.12) or 1)
    axes.set_yticks(range(len(categories)), [*map(_short, categories)])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)


def _references(across: Callable, figure: Figure) -> None:
    """The lines drawn across, below bars and curves."""
    for (label, value), dashes in zip(figure.references.items(), ("--", ":")):
        across(value, color=INK, ls=dashes, lw=1, zorder=0.9, label=f"{label} ({value:.1f})")


def _legend_entry(series: Series) -> str:
    """The name in the legend; bars that have their cells' colours need none."""
    return f"_{series.name}" if series.colours else series.name


def _values(axes, figure: Figure, series: Series, rows: list[float]) -> None:
    """The number at the end of every bar, clear of anything drawn there."""
    quoted = [one for one in figure.series if one.quoted_for == series.name]
    published = {x: y for one in quoted for x, y in zip(one.x, one.y)}
    digits = _digits(figure)
    for x, y, high, runs, row in zip(series.x, series.y, series.high, series.runs, rows):
        end = max(0.0, y, high or y, *runs, published.get(x, y))
        axes.annotate(
            f"{y:.{digits}f}",
            (end, row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
        )


def _digits(figure: Figure) -> int:
    """After the point: small numbers, as those of metrics without a unit, need more."""
    return 1 if max(map(abs, figure.span)) >= 10 else 2


def _lines(axes, figure: Figure) -> None:
    for number, series in placed(figure):
        colour, dash = _colours(figure, number)[0], DASHES[_round(figure, number) % len(DASHES)]
        if series.quoted_for:
            axes.plot(
                series.x, series.y, color=colour, ls=":", marker="D", mfc="white", ms=4, label=PUBLISHED
            )
            continue
        marker = "o" if len(series.x) < 12 else None
        axes.plot(series.x, series.y, color=colour, ls=dash, marker=marker, ms=3, lw=1.4, label=series.name)
        points = zip(series.x, series.low, series.high)
        known = [(x, low, high) for x, low, high in points if low is not None]
        if known and not figure.tangle:
            axes.fill_between(*zip(*known), color=colour, alpha=0.12, lw=0)
    _limit(axes, figure)
    if figure.log:
        sizes = sorted({x for series in figure.series for x in series.x})
        if len(sizes) > TOLD:
            axes.set_xscale("log")
            return
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()


def _points(axes, figure: Figure) -> None:
    for number, series in placed(figure):
        colours, marker = _colours(figure, number), "os^D"[_round(figure, number) % 4]
        errors = _errors(series)
        axes.errorbar(series.x, series.y, yerr=errors, fmt="none", ecolor=colours, elinewidth=1)
        axes.scatter(series.x, series.y, s=25, c=colours, marker=marker, label=series.name)
        for x, y, size in zip(series.x, series.y, series.sizes):
            axes.annotate(size, (x, y), xytext=(5, 3), textcoords="offset points", fontsize=7)
    places = [x for series in figure.series for x in series.x]
    if (
        0 <= min(places) < max(places) / 2
    ):  # else the points would stand in a corner, or some would be cut off
        axes.set_xlim(left=0)
    _limit(axes, figure)


def _limit(axes, figure: Figure) -> None:
    low, high = figure.span
    margin = 0.06 * (high - low) or 1
    axes.set_ylim(low - margin, high + margin)


def _errors(series: Series) -> tuple[list[float], list[float]]:
    """Lengths below and above; values that are not numbers are not drawn."""
    lower = [math.nan if low is None else y - low for y, low in zip(series.y, series.low)]
    upper = [math.nan if high is None else high - y for y, high in zip(series.y, series.high)]
    return lower, upper
