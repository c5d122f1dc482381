"""The Markdown of generated pages: of a part, of a kind of parts, of the experiments, of the configuration's keys."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import evidence
import formulas
import studied
import yaml
from markdown_text import inline, plain, table

from dmlplayground import config, hyperparams, methods
from dmlplayground.base import optional, registry, resources
from dmlplayground.base.options import describe
from dmlplayground.base.registry import Kind, Part
from dmlplayground.sweeps.search_space import parameter

MANY = 4  # methods that set one key are counted beyond so many, not named
RELEASED = re.compile(r"\b(released|library|not an option here|no option for that)\b")
FEW = 8  # methods that take a part are named up to so many
NO_SOURCE = "A default that no recipe has is from the part's paper where the text above says so. Otherwise it is ours."


def of_kind(plural: str, kind: Kind) -> str:
    """All parts of one kind, a line each."""
    rows = []
    for name in kind.names():
        part = kind.get(name)
        rows.append((f"[{name}]({name}.md)", inline(part.title), ", ".join(map(inline, part.also))))
    sections = [
        f"# {plural.capitalize()}",
        f"`dmlplayground {plural}` lists them, `dmlplayground {plural} NAME` describes one.",
        table(("name", "what it is", "also known as"), rows),
        inline(kind.remark),
    ]
    return _page(sections)


def of_part(plural: str, kind: Kind, part: Part) -> str:
    """Everything that is known of a part."""
    sections = [f"# {part.key}", f"**{inline(part.title)}**", inline(getattr(part, "paper", ""))]
    sections += [
        _facts(part),
        prose(part.prose),
        options(kind, part),
        configuration(part),
        ranges(part),
        combinations(plural, part),
        works(part),
    ]
    sections += [
        evidence.in_arenas(part.key) if plural == "methods" else "",
        evidence.on_glyphs(plural, kind, part),
        studied.settings(kind, part),
        studied.results(kind, part),
    ]
    sections += [related(plural, kind, part), f"[All {plural}](index.md)"]
    return _page(sections)


def of_study(study: Part) -> str:
    """What a study brought: its recipe, its rows, its experiments, and where we differ."""
    recipes = [name for name in hyperparams.names() if name.study == study.key]
    rows = [
        (
            inline(row),
            f"[{method}](../methods/{method}.md)",
            ", ".join(sorted(name.data for name in recipes if name.row == row)),
        )
        for row in sorted({name.row for name in recipes})
        for method in [next(hyperparams.read(name).method for name in recipes if name.row == row)]
    ]
    grids = [f"* `dmlplayground sweep {name}`" for name in resources.experiment_names(study.key)]
    searches = [f"* `dmlplayground tune {name}`" for name in resources.search_names(study.key)]
    sections = [f"# {study.key}", f"**{inline(study.title)}**", prose(study.prose), inline(study.warning)]
    sections += ["## Its rows", table(("row", "method", "data sets"), rows)] if rows else []
    sections += ["## Its experiments", "\n".join(grids)] if grids else []
    sections += ["## Its searches", "\n".join(searches)] if searches else []
    sections += [
        studied.tables(study.key),
        f"## Where we differ\n\nSee [differences](../../differences.md#{study.key}).",
        "[All studies](index.md)",
    ]
    return _page(sections)


def combinations(plural: str, part: Part) -> str:
    """Which losses and miners go together."""
    found = methods.combinations()
    if plural == "methods":
        own, miners, remembering = found[part.key]
        told = [f"Its own miner: {_links('miners', [own])}." if own in miners else ""]
        told += [f"It takes these: {_links('miners', miners)}." if miners else "It takes no miner."]
        told += [f"With a memory (`memory.size`): {_links('miners', remembering)}." if remembering else ""]
        return "\n\n".join(["## Miners that go with it", *filter(None, told)])
    if plural == "miners":
        takers = [key for key, each in found.items() if part.key in each.miners]
        remembering = [key for key, each in found.items() if part.key in each.with_memory]
        told = [
            _links("methods", takers) + ".",
            f"With a memory (`memory.size`): {_links('methods', remembering) or 'none'}.",
        ]
        return "\n\n".join(["## Methods that take it", *told])
    return ""


def works(part: Part) -> str:
    """Whose works a data set is made of, where they are many people's."""
    release = getattr(part, "release", None)
    if release is None or not release.works:
        return ""
    rows = [tuple(map(str, work)) for work in release.works]
    return f"## Whose works it is made of\n\n{table(('set', 'author', 'licence', 'images'), rows)}"


def _links(plural: str, names: Iterable[str]) -> str:
    return ", ".join(f"[{name}](../{plural}/{name}.md)" for name in names)


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
        neutral = f"`{_shown(key.neutral)}`"
        rows.append((f"`{key.key}`", inline(key.about), key.type, neutral, _who_sets(key.key)))
    return _page(
        [
            "# Configuration",
            "A trial's configuration gives keys their values. `--set KEY=VALUE` sets one key, and a YAML file sets any "
            "number. A key that you do not set has the method's own value; if the method has none, the default below.",
            _keys(("key", "meaning", "is", "by default", "set or listed by"), rows),
        ]
    )


def differences() -> str:
    """What the parts' docstrings say of code that others released, a list a kind."""
    found = []
    for plural, kind in _kinds().items():
        parts_ = map(kind.get, kind.names())
        lines = [
            f"* [{part.key}](parts/{plural}/{part.key}.md): {text}"
            for part in parts_
            if (text := _of_released(part))
        ]
        found += [f"### {plural.capitalize()}\n\n" + "\n".join(lines)] if lines else []
    return "\n\n".join(found)


def _of_released(part: Part) -> str:
    """The sentences of a part's story that tell of released code, and the options that do as it did."""
    paragraphs = re.split(r"\n\s*\n", part.prose)
    told = [text for text in paragraphs if RELEASED.search(text) and not text.startswith("    ")]
    told += [f"`{name}`: {note}" for name, note in part.option_notes.items() if RELEASED.search(note)]
    return " ".join(prose(" ".join(text.split())) for text in told)


def extras() -> str:
    """What needs more packages than the program itself, and the extra that brings them."""
    needed: dict[str, list[str]] = {}
    for package in optional.PACKAGES.values():
        needed.setdefault(package.extra, []).append(package.needed_by)
    rows = [(f"`{extra}`", ", ".join(dict.fromkeys(each))) for extra, each in sorted(needed.items())]
    return table(("extra", "for"), rows)


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
            found.append(formulas.in_text(inline(re.sub(r"``(.+?)``", r"`\1`", paragraph))))
    return "\n\n".join(found)


def options(kind: Kind, part: Part) -> str:
    """The part's options, as a configuration names them."""
    rows = []
    for name, option in part.options.items():
        default = "must be given" if option.required else f"`{_shown(option.default)}`"
        told = inline(part.option_notes.get(name, "").replace("``", "`"))
        key = f"{kind.setting}.{name}"
        rows.append((f"`{key}`", told, describe(option.type), default, studied.of_option(kind, part, name)))
    heads = ("option", "meaning", "is", "by default", "in recipes (source)")
    if not any(row[-1] for row in rows):  # no study names the part
        return f"## Options\n\n{_keys(heads[:-1], [row[:-1] for row in rows])}" if rows else ""
    return f"## Options\n\n{_keys(heads, rows)}\n\n{NO_SOURCE}"


def _keys(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of keys, whose second column is read on a phone without scrolling."""
    return f'<div class="keys" markdown>\n\n{table(heads, rows)}\n\n</div>'


def configuration(part: Part) -> str:
    """What a trial with this part does differently by default."""
    settings = part.configuration
    if not settings:
        return ""
    text = yaml.safe_dump(_plain_mapping(settings), sort_keys=False, default_flow_style=None, width=100)
    return f"## A trial with it\n\nUnless told otherwise, it sets:\n\n```yaml\n{text}```"


def ranges(part: Part) -> str:
    """Where a search for many methods looks for this one's own settings."""
    found = {key: parameter(value, key) for key, value in getattr(part, "ranges", {}).items()}
    if not found:
        return ""
    rows = [(f"`{key}`", inline(str(one)), inline(one.note)) for key, one in found.items()]
    about = f"`dmlplayground tune --methods {part.key}` searches these, about values that were published or are usual:"
    return f"## Where a search looks\n\n{about}\n\n{table(('key', 'values', 'why there'), rows)}"


def related(plural: str, kind: Kind, part: Part) -> str:
    """Parts that the docstring names, that a trial with this part takes, or that take it."""
    named = set(re.findall(r"``([^`]+)``", part.prose))
    found = {(plural, name) for name in named & set(kind.names())}
    for other, every in _kinds().items():
        found |= {(other, name) for name in named & set(every.names()) if "_" in name}  # no ordinary word
        found.add((other, _chosen(every, part)))
    every_method = registry.kind("methods")
    takers = [name for name in every_method.names() if _chosen(kind, every_method.get(name)) == part.key]
    found |= {("methods", name) for name in takers} if len(takers) <= FEW else set()
    links = [f"[{len(takers)} methods](../methods/index.md) take it by default"] * (len(takers) > FEW)
    links += [
        f"[{name}](../studies/{name}.md) (study)"
        for name in registry.kind("studies").names()
        if plural != "studies" and any(recipe.study == name for recipe, _ in studied.recipes_with(kind, part))
    ]
    links += [
        f"[{name}](../{other}/{name}.md) ({registry.kind(other).name})"
        for other, name in sorted(found)
        if name and (other, name) != (plural, part.key)
    ]
    return "## Related\n\n" + ", ".join(links) if links else ""


def _chosen(kind: Kind, part: Part) -> str:
    """The part of this kind that a trial with ``part`` takes by default, if it says."""
    chosen = part.configuration.get(kind.setting) or ""
    return chosen.get("name", "") if isinstance(chosen, Mapping) else str(chosen)


def _kinds() -> dict[str, Kind]:
    return {plural: registry.kind(plural) for plural in registry.HOMES}


def _facts(part: Part) -> str:
    facts = [f"{heading}: {inline(value)}" for heading, value in part.facts.items()]
    if part.also:
        facts.append(f"also known as: {', '.join(map(inline, part.also))}")
    return "\n".join(f"* {fact}" for fact in facts)


def _who_sets(key: str) -> str:
    """The page of the parts that a key names; or the methods whose record sets it."""
    if plural := next((plural for plural, kind in _kinds().items() if kind.setting == key), ""):
        return f"[{plural}](parts/{plural}/index.md)"
    every = registry.kind("methods")
    setting = [name for name in every.names() if key in config.dotted(every.get(name).configuration)]
    if len(setting) > MANY:
        return f"{len(setting)} [methods](parts/methods/index.md)"
    return ", ".join(f"[{name}](parts/methods/{name}.md)" for name in setting)


def _shown(value: Any) -> str:
    return "empty" if value == "" else plain(value)


def _plain_mapping(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain_mapping(each) for key, each in value.items()}
    return list(map(_plain_mapping, value)) if isinstance(value, (list, tuple)) else value


def _page(sections: list[str]) -> str:
    return "\n\n".join(section for section in sections if section) + "\n"
