"""The Markdown of generated pages: of a part, of a kind of parts, of the configuration's keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import formulas
import yaml

from dmlplayground.options import describe
from dmlplayground.parts import Kind, Part


def of_kind(plural: str, kind: Kind) -> str:
    """All parts of one kind, a line each."""
    rows = []
    for name in kind.names():
        part = kind.get(name)
        rows.append((f"[{name}]({name}.md)", _inline(part.title), ", ".join(map(_inline, part.also))))
    lines = [
        f"# {plural.capitalize()}",
        f"`dmlplayground {plural}` lists them, `dmlplayground {plural} NAME` tells all about one.",
        table(("name", "what it is", "also known as"), rows),
    ]
    return "\n\n".join(lines) + "\n"


def of_part(plural: str, kind: Kind, part: Part) -> str:
    """Everything the record of a part says."""
    facts = [(heading, _inline(text)) for heading, text in part.facts.items()]
    if part.also:
        facts.append(("also known as", ", ".join(map(_inline, part.also))))
    sections = [
        f"# {part.key}",
        f"**{_inline(part.title)}**",
        table(("", ""), facts) if facts else "",
        prose(part.prose),
        options(part),
        configuration(part),
        f"[All {plural}](index.md)",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def prose(text: str) -> str:
    """A docstring as Markdown: its indented blocks are formulas, its double backquotes are code."""
    found = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = paragraph.splitlines()
        if lines and all(line.startswith("    ") for line in lines):
            found.append(f'<div class="formula">{formulas.block(lines)}</div>')
        else:
            found.append(_inline(re.sub(r"``(.+?)``", r"`\1`", paragraph)))
    return "\n\n".join(found)


def options(part: Part) -> str:
    if not part.options:
        return ""
    rows = [
        (
            f"`{name}`",
            describe(option.type),
            f"`{_plain(option.default)}`",
            _inline(part.option_notes.get(name, "")),
        )
        for name, option in part.options.items()
    ]
    return "## Options\n\n" + table(("option", "is", "unless told otherwise", ""), rows)


def configuration(part: Part) -> str:
    """What a trial with this part does differently unless told otherwise."""
    settings = part.configuration
    if not settings:
        return ""
    text = yaml.safe_dump(_plain_mapping(settings), sort_keys=False, default_flow_style=None, width=100)
    return f"## A trial with it, unless told otherwise\n\n```yaml\n{text}```"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows
    ]
    return "\n".join(lines)


def _plain(value: Any) -> str:
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain_mapping(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain_mapping(each) for key, each in value.items()}
    return list(map(_plain_mapping, value)) if isinstance(value, (list, tuple)) else value


def _inline(text: str) -> str:
    """Text outside code that Markdown or HTML would read as markup stands as it is."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([*_<>\[\]\\])", r"\\\1", piece) for piece in pieces
    )
