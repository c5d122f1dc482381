"""show which results of two stores differ"""

from __future__ import annotations

from pathlib import Path

EXAMPLE = "compare runs/old runs/new"


def add_arguments(command) -> None:
    command.add_argument("first", type=Path, metavar="A")
    command.add_argument("second", type=Path, metavar="B")


def run(arguments) -> None:
    from ... import reports

    print(reports.terminal(reports.compare(arguments.first, arguments.second)))
