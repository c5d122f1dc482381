"""check this machine: versions, devices and known problems"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ..arguments import place

EXAMPLE = "doctor --full"
PAGE = "getting-started"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument(
        "--full",
        action="store_true",
        help="also try every method, network and other part on every device; this takes a minute or two",
    )
    command.add_argument(
        "--out",
        type=place,
        default=Path("doctor.txt"),
        help="the file for what --full finds, which you can attach to a bug report (default: %(default)s)",
    )


def run(arguments: Namespace) -> int:
    from .. import doctor

    return doctor.full(arguments.out) if arguments.full else doctor.main()
