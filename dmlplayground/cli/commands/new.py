"""write a new method, miner, sampler or other part, with its test, to be changed into your own"""

from __future__ import annotations

from pathlib import Path

EXAMPLE = "new method my_loss"
PAGE = "own-parts"


def add_arguments(command) -> None:
    from ... import templates

    command.add_argument("kind", metavar="KIND", help=f"one of {', '.join(templates.kinds())}")
    command.add_argument("name", metavar="NAME", help="what it is to be called: small letters, digits and _")
    command.add_argument(
        "--into", type=Path, metavar="CHECKOUT", help="a checkout of the source (default: the one that runs)"
    )


def run(arguments) -> None:
    from ... import resources, templates
    from ...errors import UserError

    folder = arguments.into or resources.checkout()
    if folder is None:
        raise UserError(
            "this is an installation; name a checkout of the source to write into: --into FOLDER."
        )
    written = templates.write(arguments.kind, arguments.name, folder)
    print("\n".join(f"wrote {path}" for path in written))
    print(f"\nIt is a small part that works. Change it, and run its test: pytest {written[-1]}")
    print(f"Read what is known of it: dmlplayground {templates.kinds()[arguments.kind]} {arguments.name}")
