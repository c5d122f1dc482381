"""Text and tables in Markdown."""

import re
from collections.abc import Iterable, Sequence
from typing import Any


def inline(text: str) -> str:
    """Text outside code that Markdown or HTML would read as markup stands as it is."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([*_<>\[\]\\])", r"\\\1", piece) for piece in pieces
    )


def plain(value: Any) -> str:
    """A value of a configuration, as a page shows it."""
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown already."""
    lines = [_line(heads), _line(["---"] * len(heads)), *map(_line, rows)]
    return "\n".join(lines)


def folded(title: str, content: str) -> str:
    """Content that is shown when its title is clicked."""
    return f'<details markdown="1"><summary>{title}</summary>\n\n{content}\n\n</details>'


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
