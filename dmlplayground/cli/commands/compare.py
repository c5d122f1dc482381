"""say whether the results of two stores differ, and in which settings

"I changed the rate: better?" Trials are matched by all that the stores share; seeds that both have are paired."""

from __future__ import annotations

from ..arguments import place

EXAMPLE = "compare runs/before runs/after"
PAGE = "reproducibility"


def add_arguments(command) -> None:
    command.add_argument("first", type=place, metavar="A")
    command.add_argument("second", type=place, metavar="B")


def run(arguments) -> None:
    from ... import reports

    print(reports.terminal(reports.compare(arguments.first, arguments.second)))
