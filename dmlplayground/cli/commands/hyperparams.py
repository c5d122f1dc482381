"""list published settings and their sources, or every value of one method"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base import layout
from ...base.errors import unknown

if TYPE_CHECKING:
    from ...trial import hyperparams as settings

    Found = tuple[object, settings.Hyperparams, str]  # a name or a file, its content, one of its backbones

from ..arguments import Command, Namespace
from ..listing import value

EXAMPLE = "hyperparams fehervari2019/cub200/npairs"
PAGE = "studies"


def add_arguments(command: Command) -> None:
    about = (
        "what to list value by value, with sources: a method, STUDY/DATA/METHOD as the list has it, or a .yaml file; "
        "STUDY or STUDY/DATA: the list of these alone"
    )
    command.takes("name", about, nargs="?")
    command.flag("--json", "print all of it as JSON, each value with its source")


def run(arguments: Namespace) -> None:
    from ...trial import hyperparams

    found, whole = chosen(arguments.name)
    if arguments.json:
        print(json.dumps([_facts(*one) for one in found], indent=1))
    elif whole:
        print("\n\n".join(_settings(f"{name}, {on}", file, on) for name, file, on in found))
    else:
        print(f"{layout.columns(rows(found))}\n\nown: how many values differ from the method's defaults.")
        print("What the words under 'source' mean:")
        for source, meaning in hyperparams.SOURCES.items():
            print(layout.fill(f"{source}: {meaning}", "  ", 4 * " "))
        print("\nEvery value: dmlplayground hyperparams [SETTINGS/]METHOD")


def chosen(given: str | None) -> "tuple[list[Found], bool]":
    """The settings that are meant, once for each backbone, and whether to list every value."""
    from ...trial import hyperparams

    study, *rest = (given or "").split("/")
    files: list[tuple[object, settings.Hyperparams]]
    if given and Path(given).suffix == ".yaml":
        files, whole = [(given, hyperparams.read(Path(given)))], True
    elif given and not rest and study not in hyperparams.studies():
        files, whole = [*hyperparams.of_method(given)], True
    else:
        known = [name for name in hyperparams.names() if not given or name.study == study]
        if not (meant := [name for name in known if set(rest) <= {name.data, name.row}]):
            there = {"/".join(name[: len(rest) + 1]) for name in known or hyperparams.names()}
            raise unknown("settings", given, there)
        files = [(name, hyperparams.read(name)) for name in sorted(meant, key=lambda name: name.row)]
        whole = any(name.row in rest for name in meant)
    return [(name, file, on) for name, file in files for on in (file.backbone, *file.backbones)], whole


def rows(found: "Iterable[Found]") -> list[tuple[str, ...]]:
    """One line for each."""
    table: list[tuple[str, ...]] = [("method", "settings", "backbone", "source", "own")]
    for name, file, backbone in found:
        own = file.on(backbone)
        settings, _, row = str(name).rpartition("/")
        table.append((row, settings, backbone, str(own.source), str(len(own.values))))
    return table


def _facts(name: object, file: "settings.Hyperparams", backbone: str) -> dict[str, Any]:
    """The same as plain values."""
    from ...trial import hyperparams

    own = file.on(backbone)
    values = hyperparams.describe(file.method, own).items()
    return {
        "settings": str(name),
        "method": file.method,
        "backbone": backbone,
        "source": str(own.source),
        "note": own.note,
        "values": {
            key: {"value": one.value, "source": str(one.source), "note": one.note} for key, one in values
        },
        "reported": [
            {"runs": one.runs, "source": one.source, "scores": dict(one.scores), "note": one.note}
            for one in file.reported
            if one.backbone == backbone
        ],
    }


def winner(path: Path) -> str:
    """The result of a search."""
    from ...trial import hyperparams

    file = hyperparams.read(path)
    title = f"{file.method}: {file.search['value']:.4f} ({file.search['criterion']})"
    return _settings(title, file, file.reported[0].backbone)


def _settings(title: str, file: "settings.Hyperparams", backbone: str) -> str:
    facts = _facts(title, file, backbone)
    note = [layout.fill(facts["note"], "  ")] if facts["note"] else []
    rows = [
        (f"  {key}", value(one["value"]), one["source"], one["note"]) for key, one in facts["values"].items()
    ]
    return "\n".join([title, *note, layout.columns(rows), *map(_result, facts["reported"])])


def _result(one: Mapping[str, Any]) -> str:
    """The leading scores, and where they were reported."""
    from ...parts import metrics

    runs = f", {layout.plural(one['runs'], 'run')}" if one["runs"] else ""
    scores = ", ".join(f"{name} {one['scores'][name]:.2f}" for name in metrics.leading(one["scores"]))
    return f"  reported: {scores or '-'} ({one['source']}{runs})" + f": {one['note']}" * bool(one["note"])
