"""What the command line prints about methods, data sets, backbones, plans and outcomes, as plain text."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import backbones as backbone_registry
from . import data as data_registry
from . import hyperparams as tuned
from . import methods as method_registry
from . import parts
from .backbones.conversion import Converted, Verified
from .config import Trial
from .options import Option, describe
from .reports import published
from .store.records import Record


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as aligned columns, the last one ragged."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return "\n".join(
        "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths)), row[-1]]).rstrip() for row in rows
    )


def options(given: Mapping[str, Option]) -> str:
    """``margin=1.0, symmetric=False``"""
    return ", ".join(f"{name}={option.default}" for name, option in given.items()) or "-"


def methods() -> str:
    rows = [("method", "year", "sampler", "title", "parameters")]
    for name in method_registry.names():
        record = method_registry.get(name)
        rows.append((name, str(record.year), record.sampler["name"], record.title, options(record.options)))
    return columns(rows) + "\n\ndmlplayground methods NAME tells the whole story of one."


def method(name: str) -> str:
    """The whole story of one method."""
    record = method_registry.get(name)
    parts = [f"{record.key}: {record.title} ({record.year})", record.paper, record.notes]
    rows = [
        (f"  method.{key}", str(option.default), describe(option.type))
        for key, option in record.options.items()
    ]
    if rows:
        parts.append("Parameters, with their published values:\n" + columns(rows))
    settings = [f"  {key}: {_value(value)}" for key, value in record.configuration().items()]
    parts.append("A trial with it, unless told otherwise:\n" + "\n".join(settings))
    if files := [file for file in tuned.names() if file.method == name]:
        told = f"Settings to be had by name (dmlplayground hyperparams {name} tells every value):\n"
        parts.append(told + textwrap.indent(columns(_files(files)), "  "))
    return "\n\n".join([*parts, *_published(name)])


def _published(method: str) -> list[str]:
    """What the study's tables and curves say of it."""
    parts = []
    if tables := published.tables_of(method):
        metrics = list(dict.fromkeys(metric for figures in tables.values() for metric in figures))
        rows = [("  data set", "backbone", *metrics)]
        for (data_name, backbone), figures in tables.items():
            marks = (
                f"{figures[m].value:g}{'?' * bool(figures[m].doubt)}" if m in figures else "-"
                for m in metrics
            )
            rows.append((f"  {data_name}", backbone, *marks))
        parts.append(
            "The study's tables say, in percent (? where there is reason to doubt it):\n" + columns(rows)
        )
    for (data_name, backbone, axis), points in published.curves_of(method).items():
        line = ", ".join(f"{at}: {value:g}" for at, value in points.items())
        parts.append(f"Its figure of R@1 against {axis} says, on {data_name} with {backbone}:\n  {line}")
    return parts


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_value(v)}" for k, v in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def data() -> str:
    records = map(data_registry.get, data_registry.names())
    return _entries((record.name, record.title, record.description) for record in records)


def samplers() -> str:
    return _parts("samplers")


def transforms() -> str:
    return _parts("transforms")


def _parts(plural: str) -> str:
    kind = parts.kind(plural)
    return _entries((part.key, options(part.options), part.notes) for part in map(kind.get, kind.names()))


def _entries(described: Iterable[tuple[str, str, str]]) -> str:
    """Name and short facts on a line, the description below."""
    return "\n\n".join(f"{name}: {facts}\n" + textwrap.indent(text, "  ") for name, facts, text in described)


def backbones() -> str:
    from .backbones.conversion import count

    rows = [("backbone", "features", "parameters", "pixels", "ImageNet weights", "title")]
    for name in backbone_registry.names():
        record = backbone_registry.get(name)
        source = record.imagenet.describe() if record.imagenet else "-"
        size, parameters = str(record.preprocessing.size), f"{count(backbone_registry.build(record)):,}"
        rows.append((name, str(record.features), parameters, size, source, record.title))
    return (
        columns(rows)
        + "\n\nand gluon:NAME and gluoncv:NAME, any network of those zoos that classifies images.\n"
        "backbone.pretrained is imagenet, none, or a file (see dmlplayground weights)."
    )


def hyperparams() -> str:
    """What settings there are, where they come from, and the result reported with them."""
    rows = _files(sorted(tuned.names(), key=lambda name: name.method))
    sources = "\n".join(f"  {source}: {meaning}" for source, meaning in tuned.SOURCES.items())
    return (
        f"{columns(rows)}\n\nown: how many values differ from the method's record. Where a source is said to be\n{sources}\n\n"
        "dmlplayground hyperparams METHOD tells every value with its source."
    )


def _files(names: Iterable[tuned.Name]) -> list[tuple[str, ...]]:
    """A line a file and backbone, below its heading."""
    rows: list[tuple[str, ...]] = [
        ("method", "settings", "backbone", "source", "own", "reported R@1", "NMI", "in")
    ]
    for name in names:
        file = tuned.read(name)
        for backbone in ("inception_bn", *file.backbones):
            settings = file.on(backbone)
            found = [_reported(result) for result in file.reported if result.backbone == backbone]
            place = (
                name.method,
                f"{name.set}/{name.data}",
                backbone,
                settings.source,
                str(len(settings.values)),
            )
            rows.append((*place, *(found[0] if found else ("-", "-", "-"))))
    return rows


def hyperparams_of(method: str) -> str:
    """Every value of a method's settings with its source, wherever there are some."""
    method_registry.get(method)
    files = [(name, tuned.read(name)) for name in tuned.names() if name.method == method]
    return "\n\n".join(
        _settings(f"{name.set}/{name.data}, {backbone}", file, backbone)
        for name, file in files
        for backbone in ("inception_bn", *file.backbones)
    )


def winner(path: Path) -> str:
    """What a search has found."""
    file = tuned.read(path)
    return _settings(
        f"{file.method}: {file.search['value']:.4f} ({file.search['criterion']})",
        file,
        file.reported[0].backbone,
    )


def _settings(title: str, file: tuned.Hyperparams, backbone: str) -> str:
    settings = file.on(backbone)
    parts = [title]
    if settings.note:
        parts.append(textwrap.indent(textwrap.fill(settings.note, 110), "  "))
    values = tuned.describe(file.method, settings).items()
    parts.append(
        columns([(f"  {key}", _value(entry.value), entry.source, entry.note) for key, entry in values])
    )
    for result in file.reported:
        if result.backbone == backbone:
            parts.append(
                "  reported: R@1 {}, NMI {} ({})".format(*_reported(result))
                + (f": {result.note}" * bool(result.note))
            )
    return "\n".join(parts)


def _reported(result: tuned.Reported) -> tuple[str, str, str]:
    """R@1, NMI and where they were."""
    runs = f", {result.runs} run{'s' * (result.runs > 1)}" if result.runs else ""
    recall, nmi = (f"{result.scores[name]:.2f}" if name in result.scores else "-" for name in ("R@1", "NMI"))
    return recall, nmi, result.source + runs


def converted(result: Converted, target: Path) -> str:
    lost = f"\nleft out (the classifier): {', '.join(result.left_out)}" if result.left_out else ""
    return f"{target}: {result.backbone}, {result.parameters:,} parameters, from {result.naming}{lost}"


def verified(result: Verified) -> str:
    low, high = result.features
    lines = [
        f"{result.path}",
        f"sha256 {result.sha256}",
        f"complete: {result.parameters:,} parameters that learn; features of images of noise from {low:.4g} to {high:.4g}",
    ]
    if result.difference:
        lines += [
            f"agrees with the graph in {mode} to {value:.1e}" for mode, value in result.difference.items()
        ]
    return "\n".join(lines)


def plan(trials: Sequence[Trial], store: Path) -> str:
    """What would run, and what of it is there already."""
    from .store import records

    rows = []
    for trial in trials:
        record = records.find(store / trial.id)
        rows.append((trial.id, record.status if record else "to run"))
    states = Counter(state for _, state in rows)
    return columns(rows) + f"\n{len(trials)} trials in {store}: " + tally(states)


def tally(states: Counter) -> str:
    """``24 finished, 2 failed``"""
    return ", ".join(f"{count} {state}" for state, count in states.most_common()) + "."


def scores(values: Mapping[str, Any]) -> str:
    return columns(
        [(name, f"{100 * value:.2f}") for name, value in values.items() if isinstance(value, (int, float))]
    )


def outcome(record: Record, folder: Path) -> str:
    """A finished trial's results."""
    shown = [key for key in ("untrained", "last", "best", "joined") if key in record.results]
    names = [
        n for n in record.results[shown[-1]]["metrics"] if n in ("R@1", "R@2", "R@4", "R@8", "MAP@R", "NMI")
    ]
    rows = [("", *names)]
    for key in shown:
        entry = record.results[key]
        label = f"{key} (epoch {entry['epoch']})" if key in ("last", "best") else key
        rows.append((label, *(f"{100 * entry['metrics'][name]:.2f}" for name in names)))
    return columns(rows) + f"\nfinished in {record.seconds:.0f} s; record in {folder}"
