"""Lists of parts and descriptions of one, the same for every kind of part."""

import json
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

from ..base import layout, registry
from ..base.options import Option, describe
from .arguments import Command, Namespace


def command(plural: str, more: ModuleType | None) -> Any:
    """The command that lists the parts of a kind, or describes one; with what a module says ``more`` of them."""

    def add_arguments(command: Command) -> None:
        command.takes("name", f"one of the {plural}, to describe", nargs="?")
        add_json(command)

    def run(arguments: Namespace) -> None:
        print(as_json(plural, arguments.name) if arguments.json else as_text(plural, arguments.name, more))

    return SimpleNamespace(
        __doc__=f"list the {plural}, or describe one",
        EXAMPLE=getattr(more, "EXAMPLE", plural),
        PAGE=f"parts/{plural}/index",
        add_arguments=add_arguments,
        run=run,
    )


def add_json(command: Command) -> None:
    command.flag("--json", "print all that is known of them as JSON")


def as_text(plural: str, name: str | None, more: Any = None) -> str:
    """All parts of a kind, or a description of the one that is named."""
    kind = registry.kind(plural)
    if not name:
        return "\n\n".join([table(plural, kind), *(more.about_all() if hasattr(more, "about_all") else ())])
    return story(kind, kind.get(name), more.about_one(name) if hasattr(more, "about_one") else ())


def as_json(plural: str, name: str | None) -> str:
    kind = registry.kind(plural)
    found = {}
    for part in (kind.get(key) for key in ([name] if name else kind.names())):
        options = {}
        for key, option in part.options.items():
            default = {} if option.required else {"default": option.default}
            options[key] = {"type": describe(option.type), **default, "note": part.option_notes.get(key, "")}
        described = {"title": part.title, "also": part.also, **part.facts, "about": part.prose}
        found[part.key] = {**described, "options": options, "sets": dict(part.configuration)}
    return json.dumps(found, indent=1, default=str)


def table(plural: str, kind: registry.Kind) -> str:
    """A line for each part of the kind."""
    records = [kind.get(name) for name in kind.names()]
    headings = list(dict.fromkeys(heading for part in records for heading in part.facts))
    rows: list[tuple[str, ...]] = [(kind.name, *headings, "title", "options")]
    for part in records:
        facts = (part.facts.get(heading, "-") for heading in headings)
        rows.append((part.key, *facts, part.title, _options(part.options)))
    advice = f"Describe one: dmlplayground {plural} NAME"
    return "\n\n".join(filter(None, [layout.columns(rows), layout.prose(kind.remark), advice]))


def story(kind: registry.Kind, part: registry.Part, more: Iterable[str] = ()) -> str:
    """Everything about one part."""
    head = [f"{part.key}: {part.title}"]
    head += [f"also known as {', '.join(part.also)}"] if part.also else []
    head += [f"{heading}: {value}" for heading, value in part.facts.items()]
    paragraphs = ["\n".join(head), layout.prose(part.prose)]
    lines = ["Options, with their defaults:"] if part.options else []
    for name, option in part.options.items():
        default = "(must be given)" if option.required else f"= {value(option.default)}"
        lines.append(f"  {kind.setting}.{name} {default}  ({describe(option.type)})")
        if note := part.option_notes.get(name):
            lines.append(layout.fill(note, 6 * " "))
    paragraphs.append("\n".join(lines))
    if part.configuration:
        lines = [f"  {key}: {value(one)}" for key, one in part.configuration.items()]
        paragraphs.append("What a trial with it sets by default:\n" + "\n".join(lines))
    return "\n\n".join([*filter(None, paragraphs), *more])


def below(heading: str, rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """A heading with a table below it; nothing if the table has no rows."""
    table = layout.columns([(indent + first, *rest) for first, *rest in rows]) if rows else ""
    return [f"{heading}\n{table}"] if rows else []


def _options(given: Mapping[str, Option]) -> str:
    """``margin=1.0, symmetric=false``; only the name of an option without a default."""
    words = (name if option.required else f"{name}={value(option.default)}" for name, option in given.items())
    return ", ".join(words) or "-"


def value(content: Any) -> str:
    """A value on one line, as in YAML."""
    if isinstance(content, Mapping):
        return "{" + ", ".join(f"{key}: {value(one)}" for key, one in content.items()) + "}"
    if isinstance(content, (list, tuple)):
        return "[" + ", ".join(map(value, content)) + "]"
    if content is None:
        return "null"
    return str(content).lower() if isinstance(content, bool) else str(content)
