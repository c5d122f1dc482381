"""verify a bundle: its form, its budgets, and some of its trials by training them again"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...base import layout
from ..arguments import natural, place

EXAMPLE = "verify quickstart.tar.gz --sample 3"
PAGE = "bundles"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument(
        "bundle", type=place, metavar="BUNDLE", help="an archive that dmlplayground bundle made"
    )
    command.add_argument("--sample", type=natural, default=3, help="trials to train again")
    command.add_argument("--seed", type=natural, default=0, help="which trials are drawn")
    command.add_argument(
        "--run-code", action="store_true", help="also run the parts and commands in the bundle"
    )


def run(arguments: Namespace) -> int:
    from ...trial import bundles

    found = bundles.verify(arguments.bundle, arguments.sample, arguments.run_code, arguments.seed)
    words = {True: "holds", False: "X does not hold", None: "not verified"}
    print(layout.columns([(one.what, words[one.holds], one.said) for one in found]))
    return 1 if any(one.holds is False for one in found) else 0
