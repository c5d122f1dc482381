"""list published settings and their sources, or every value of one method"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ...base import layout
from .. import text

if TYPE_CHECKING:
    from ...trial import hyperparams as settings

EXAMPLE = "hyperparams npairs"
PAGE = "studies"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument("method", nargs="?", help="a method, to list each of its values with its source")


def run(arguments: Namespace) -> None:
    print(of_method(arguments.method) if arguments.method else table())


def table() -> str:
    """The settings that exist, and where they come from."""
    from ...trial import hyperparams

    files = sorted(hyperparams.names(), key=lambda name: name.row)
    sources = "\n".join(
        layout.fill(f"{source}: {meaning}", "  ", 4 * " ") for source, meaning in hyperparams.SOURCES.items()
    )
    return (
        f"{layout.columns(rows(files))}\n\n"
        "own: how many values differ from the method's defaults.\n"
        f"What the words under 'source' mean:\n{sources}\n\n"
        "Every value and its source: dmlplayground hyperparams METHOD"
    )


def rows(names: Iterable[settings.Name]) -> list[tuple[str, ...]]:
    """One line for each file and backbone."""
    from ...trial import hyperparams

    table: list[tuple[str, ...]] = [("method", "settings", "backbone", "source", "own")]
    for name in names:
        file = hyperparams.read(name)
        for backbone in (file.backbone, *file.backbones):
            own = file.on(backbone)
            table.append(
                (name.row, f"{name.study}/{name.data}", backbone, str(own.source), str(len(own.values)))
            )
    return table


def of_method(method: str) -> str:
    """Every value of a method's settings with its source, in all studies that have some."""
    from ...trial import hyperparams

    return "\n\n".join(
        _settings(f"{name}, {backbone}", file, backbone)
        for name, file in hyperparams.of_method(method)
        for backbone in (file.backbone, *file.backbones)
    )


def winner(path: Path) -> str:
    """The result of a search."""
    from ...trial import hyperparams

    file = hyperparams.read(path)
    title = f"{file.method}: {file.search['value']:.4f} ({file.search['criterion']})"
    return _settings(title, file, file.reported[0].backbone)


def _settings(title: str, file: settings.Hyperparams, backbone: str) -> str:
    from ...trial import hyperparams

    own = file.on(backbone)
    parts = [title]
    if own.note:
        parts.append(layout.fill(own.note, "  "))
    values = hyperparams.describe(file.method, own).items()
    parts.append(
        layout.columns(
            [(f"  {key}", text.value(entry.value), str(entry.source), entry.note) for key, entry in values]
        )
    )
    for result in file.reported:
        if result.backbone == backbone:
            parts.append(
                "  reported: {} ({})".format(*_reported(result)) + (f": {result.note}" * bool(result.note))
            )
    return "\n".join(parts)


def _reported(result: settings.Reported) -> tuple[str, str]:
    """The leading scores and where they were reported."""
    from ...parts import metrics

    runs = f", {layout.plural(result.runs, 'run')}" if result.runs else ""
    scores = ", ".join(f"{name} {result.scores[name]:.2f}" for name in metrics.leading(result.scores))
    return scores or "-", result.source + runs
