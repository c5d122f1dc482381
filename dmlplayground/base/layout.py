"""Text for a terminal: columns and prose that fit its width."""

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Sequence

from .errors import printable

Rows = Sequence[Sequence[str]]
GAP = "  "
LONG = 110  # characters of a line if nothing limits it
ENTRY = re.compile(r"^(?=[\w.]+: )", re.MULTILINE)  # where an entry of a list of names begins
LEAST = 24  # characters that text should have to be wrapped in; half as many beside a wide first column


def width() -> int | None:
    """How many characters fit on a line; None where a file or another program reads them and lines may be long."""
    if os.environ.get("COLUMNS", "").isdigit() or sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    return None


def plural(number: int, word: str) -> str:
    """``1 trial``, ``2 trials``, ``3 classes``"""
    ending = "" if number == 1 else "es" if word.endswith("s") else "s"
    return f"{number:,} {word}{ending}"


def columns(rows: Rows, right: Collection[int] = (), rule: bool = False) -> str:
    """Rows as aligned columns, those numbered in ``right`` flush right; ``rule`` draws a line below the first row. Where the
    terminal is too narrow, the last column is wrapped, or else there are several tables, each with the first column."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    tables = _groups(widths, width())
    return "\n\n".join("\n".join(_lines(rows, widths, shown, right, rule)) for shown in tables)


def _groups(widths: Sequence[int], room: int | None) -> Iterator[list[int]]:
    """The columns that stand side by side, by their numbers."""
    last = len(widths) - 1
    shown, used = [0], widths[0]
    for number in range(1, len(widths)):
        needed = len(GAP) + (min(widths[number], LEAST) if number == last else widths[number])
        if room is not None and used + needed > room and len(shown) > 1:
            yield shown
            shown, used = [0], widths[0]
        shown.append(number)
        used += len(GAP) + widths[number]
    yield shown


def _lines(
    rows: Rows, widths: Sequence[int], shown: Sequence[int], right: Collection[int], rule: bool
) -> Iterator[str]:
    room = width()
    *before, last = shown
    used = sum(widths[number] + len(GAP) for number in before)
    end_width = widths[last] if room is None else min(widths[last], max(room - used, LEAST // 2))
    for row in rows:
        aligned = [row[i].rjust(widths[i]) if i in right else row[i].ljust(widths[i]) for i in shown]
        end = aligned[-1].rstrip()
        first, *more = textwrap.wrap(end, end_width) if len(end) > end_width else [end]
        yield GAP.join([*aligned[:-1], first]).rstrip()
        yield from (" " * used + line for line in more)
        if rule:
            yield GAP.join("-" * length for length in (*(widths[i] for i in before), end_width))
            rule = False


def fill(text: str, first: str = "", later: str | None = None) -> str:
    """A paragraph in lines that fit; ``first`` begins the first line, and ``later`` the others (the same if not given)."""
    after = first if later is None else later
    wrapper = textwrap.TextWrapper(width() or LONG, first, after, break_on_hyphens=False)
    return wrapper.fill(text)


def prose(text: str) -> str:
    """Text with paragraphs re-wrapped if a line is too long; indented lines, such as formulas, stay."""
    room, text = width(), printable(text, keep="\n")
    if room is None:
        return text
    return "\n\n".join(_filled(paragraph, room) for paragraph in text.split("\n\n"))


def _filled(paragraph: str, room: int) -> str:
    lines = paragraph.splitlines()
    if all(len(line) <= room for line in lines) or any(line[:1] in " -*" for line in lines):
        return paragraph
    entries = filter(None, ENTRY.split(paragraph))
    return "\n".join(fill(entry, later="  " * bool(ENTRY.match(entry))) for entry in entries)
