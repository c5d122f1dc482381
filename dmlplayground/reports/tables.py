"""A table as values, and its forms: terminal, Markdown, CSV, LaTeX. (The page has one of its own, HTML.)"""

import csv
import io
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ..base import layout
from ..parts import metrics
from ..studies.published import Quoted
from .statistics import Summary

NOTHING = "–"


@dataclass(frozen=True)
class Interval:
    """A mean and half of its 95 % interval, where there is one."""

    value: float
    half: float | None

    @classmethod
    def of(cls, value: float, ends: tuple[float, float] | None) -> "Interval":
        return cls(value, (ends[1] - ends[0]) / 2 if ends else None)


@dataclass(frozen=True)
class Difference:
    """A signed number: in percentage points, or without a unit as the metric."""

    value: float


@dataclass(frozen=True)
class Seconds:
    value: float


@dataclass(frozen=True)
class Column:
    name: str
    about: str = ""
    numeric: bool = True


@dataclass
class Row:
    values: list[Any]  # one a column: str, int, float, None, or one of the kinds above
    bold: set[int] = field(default_factory=set)  # columns in which this row leads
    kind: str = ""  # "baseline" stands above the ranking, "incomplete" has no result
    cell: str = ""  # what the page links it to


@dataclass
class Table:
    kind: str
    title: str
    of: str  # the arena
    columns: list[Column]
    rows: list[Row]
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.kind}-{slug(self.of)}"

    @property
    def heading(self) -> str:
        return f"{self.title}: {self.of}"


def slug(words: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in words.lower()).split())


def text(value: Any) -> str:
    """A value for people to read."""
    if value is None or value == Summary({}):
        return NOTHING
    if isinstance(value, Summary):
        mean = f"{value.mean:.2f}".replace("-", "−")
        return mean if value.spread is None else f"{mean} ± {value.spread:.2f}"
    if isinstance(value, (Quoted, Interval)):
        # Of what was published as many digits as there: some studies print one, others two.
        short = isinstance(value, Quoted) and value.half is None and round(value.value, 1) == value.value
        half = "" if value.half is None else f" ± {value.half:.2f}"
        return f"{value.value:.{1 if short else 2}f}{half}{'?' * bool(getattr(value, 'doubt', ''))}"
    if isinstance(value, Difference):
        return signed(value.value)
    if isinstance(value, Seconds):
        return duration(value.value)
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, int) and value >= 10_000:
        return f"{value:,}"
    return str(value)


def ends(interval: tuple[float, float] | None, digits: int = 2) -> str | None:
    """``1.20 to 3.40``"""
    if interval is None:
        return None
    return " to ".join(f"{end:.{digits}f}".replace("-", "−") for end in interval)


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def duration(seconds: float) -> str:
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    if minutes < 120:
        return f"{minutes} min"
    return f"{seconds / 3600:.1f} h"


def units(names: Iterable[str], what: str) -> list[str]:
    """The notes that say in which unit a table shows metrics, as ``what``, and which of them are better when lower.

    >>> units(["R@1", "density_intra"], "mean over seeds")
    ['Percent, mean over seeds. Without a unit: density_intra.', 'Lower is better: density_intra.']
    """
    shown = [metrics.get(name) for name in dict.fromkeys(names)]
    bare = [metric.key for metric in shown if not metric.percent]
    lower = [metric.key for metric in shown if not metric.higher_is_better]
    if len(bare) == len(shown):
        first = f"{what[0].upper()}{what[1:]}."
    else:
        first = f"Percent, {what}." + (f" Without a unit: {', '.join(bare)}." if bare else "")
    return [first, *([f"Lower is better: {', '.join(lower)}."] if lower else [])]


# --- the forms ----------------------------------------------------------------------------------------------


def terminal(tables: Table | Iterable[Table]) -> str:
    """Aligned columns. A star means bold.

    >>> print(dml.reports.terminal(dml.reports.leaderboard(dml.records.load_store(store))).splitlines()[0])
    Leaderboard: glyphs, paper protocol
    """
    return "\n\n".join(map(_terminal, [tables] if isinstance(tables, Table) else tables))


def _terminal(table: Table) -> str:
    starred = {i for row in table.rows for i in row.bold}

    def cell(row: Row, i: int) -> str:  # with room for the star, so that figures stay under one another
        return text(row.values[i]) + (" *" if i in row.bold else "  " * (i in starred))

    rows = [[column.name for column in table.columns]]
    rows += [[cell(row, i) for i in range(len(row.values))] for row in table.rows]
    shown = layout.columns(rows, {i for i, column in enumerate(table.columns) if column.numeric}, rule=True)
    room = layout.width() or max(78, max(map(len, shown.splitlines())))
    notes = [textwrap.fill(note, room, initial_indent="  ", subsequent_indent="  ") for note in table.notes]
    return "\n".join([table.heading, "", shown, "", *notes]).rstrip()


def _with_bold(table: Table, bold: str, form: Callable[[str], str]) -> list[list[str]]:
    """The rows in a form, with ``bold`` around what leads."""
    return [
        [bold.format(form(text(v))) if i in row.bold else form(text(v)) for i, v in enumerate(row.values)]
        for row in table.rows
    ]


def markdown(table: Table) -> str:
    heads = [_plain(column.name) for column in table.columns]
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    rows = [heads, rule, *_with_bold(table, "**{}**", _plain)]
    lines = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    notes = [f"{_plain(note)}  " for note in table.notes]
    grid = [f"| {line} |" for line in lines]
    return "\n".join([f"### {_plain(table.heading)}", "", *grid, "", *notes]).rstrip() + "\n"


def body(table: Table) -> str:
    """The Markdown without its heading, for a page that has headings of its own."""
    return markdown(table).split("\n", 2)[2]


def _plain(content: str) -> str:
    """Markdown passes HTML through, and names of data sets and classes may hold any text."""
    return content.replace("<", "&lt;")


def latex(table: Table) -> str:
    """A tabular for the booktabs package."""
    rows = []
    for row, values in zip(table.rows, _with_bold(table, r"\textbf{{{}}}", _tex)):
        rows += [" & ".join(values) + r" \\", *([r"\midrule"] if row.kind == "baseline" else [])]
    form = "".join("r" if column.numeric else "l" for column in table.columns)
    head = " & ".join(_tex(column.name) for column in table.columns) + r" \\"
    begin, end = [rf"\begin{{tabular}}{{{form}}}", r"\toprule", head, r"\midrule"], r"\bottomrule"
    notes = [f"% {note}" for note in table.notes]
    return "\n".join([f"% {table.heading}", *notes, *begin, *rows, end, r"\end{tabular}"]) + "\n"


_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "–": "--",
        "−": "$-$",
        **{character: "\\" + character for character in "&%$#_{}"},
    }
)


def _tex(content: str) -> str:
    return content.translate(_TEX)


# The mean stands under the column's own name; low and high are the ends of the 95 % interval.
SUMMARY_PARTS = ("", "spread", "seeds", "low", "high")


def comma_separated(table: Table) -> str:
    """Plain numbers in full precision. A measured column becomes five columns: ``SUMMARY_PARTS``."""
    wide = [any(isinstance(row.values[i], Summary) for row in table.rows) for i in range(len(table.columns))]
    heads: list[str] = []
    for column, measured in zip(table.columns, wide):
        heads += [f"{column.name} {part}".strip() for part in SUMMARY_PARTS] if measured else [column.name]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(_no_formula, heads))
    for row in table.rows:
        parts = (_parts(value) if measured else [bare(value)] for value, measured in zip(row.values, wide))
        writer.writerow(map(_no_formula, chain.from_iterable(parts)))
    return stream.getvalue()


def _parts(value: Any) -> list[Any]:
    if not isinstance(value, Summary) or not value:  # such as the one number of untouched features
        return [bare(value), *[""] * (len(SUMMARY_PARTS) - 1)]
    low, high = value.interval or ("", "")
    return [value.mean, "" if value.spread is None else value.spread, value.n, low, high]


def bare(value: Any) -> Any:
    """A number without what is said of it; of several seeds their mean."""
    if isinstance(value, Summary):
        return value.mean if value else ""
    if isinstance(value, (Quoted, Interval, Difference, Seconds)):
        return value.value
    return "" if value is None else value


def _no_formula(cell: Any) -> Any:
    """A spreadsheet would compute a cell that begins with one of these; an apostrophe before it makes it text."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


FORMS = {".md": markdown, ".csv": comma_separated, ".tex": latex}
