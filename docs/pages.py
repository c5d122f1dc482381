"""The Markdown of generated pages: of a part, of a kind of parts, of the experiments, of the configuration's keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import evidence
import formulas
import yaml
from markdown_text import inline, table

from dmlplayground import config, parts, resources
from dmlplayground.options import describe
from dmlplayground.parts import Kind, Part

MANY = 4  # methods that set one key are counted beyond so many, not named


def of_kind(plural: str, kind: Kind) -> str:
    """All parts of one kind, a line each."""
    rows = []
    for name in kind.names():
        part = kind.get(name)
        rows.append((f"[{name}]({name}.md)", inline(part.title), ", ".join(map(inline, part.also))))
    sections = [
        f"# {plural.capitalize()}",
        f"`dmlplayground {plural}` lists them, `dmlplayground {plural} NAME` tells all about one.",
        table(("name", "what it is", "also known as"), rows),
        inline(kind.remark),
    ]
    return _page(sections)


def of_part(plural: str, kind: Kind, part: Part) -> str:
    """Everything that is known of a part."""
    sections = [f"# {part.key}", f"**{inline(part.title)}**", inline(getattr(part, "paper", ""))]
    sections += [_facts(part), prose(part.prose), options(kind, part), configuration(part)]
    if plural == "methods":
        sections += [evidence.on_glyphs(part.key), evidence.settings(part), evidence.published_of(part.key)]
    sections += [related(plural, kind, part), f"[All {plural}](index.md)"]
    return _page(sections)


def of_experiments() -> str:
    """Every grid by its name, with what its file says first."""
    rows = []
    for name in resources.experiment_names():
        content = config.read_yaml(resources.find_experiment(name))
        rows.append((f"`{name}`", inline(str(content.get("title", "")))))
    return _page(
        [
            "# Experiments",
            "`dmlplayground sweep NAME` runs one; `--dry-run` says first what it would run. "
            "`dmlplayground experiments` lists them with their sizes.",
            table(("name", "what it is"), rows),
        ]
    )


def of_configuration() -> str:
    """Every key of a trial's configuration."""
    rows = []
    for key in config.reference():
        about = (f"`{key.key}`", key.type, f"`{_plain(key.neutral)}`", inline(key.about), _who_sets(key.key))
        rows.append(about)
    return _page(
        [
            "# Configuration",
            "A trial's configuration is one mapping. `--set KEY=VALUE` changes one key, a YAML file any number. What is "
            "left unsaid comes from the method's record; what that leaves unsaid has the value below.",
            table(("key", "is", "unless told otherwise", "meaning", "set or listed by"), rows),
        ]
    )


def prose(text: str) -> str:
    """A docstring as Markdown: its indented blocks are formulas, its double backquotes and examples are code."""
    found = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = paragraph.splitlines()
        if lines and all(line.startswith("    ") for line in lines):
            found.append(f'<div class="formula">{formulas.block(lines)}</div>')
        elif paragraph.startswith(">>> "):
            found.append(f"```pycon\n{paragraph}\n```")
        else:
            found.append(inline(re.sub(r"``(.+?)``", r"`\1`", paragraph)))
    return "\n\n".join(found)


def options(kind: Kind, part: Part) -> str:
    """The part's options, as a configuration names them."""
    rows = []
    for name, option in part.options.items():
        default = "must be given" if option.required else f"`{_plain(option.default)}`"
        told = inline(part.option_notes.get(name, ""))
        rows.append((f"`{kind.setting}.{name}`", describe(option.type), default, told))
    heads = ("option", "is", "unless told otherwise", "meaning")
    return f"## Options\n\n{table(heads, rows)}" if rows else ""


def configuration(part: Part) -> str:
    """What a trial with this part does differently unless told otherwise."""
    settings = part.configuration
    if not settings:
        return ""
    text = yaml.safe_dump(_plain_mapping(settings), sort_keys=False, default_flow_style=None, width=100)
    return f"## A trial with it\n\nUnless told otherwise, it sets:\n\n```yaml\n{text}```"


def related(plural: str, kind: Kind, part: Part) -> str:
    """Parts that the docstring names, that a trial with this part takes, or that take it."""
    named = set(re.findall(r"``([^`]+)``", part.prose))
    found = {(plural, name) for name in named & set(kind.names())}
    for other, every in _kinds().items():
        found |= {(other, name) for name in named & set(every.names()) if "_" in name}  # no ordinary word
        found.add((other, _chosen(every, part)))
    methods = parts.kind("methods")
    found |= {("methods", name) for name in methods.names() if _chosen(kind, methods.get(name)) == part.key}
    links = [
        f"[{name}](../{other}/{name}.md) ({parts.kind(other).name})"
        for other, name in sorted(found)
        if name and (other, name) != (plural, part.key)
    ]
    return "## Related\n\n" + ", ".join(links) if links else ""


def _chosen(kind: Kind, part: Part) -> str:
    """The part of this kind that a trial with ``part`` takes unless told otherwise, if it says."""
    chosen = part.configuration.get(kind.setting) or ""
    return chosen.get("name", "") if isinstance(chosen, Mapping) else str(chosen)


def _kinds() -> dict[str, Kind]:
    return {plural: parts.kind(plural) for plural in parts.HOMES}


def _facts(part: Part) -> str:
    facts = [f"{heading}: {inline(value)}" for heading, value in part.facts.items()]
    if part.also:
        facts.append(f"also known as: {', '.join(map(inline, part.also))}")
    return "\n".join(f"* {fact}" for fact in facts)


def _who_sets(key: str) -> str:
    """The page of the parts that a key names; or the methods whose record sets it."""
    if plural := next((plural for plural, kind in _kinds().items() if kind.setting == key), ""):
        return f"[{plural}](parts/{plural}/index.md)"
    methods = parts.kind("methods")
    setting = [name for name in methods.names() if key in config.dotted(methods.get(name).configuration)]
    if len(setting) > MANY:
        return f"{len(setting)} [methods](parts/methods/index.md)"
    return ", ".join(f"[{name}](parts/methods/{name}.md)" for name in setting)


def _plain(value: Any) -> str:
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain_mapping(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain_mapping(each) for key, each in value.items()}
    return list(map(_plain_mapping, value)) if isinstance(value, (list, tuple)) else value


def _page(sections: list[str]) -> str:
    return "\n\n".join(section for section in sections if section) + "\n"
