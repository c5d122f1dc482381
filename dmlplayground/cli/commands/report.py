"""make tables, figures and a page from records"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from .. import run_summary
from ..arguments import place

EXAMPLE = "report runs/quickstart"
PAGE = "getting-started"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument("store", type=place, help="the folder of a sweep, or a single record")


def run(arguments: Namespace) -> None:
    run_summary.report(arguments.store)
