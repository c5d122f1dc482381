"""check this machine: versions, devices and known problems"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

EXAMPLE = "doctor --full"
PAGE = "getting-started"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument(
        "--full", action="store_true", help="also ask the servers that data and weights are fetched from"
    )


def run(arguments: Namespace) -> int:
    from .. import doctor

    return doctor.main(arguments.full)
