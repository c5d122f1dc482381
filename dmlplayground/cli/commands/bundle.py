"""make one archive of a store's records and parts, for others to verify"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ..arguments import place

EXAMPLE = "bundle runs/quickstart"
PAGE = "bundles"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument("store", type=place, metavar="STORE", help="the folder of the records")
    command.add_argument(
        "--to", type=place, metavar="FILE", help="the archive (default: STORE.tar.gz in this folder)"
    )


def run(arguments: Namespace) -> None:
    from ...trial import bundles

    made = bundles.bundle(arguments.store, arguments.to or Path(f"{arguments.store.resolve().name}.tar.gz"))
    print(f"wrote {made}; look at it as others will: dmlplayground verify {made}")
