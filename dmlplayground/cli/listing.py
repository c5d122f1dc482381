"""Lists of parts and descriptions of one, the same for every kind of part."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from types import ModuleType, SimpleNamespace
from typing import Any, Optional

from ..base import layout, registry
from ..base.options import describe
from . import text


def command(plural: str, more: Optional[ModuleType]) -> Any:
    """The command that lists the parts of a kind, or describes one; with what a module says ``more`` of them."""

    def run(arguments: Namespace) -> None:
        print(as_json(plural, arguments.name) if arguments.json else as_text(plural, arguments.name, more))

    return SimpleNamespace(
        __doc__=f"list the {plural}, or describe one",
        EXAMPLE=getattr(more, "EXAMPLE", plural),
        PAGE=f"parts/{plural}/index",
        add_arguments=lambda command: add_arguments(command, plural),
        run=run,
    )


def add_arguments(command: ArgumentParser, plural: str) -> None:
    command.add_argument("name", nargs="?", help=f"one of the {plural}, to describe")
    add_json(command)


def add_json(command: ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print all that is known of them as JSON")


def as_text(plural: str, name: Optional[str], more: Any = None) -> str:
    """All parts of a kind, or a description of the one that is named."""
    kind = registry.kind(plural)
    if not name:
        return "\n\n".join([table(plural, kind), *(more.about_all() if hasattr(more, "about_all") else ())])
    return story(kind, kind.get(name), more.about_one(name) if hasattr(more, "about_one") else ())


def as_json(plural: str, name: Optional[str]) -> str:
    kind = registry.kind(plural)
    found = [kind.get(key) for key in ([name] if name else kind.names())]
    return json.dumps({part.key: _plain(part) for part in found}, indent=1, default=str)


def _plain(part: registry.Part) -> dict[str, Any]:
    notes = part.option_notes
    options = {
        key: {
            "type": describe(option.type),
            **({} if option.required else {"default": option.default}),
            "note": notes.get(key, ""),
        }
        for key, option in part.options.items()
    }
    return {
        "title": part.title,
        "also": part.also,
        **part.facts,
        "about": part.prose,
        "options": options,
        "sets": dict(part.configuration),
    }


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
