"""What recipes and studies say of a part: the values they give its options, where each is from, and what was published."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from markdown_text import folded, inline, plain, table

from dmlplayground import hyperparams
from dmlplayground.base.registry import Kind, Part
from dmlplayground.studies import published

MANY = 6  # rows of a study that are named
FEW = 3  # values of an option that are named, and not given as a range
NUMBERS = (
    "Shares are in percent. After ± stands half of the 95 % interval. ? marks what there is reason to doubt."
)
Values = Mapping[str, hyperparams.Value]
SOURCES = "; ".join(f"*{source}*: {meaning}" for source, meaning in hyperparams.SOURCES.items())


@cache
def _recipes() -> list[tuple[hyperparams.Name, Values]]:
    """Every recipe with all of its values, those of the method's record included."""
    found = []
    for name in hyperparams.names():
        recipe = hyperparams.read(name)
        values = {**recipe.values, **hyperparams.describe(recipe.method, recipe.on(recipe.backbone))}
        found.append((name, {**values, "method.name": hyperparams.Value(recipe.method, recipe.source)}))
    return found


def recipes_with(kind: Kind, part: Part) -> list[tuple[hyperparams.Name, Values]]:
    """The recipes that name the part."""
    key = f"{kind.setting}.name"
    return [(name, values) for name, values in _recipes() if key in values and values[key].value == part.key]


def of_option(kind: Kind, part: Part, option: str) -> str:
    """What each recipe gives an option, with the sources: what a cell of the table of options says."""
    told: dict[str, tuple[list[Any], set[str]]] = defaultdict(lambda: ([], set()))
    for name, values in recipes_with(kind, part):
        if given := values.get(f"{kind.setting}.{option}"):
            told[name.study][0].append(given.value)
            told[name.study][1].add(given.source or "")
    shared: dict[str, list[str]] = defaultdict(list)  # studies that have the same
    for study, (values, words) in told.items():
        shared[_range(values)].append(f"{study} ({' or '.join(sorted(words))})")
    return "; ".join(f"{values}: {', '.join(studies)}" for values, studies in shared.items())


def _range(values: Sequence[Any]) -> str:
    """Few values one by one, many numbers by the least and the largest."""
    different = list({plain(value): value for value in values}.values())
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in different):
        different.sort()
        if len(different) > FEW:
            return f"`{different[0]:.3g}` to `{different[-1]:.3g}`"
    return " or ".join(
        f"`{value:.3g}`" if isinstance(value, float) else f"`{plain(value)}`" for value in different
    )


def settings(kind: Kind, part: Part) -> str:
    """The published settings of a part: of a method every value of every recipe, of another part those of its options."""
    found = recipes_with(kind, part)
    if not found:
        return ""
    told = _of_method(part) if kind.setting == "method" else _by_study(kind, part, found)
    return "\n\n".join(["## Settings in recipes", *told, f"Where a value is from. {SOURCES}."])


def _of_method(part: Part) -> list[str]:
    found = []
    for name, recipe in hyperparams.of_method(part.key):
        values = hyperparams.describe(part.key, recipe.on(recipe.backbone))
        rows = [
            (
                f"`{key}`",
                f"`{plain(value.value)}`",
                inline(" ".join(filter(None, [value.source, value.note]))),
            )
            for key, value in values.items()
        ]
        note = inline(" ".join(recipe.note.split()))
        title = f"{name.study}, {name.data}" + f", row {name.row}" * (name.row != part.key)
        found.append(folded(title, f"{note}\n\n{table(('key', 'value', 'source'), rows)}"))
    return found


def _by_study(kind: Kind, part: Part, found: Sequence[tuple[hyperparams.Name, Values]]) -> list[str]:
    """A table a study: which rows have which options."""
    studies: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, values in found:
        studies[name.study][_options(kind, part, values)].append(f"{name.data}/{name.row}")
    return [
        folded(
            study, table(("recipes", "options"), [(_some(names), options) for options, names in rows.items()])
        )
        for study, rows in studies.items()
    ]


def _options(kind: Kind, part: Part, values: Values) -> str:
    """The options that a recipe gives the part."""
    keys = [f"{kind.setting}.{option}" for option in part.options]
    told = (
        f"`{key}` `{plain(values[key].value)}` ({values[key].source}{': ' * bool(values[key].note)}{inline(values[key].note)})"
        for key in keys
        if key in values
    )
    return "; ".join(told) or "as unless told otherwise"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(inline(name) for name in names[:MANY])
    return shown + f" and {len(names) - MANY} more" * (len(names) > MANY)


def results(kind: Kind, part: Part) -> str:
    """The published numbers that name the part, a table a study."""
    key = f"{kind.setting}.name"
    found = []
    for study in published.names():
        quotes = [
            quote for quote in published.quotes() if quote.study == study and _names(quote, key, part.key)
        ]
        rows, points = [q for q in quotes if not q.axis], [q for q in quotes if q.axis]
        if quotes:
            told = "\n\n".join(
                filter(None, [inline(published.get(study).warning), _rows(rows), _points(points)])
            )
            title = inline(published.get(study).title)
            found.append(f"### {title}\n\n{told}" if kind.setting == "method" else folded(title, told))
    if not found:
        return ""
    return "\n\n".join(["## Published numbers", NUMBERS, *found])


def tables(study: str) -> str:
    """The tables of a study, in its own shape."""
    found = [
        folded(inline(title), table(rows[0], [tuple(map(inline, row)) for row in rows[1:]]))
        for title, rows in published.tables(study)
    ]
    return "\n\n".join(["## Published numbers", NUMBERS, *found]) if found else ""


def _names(quote: published.Quote, key: str, part: str) -> bool:
    named = quote.conditions.get(key)
    return part in named if isinstance(named, tuple) else named == part


def _rows(quotes: Sequence[published.Quote]) -> str:
    if not quotes:
        return ""
    names = list(dict.fromkeys(metric for quote in quotes for metric in quote.scores))
    rows = []
    for quote in quotes:
        place = quote.source + f", {quote.label}" * bool(quote.label)
        parts_ = (quote.conditions.get(f"{part}.name", "") for part in ("method", "data", "backbone"))
        scores = (str(quote.scores.get(name, "")) for name in names)
        rows.append((*map(inline, (place, *map(published.words, parts_))), quote.outcome, *scores))
    return table(("where", "method", "data set", "network", "outcome", *names), rows)


def _points(quotes: Iterable[published.Quote]) -> str:
    lines: dict[str, list[str]] = {}
    for quote in quotes:
        (score,) = quote.scores.values()
        place = f"{quote.source}, {quote.conditions['method.name']}"
        lines.setdefault(place, []).append(f"{quote.conditions[quote.axis]}: {score.value:g}")
    return "\n".join(f"* {inline(source)}: {', '.join(found)}" for source, found in lines.items())


def doubts() -> str:
    """Every reason to doubt a published number, with the rows that it concerns."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for quote in published.quotes():
        for metric, score in quote.scores.items():
            if score.doubt:
                row = quote.label or quote.conditions["method.name"]
                found[quote.study, score.doubt].append(f"{row} ({quote.conditions['data.name']}, {metric})")
    rows = [
        (f"[{study}](parts/studies/{study}.md)", inline(doubt), inline(", ".join(dict.fromkeys(places))))
        for (study, doubt), places in found.items()
    ]
    return table(("study", "reason", "of"), rows)
