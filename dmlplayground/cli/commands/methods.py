"""list the methods, or tell all about one"""

from __future__ import annotations

import textwrap

from ...options import describe
from .. import listing, text

EXAMPLE = "methods npairs"


def add_arguments(command) -> None:
    listing.add_name(command, "methods")


def run(arguments) -> None:
    print(told(arguments.name) if arguments.name else table())


def table() -> str:
    from ... import methods

    rows = [("method", "year", "sampler", "title", "parameters")]
    for name in methods.names():
        record = methods.get(name)
        rows.append(
            (name, str(record.year), record.sampler["name"], record.title, text.options(record.options))
        )
    return text.columns(rows) + "\n\nRead all about one: dmlplayground methods NAME"


def told(name: str) -> str:
    """The whole story of one method: its record, its settings, and what the study published."""
    from ... import methods

    record = methods.get(name)
    parts = [f"{record.key}: {record.title} ({record.year})", record.paper, record.notes]
    rows = [
        (f"  method.{key}", str(option.default), describe(option.type))
        for key, option in record.options.items()
    ]
    if rows:
        parts.append("Parameters, with their published values:\n" + text.columns(rows))
    settings = [f"  {key}: {text.value(value)}" for key, value in record.configuration.items()]
    parts.append("What a trial with it sets, unless told otherwise:\n" + "\n".join(settings))
    return "\n\n".join([*parts, *_settings(name), *_published(name)])


def _settings(name: str) -> list[str]:
    """The files of published and tuned settings that there are for it."""
    from ... import hyperparams
    from . import hyperparams as command

    files = [file for file, _ in hyperparams.of_method(name)]
    if not files:
        return []
    heading = f"Published settings (dmlplayground hyperparams {name} lists every value):\n"
    return [heading + textwrap.indent(text.columns(command.rows(files)), "  ")]


def _published(method: str) -> list[str]:
    """What the study's tables and curves say of it."""
    from ...reports import published

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
            "In the study's tables, in percent (? where there is reason to doubt it):\n" + text.columns(rows)
        )
    for (data_name, backbone, axis), points in published.curves_of(method).items():
        line = ", ".join(f"{at}: {value:g}" for at, value in points.items())
        parts.append(f"In its figure of R@1 against {axis}, on {data_name} with {backbone}:\n  {line}")
    return parts
