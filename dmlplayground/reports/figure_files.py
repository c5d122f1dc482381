"""Figures as files: the numbers of ``figures`` drawn by matplotlib, for papers, slides and the page. An SVG file says of every
point what it is, when it is pointed at."""

import io
import math
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

from .figures import Figure, Series

# after Okabe and Ito
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6a51a3", "#7f7f7f")
SHADES = ("#40505f", "#8a99a8", "#bcc6cf", "#66788a", "#2b3640")
DASHES = ("-", "--", ":", "-.")
INK, LINE, EDGE = "#333333", "#e6e6e6", "#888888"
#: The colours as the page's style names them.
VARIABLES = {
    **{colour: f"var(--c{number})" for number, colour in enumerate(COLOURS)},
    **{shade: f"var(--s{number})" for number, shade in enumerate(SHADES)},
    INK: "var(--ink)",
    "#000000": "var(--ink)",
    LINE: "var(--line)",
    EDGE: "var(--soft)",
    "#ffffff": "var(--ground)",
}
PUBLISHED = "published"
POINTS = "points-"  # what an SVG file calls those of a series, with its number
WIDTH = 4.8  # inches: on a telephone its letters can still be read
ROW = 0.18  # inches: of the legend
LONGEST = 28  # characters of a label
MANY = 16  # up to so many sizes get a mark each on a logarithmic axis; beyond that, powers of ten do
SVG = "{http://www.w3.org/2000/svg}"
STYLE: Any = {
    "font.size": 9,
    "figure.titlesize": 10,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": EDGE,
    "axes.grid": True,
    "grid.color": LINE,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",
    "svg.hashsalt": "dmlplayground",  # the same numbers give the same file
    "savefig.dpi": 160,
}


@contextmanager
def blank(width: float, height: float) -> Iterator[Any]:
    """A sheet to draw on, of this size in inches."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    with mpl.rc_context(STYLE):
        sheet = Sheet(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(sheet)
        yield sheet


def saved(sheet: Any, suffix: str) -> bytes:
    """The file's content; it holds no date, so that the same numbers give the same file."""
    stream = io.BytesIO()
    metadata = {"Date": None} if suffix == ".svg" else {"Software": None}
    sheet.savefig(stream, format=suffix[1:], metadata=metadata)
    return stream.getvalue()


def draw(figure: Figure, suffixes: Collection[str] = (".png", ".svg")) -> dict[str, bytes]:
    """The figure as files, by suffix."""
    rows, columns = _legend(figure)
    height = 2.9
    if figure.kind == "bars":  # each needs a row
        places = len({x for series in figure.measured for x in series.x})
        height = 0.9 + places * (0.14 + 0.14 * len(figure.measured))
    with blank(WIDTH, height + ROW * rows) as sheet:
        axes = sheet.add_subplot()
        {"bars": _bars, "lines": _lines, "points": _points}[figure.kind](axes, figure)
        across = axes.axvline if figure.kind == "bars" else axes.axhline
        for (name, value), dashes in zip(figure.references.items(), ("--", ":")):  # below bars and curves
            across(value, color=INK, ls=dashes, lw=1, zorder=0.9, label=_reference(name, value))
        sheet.suptitle(figure.title, x=0.01, ha="left")
        axes.set(xlabel=figure.x_label, ylabel=figure.y_label)
        if rows:
            handles, labels = axes.get_legend_handles_labels()
            entries = dict(zip(map(_short, labels), handles))  # the published values share one entry
            sheet.legend(entries.values(), entries, loc="outside lower left", ncols=columns)
        files = {suffix: saved(sheet, suffix) for suffix in suffixes}
    return {suffix: _titled(file, figure) if suffix == ".svg" else file for suffix, file in files.items()}


def _titled(file: bytes, figure: Figure) -> bytes:
    """The SVG file with what is to be said of each point."""
    for prefix, name in (("", SVG[1:-1]), ("xlink", "http://www.w3.org/1999/xlink")):
        ElementTree.register_namespace(prefix, name)
    tree = ElementTree.fromstring(file)
    for number, series in enumerate(figure.series):
        points = tree.findall(f".//*[@id='{POINTS}{number}']//{SVG}use")
        for point, words in zip(points, figure.tips(series)):
            ElementTree.SubElement(point, f"{SVG}title").text = words
    return ElementTree.tostring(tree, xml_declaration=True, encoding="utf-8")


def inline(file: bytes) -> str:
    """An SVG file as a part of a page, in the colours of the page's style."""
    text = file.decode()
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text[text.index("<svg") :], flags=re.S)
    text = re.sub(r' id="((?:series|points)-\d+)"', r' class="\1"', text)
    text = re.sub(r' id="[\w.]+_\d+"| xmlns\S*="\S+"|font-family: [^;"]*;?', "", text)
    return re.sub(r": (#[0-9a-f]{6})\b", lambda found: f": {VARIABLES.get(found[1], found[1])}", text)


def _legend(figure: Figure) -> tuple[int, int]:
    """Its rows, below the axes, and as many columns as there is room for."""
    names = [one.name for one in figure.measured if not _named_beside(figure, one)]
    names += [PUBLISHED] * (len(figure.measured) < len(figure.series))
    names += [_reference(*one) for one in figure.references.items()]
    if not names or len(figure.series) + len(figure.references) < 2:
        return 0, 1
    columns = max(1, int(72 * WIDTH / (36 + 4.7 * max(len(_short(name)) for name in names))))
    return math.ceil(len(names) / columns), columns


def _short(label: str) -> str:
    """What tells names apart often stands at their end."""
    half = LONGEST // 2
    return label if len(label) <= LONGEST else f"{label[: half - 1]}…{label[-half:]}"


def placed(figure: Figure) -> Iterator[tuple[int, Series]]:
    """The series with their places: published values have that of what they stand beside."""
    names = [series.name for series in figure.measured]
    return ((names.index(series.quoted_for or series.name), series) for series in figure.series)


def _colours(figure: Figure, place: int) -> list[str]:
    """The colours of the series at this place, one for each point or one for all: its cells' or a shade of grey."""
    own = figure.measured[place].colours
    return [COLOURS[colour % len(COLOURS)] for colour in own] or [SHADES[place % len(SHADES)]]


def _round(figure: Figure, place: int) -> int:
    """How often the colours have come round, and how many series before this one have its colour: tells them apart."""
    colours = [one.colours[0] if one.colours else number for number, one in enumerate(figure.measured)]
    return colours[place] // len(COLOURS) + colours[:place].count(colours[place])


def _bars(axes: Any, figure: Figure) -> None:
    count = len(figure.measured)
    categories = list(dict.fromkeys(x for series in figure.series for x in series.x))
    width = 0.75 / count
    for number, (place, series) in enumerate(placed(figure)):
        rows = [categories.index(x) + (place - (count - 1) / 2) * width for x in series.x]
        _to_point_at(axes, series.y, rows, number)
        if series.quoted_for:
            axes.plot(series.y, rows, "D", mfc="white", mec=INK, ms=4.5, ls="", label=PUBLISHED)
            continue
        label = f"_{series.name}" if _named_beside(figure, series) else series.name
        axes.barh(rows, series.y, height=width * 0.9, color=_colours(figure, place), label=label)
        axes.errorbar(series.y, rows, xerr=_errors(series), fmt="none", ecolor=INK, elinewidth=1, capsize=2)
        dots = [(run, row) for runs, row in zip(series.runs, rows) for run in runs]
        axes.plot(*zip(*dots) if dots else ([], []), "o", mfc="white", mec=INK, mew=0.8, ms=3.2)
        _values(axes, figure, series, rows)
    low, high = figure.span
    axes.set_xlim(min(0, low * 1.12), max(0, high * 1.12) or 1)
    axes.set_yticks(range(len(categories)), [*map(_short, categories)])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)


def _named_beside(figure: Figure, series: Series) -> bool:
    """Bars that have their cells' colours need no entry in the legend."""
    return figure.kind == "bars" and bool(series.colours)


def _to_point_at(axes: Any, xs: list[float], ys: list[float], number: int) -> None:
    """Points that nobody sees, whose titles say what stands there."""
    axes.plot(xs, ys, "o", ms=9, alpha=0, gid=f"{POINTS}{number}")


def _reference(label: str, value: float) -> str:
    return f"{label} ({value:.1f})"


def _values(axes: Any, figure: Figure, series: Series, rows: list[float]) -> None:
    """The number at the end of every bar, clear of anything drawn there."""
    quoted = [one for one in figure.series if one.quoted_for == series.name]
    published = {x: y for one in quoted for x, y in zip(one.x, one.y)}
    digits = 1 if max(map(abs, figure.span)) >= 10 else 2  # those of metrics without a unit are small
    beside: Any = {"xytext": (5, 0), "textcoords": "offset points", "va": "center", "fontsize": 7.5}
    for x, y, high, runs, row in zip(series.x, series.y, series.high, series.runs, rows):
        axes.annotate(f"{y:.{digits}f}", (max(0.0, y, high or y, *runs, published.get(x, y)), row), **beside)


def _lines(axes: Any, figure: Figure) -> None:
    for number, (place, series) in enumerate(placed(figure)):
        look = {"color": _colours(figure, place)[0], "gid": f"series-{number}"}
        _to_point_at(axes, series.x, series.y, number)
        if series.quoted_for:
            axes.plot(series.x, series.y, ls=":", marker="D", mfc="white", ms=4, label=PUBLISHED, **look)
            continue
        dash = DASHES[_round(figure, place) % len(DASHES)]
        marker = "o" if len(series.x) < 12 else None
        axes.plot(series.x, series.y, ls=dash, marker=marker, ms=3, lw=1.4, label=series.name, **look)
        known = [(x, low, high) for x, low, high in zip(series.x, series.low, series.high) if low is not None]
        if known and not figure.tangle:
            axes.fill_between(*zip(*known), alpha=0.12, lw=0, **look)
    _limit(axes, figure)
    if figure.log:
        sizes = sorted({x for series in figure.series for x in series.x})
        if len(sizes) > MANY:
            axes.set_xscale("log")
            return
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()


def _points(axes: Any, figure: Figure) -> None:
    for number, (place, series) in enumerate(placed(figure)):
        colours, marker = _colours(figure, place), "os^D"[_round(figure, place) % 4]
        points, gid = (series.x, series.y), f"series-{number}"
        _to_point_at(axes, *points, number)
        axes.errorbar(*points, yerr=_errors(series), fmt="none", ecolor=colours, elinewidth=1, gid=gid)
        axes.scatter(*points, s=25, c=colours, marker=marker, label=series.name, gid=gid)
        for x, y, size in zip(series.x, series.y, series.sizes):
            axes.annotate(size, (x, y), xytext=(5, 3), textcoords="offset points", fontsize=7)
    places = [x for series in figure.series for x in series.x]
    # Otherwise the points would stand in a corner, or some would be cut off.
    if 0 <= min(places) < max(places) / 2:
        axes.set_xlim(left=0)
    _limit(axes, figure)


def _limit(axes: Any, figure: Figure) -> None:
    low, high = figure.span
    margin = 0.06 * (high - low) or 1
    axes.set_ylim(low - margin, high + margin)


def _errors(series: Series) -> tuple[list[float], list[float]]:
    """Lengths below and above; values that are not numbers are not drawn."""
    lower = [math.nan if low is None else y - low for y, low in zip(series.y, series.low)]
    upper = [math.nan if high is None else high - y for y, high in zip(series.y, series.high)]
    return lower, upper
