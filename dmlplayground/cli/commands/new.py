"""write a new method, miner, sampler or other part with its test, for you to change"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..arguments import place

EXAMPLE = "new method my_loss"
PAGE = "own-parts"


def add_arguments(command: ArgumentParser) -> None:
    from .. import templates

    command.add_argument("kind", metavar="KIND", help=f"one of {', '.join(templates.kinds())}")
    command.add_argument("name", metavar="NAME", help="its name: lower-case letters, digits and _")
    command.add_argument(
        "--into", type=place, metavar="CHECKOUT", help="a checkout of the source (default: the running one)"
    )


def run(arguments: Namespace) -> None:
    from ...base import resources
    from ...base.errors import UserError
    from .. import templates

    folder = arguments.into or resources.checkout()
    if folder is None:
        raise UserError(
            "this is an installed package: name a checkout of the source to write into, with --into FOLDER."
        )
    written = templates.write(arguments.kind, arguments.name, folder)
    print("\n".join(f"wrote {path}" for path in written))
    print(f"\nIt is a small part that works. Change it and run its test: pytest {written[-1]}")
    print(f"See its description: dmlplayground {templates.kinds()[arguments.kind]} {arguments.name}")
