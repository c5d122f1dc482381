"""list the data sets; describe, prepare, fetch, verify or show one"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ...base import layout
from ...base.errors import UserError
from .. import listing
from ..arguments import count, data_options, place, png

EXAMPLE = "data prepare cub200 --from CUB_200_2011.tgz"
PAGE = "own-images"


ACTIONS = ("about", "prepare", "fetch", "verify", "show")


def complete(words: list[str]) -> list[str]:
    """``data glyphs`` is short for ``data about glyphs``."""
    short = len(words) == 1 and words[0] not in ACTIONS and not words[0].startswith("-")
    return ["about", *words] if short else words


def add_arguments(command: ArgumentParser) -> None:
    actions = command.add_subparsers(metavar="ACTION")
    _action(actions, "about", about, "describe a data set (the word 'about' may be left out)")
    prepare_one = _action(
        actions, "prepare", prepare, "install a published data set from its archives, with checks"
    )
    prepare_one.add_argument(
        "--from", dest="sources", type=place, nargs="+", required=True, metavar="PATH",
        help="its archives and files, or the folder that they are unpacked in (which is linked to, not copied)",
    )  # fmt: skip
    prepare_one.add_argument("--allow-partial", action="store_true", help="accept an incomplete data set")
    fetch_one = _action(actions, "fetch", fetch, "download a published data set and prepare it")
    for action in (prepare_one, fetch_one):
        action.add_argument(
            "--root",
            default="",
            help="the folder of data sets (default: $DMLPLAYGROUND_DATA, or a folder in your home)",
        )
    verify_one = _action(actions, "verify", verify, "read every image of a data set, and check its cache")
    show_one = _action(actions, "show", show, "write a contact sheet as PNG")
    for action in (verify_one, show_one):
        action.add_argument(
            "--set", action="append", default=[], metavar="OPTION=VALUE", help="an option of the data set"
        )
    show_one.add_argument("--split", default="train", help="train or test (default: %(default)s)")
    show_one.add_argument(
        "--classes", type=count, default=20, help="rows of the sheet (default: %(default)s)"
    )
    show_one.add_argument(
        "--per-class", type=count, default=10, help="images in a row (default: %(default)s)"
    )
    show_one.add_argument("--out", type=png, help="the PNG to write (default: NAME-SPLIT.png)")


def _action(actions, name: str, run, summary: str):
    action = actions.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
    action.set_defaults(run=run)
    action.add_argument("name", help="the data set")
    return action


def run(arguments: Namespace) -> None:
    print(listing.as_text("data", None))


def about(arguments) -> None:
    print(listing.as_text("data", arguments.name))


def prepare(arguments) -> None:
    from ...parts.data.shared import preparing

    release = _release(arguments.name)
    print(preparing.prepare(release, arguments.sources, arguments.root, arguments.allow_partial))


def fetch(arguments) -> None:
    from ...parts.data.shared import preparing

    print(preparing.fetch(_release(arguments.name), arguments.root))


def _release(name: str):
    from ...parts import data

    release = data.get(name).release
    if release is None:
        raise UserError(f"the data set {name} needs no preparation.")
    return release


def verify(arguments) -> int:
    from ...parts.data.shared.verify import verify

    checked, wrong = verify(arguments.name, **data_options(arguments.name, arguments.set))
    end = layout.plural(len(wrong), "problem") if wrong else "all is well"
    print("\n".join([*checked, *wrong, end]))
    return 1 if wrong else 0


def show(arguments) -> None:
    from ...base import files
    from ...parts import data
    from ...parts.data.shared.contact_sheet import contact_sheet

    options = data_options(arguments.name, arguments.set)
    if "cache" in data.get(arguments.name).options:
        options = {"cache": "none", **options}  # for a few images
    dataset = data.load(arguments.name, split=arguments.split, **options)
    path = arguments.out or Path(f"{arguments.name}-{arguments.split}.png")
    sheet = contact_sheet(dataset, arguments.classes, arguments.per_class)
    with files.replacing(path, "wb") as file:
        sheet.save(file, "PNG")
    print(f"{dataset.describe()}\nwrote {path}")
