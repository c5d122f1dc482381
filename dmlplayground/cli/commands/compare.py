"""say whether the results of two stores differ, and in which settings

It answers questions such as "is it better with the new learning rate?". Trials are matched by all settings that both
stores have in common, and runs with the same seed are paired."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..arguments import place

EXAMPLE = "compare runs/before runs/after"
PAGE = "reproducibility"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument("first", type=place, metavar="A")
    command.add_argument("second", type=place, metavar="B")


def run(arguments: Namespace) -> None:
    from ... import reports

    print(reports.terminal(reports.compare(arguments.first, arguments.second)))
