"""Lists of parts and descriptions of one, the same for every kind of part."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from ..base import layout, registry
from ..base.options import describe
from . import text


def add_name(command: argparse.ArgumentParser, plural: str) -> None:
    command.add_argument("name", nargs="?", help=f"one of the {plural}, to describe")


def as_text(plural: str, name: str | None) -> str:
    """All parts of a kind, or a description of the one that is named."""
    kind = registry.kind(plural)
    return story(kind, kind.get(name)) if name else table(plural, kind)


def table(plural: str, kind: registry.Kind) -> str:
    """A line for each part of the kind."""
    records = [kind.get(name) for name in kind.names()]
    headings = list(dict.fromkeys(heading for part in records for heading in part.facts))
    rows: list[tuple[str, ...]] = [(kind.name, *headings, "title", "options")]
    for part in records:
        facts = (part.facts.get(heading, "-") for heading in headings)
        rows.append((part.key, *facts, part.title, text.options(part.options)))
    lines = [
        layout.columns(rows),
        layout.prose(kind.remark),
        f"Describe one: dmlplayground {plural} NAME",
    ]
    return "\n\n".join(filter(None, lines))


def story(kind: registry.Kind, part: registry.Part, more: Iterable[str] = ()) -> str:
    """Everything about one part."""
    head = [f"{part.key}: {part.title}"]
    if part.also:
        head.append(f"also known as {', '.join(part.also)}")
    head += [f"{heading}: {value}" for heading, value in part.facts.items()]
    paragraphs = ["\n".join(head), layout.prose(part.prose)]
    if part.options:
        lines = [line for name in part.options for line in _option(kind, part, name)]
        paragraphs.append("Options, with their defaults:\n" + "\n".join(lines))
    if part.configuration:
        lines = [f"  {key}: {text.value(value)}" for key, value in part.configuration.items()]
        paragraphs.append("What a trial with it sets by default:\n" + "\n".join(lines))
    return "\n\n".join([*filter(None, paragraphs), *more])


def _option(kind: registry.Kind, part: registry.Part, name: str) -> list[str]:
    """An option's default and type, and what it is."""
    option = part.options[name]
    default = "(must be given)" if option.required else f"= {text.value(option.default)}"
    lines = [f"  {kind.setting}.{name} {default}  ({describe(option.type)})"]
    if note := part.option_notes.get(name):
        lines.append(layout.fill(note, 6 * " "))
    return lines
