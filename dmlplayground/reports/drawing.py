"""Figures as files: the numbers of ``figures`` drawn by matplotlib, for papers and slides."""

from __future__ import annotations

import io
from collections.abc import Sequence

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
DASHES = ("-", "--", ":", "-.")
MARKERS = "os^Dvp*X"
STYLE = {
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
        rows = len({x for series in figure.series for x in series.x}) if figure.kind == "bars" else 0
        height = max(1.6, 0.9 + 0.3 * rows) if rows else 3.6
        sheet = Sheet(figsize=(6.4, height), layout="constrained")
        FigureCanvasAgg(sheet)
        axes = sheet.add_subplot()
        {"bars": _bars, "lines": _lines, "points": _points}[figure.kind](axes, figure)
        axes.set(title=figure.title, xlabel=figure.x_label, ylabel=figure.y_label)
        if len(figure.series) > 1 or figure.reference is not None:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return {suffix: _saved(sheet, suffix) for suffix in (".png", ".svg")}


def _saved(sheet, suffix: str) -> bytes:
    stream = io.BytesIO()
    sheet.savefig(
        stream, format=suffix[1:], metadata={"Date": None} if suffix == ".svg" else {"Software": None}
    )
    return stream.getvalue()


def _bars(axes, figure: Figure) -> None:
    measured = [series for series in figure.series if not series.quoted]
    categories = list(dict.fromkeys(x for series in measured for x in series.x))
    places = {category: row for row, category in enumerate(categories)}
    width = 0.75 / len(measured)
    for number, series in enumerate(measured):
        rows = [places[x] + (number - (len(measured) - 1) / 2) * width for x in series.x]
        axes.barh(rows, series.y, height=width * 0.9, color=COLOURS[number % len(COLOURS)], label=series.name)
        axes.errorbar(
            series.y, rows, xerr=_errors(series), fmt="none", ecolor="#333333", elinewidth=1, capsize=2
        )
    for series in figure.series:
        if series.quoted:
            axes.plot(
                series.y,
                [places[x] for x in series.x],
                "D",
                mfc="white",
                mec="#333333",
                ms=5,
                ls="",
                label=series.name,
            )
    if figure.reference is not None:
        axes.axvline(figure.reference, color="#555555", ls="--", lw=1, label=figure.reference_label)
    axes.set_yticks(range(len(categories)), categories)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)


def _lines(axes, figure: Figure) -> None:
    for number, series in enumerate(figure.series):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
        if series.quoted:
            axes.plot(
                series.x,
                series.y,
                color=COLOURS[(number - 1) % len(COLOURS)],
                ls=":",
                marker="D",
                mfc="white",
                ms=4,
                label=series.name,
            )
            continue
        axes.plot(
            series.x,
            series.y,
            color=colour,
            ls=dash,
            marker="o" if len(series.x) < 12 else None,
            ms=3,
            lw=1.4,
            label=series.name,
        )
        known = [i for i, low in enumerate(series.low) if low is not None]
        axes.fill_between(
            [series.x[i] for i in known],
            [series.low[i] for i in known],
            [series.high[i] for i in known],
            color=colour,
            alpha=0.12,
            lw=0,
        )
    if figure.log:
        sizes = sorted({x for series in figure.series for x in series.x})
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()


def _points(axes, figure: Figure) -> None:
    for number, series in enumerate(figure.series):
        marker = MARKERS[number // len(COLOURS) % len(MARKERS)]
        colour = COLOURS[number % len(COLOURS)]
        axes.errorbar(
            series.x,
            series.y,
            yerr=_errors(series),
            fmt=marker,
            color=colour,
            ms=5,
            elinewidth=1,
            label=series.name,
        )
    axes.set_xlim(left=0)


def _errors(series: Series) -> Sequence[list[float]]:
    lower = [0.0 if low is None else y - low for y, low in zip(series.y, series.low)]
    upper = [0.0 if high is None else high - y for y, high in zip(series.y, series.high)]
    return lower, upper
