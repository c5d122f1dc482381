"""list the data sets; describe, prepare, fetch, verify or show one"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base import layout
from ...base.errors import UserError
from .. import listing
from ..arguments import add_data_options, count, data_options, place, png

if TYPE_CHECKING:
    from ...parts.data.shared.releases import Release

EXAMPLE = "data prepare cub200 --from CUB_200_2011.tgz"
PAGE = "own-images"


ACTIONS = ("about", "prepare", "fetch", "verify", "show")


def complete(words: list[str]) -> list[str]:
    """``data glyphs`` is short for ``data about glyphs``."""
    named = [word for word in words if not word.startswith("-")]
    short = len(named) == 1 and named[0] not in ACTIONS
    return ["about", *words] if short else words


def add_arguments(command: ArgumentParser) -> None:
    listing.add_json(command)
    actions = command.add_subparsers(metavar="ACTION")
    listing.add_json(_action(actions, "about", run, "describe a data set (the word 'about' may be left out)"))
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
        add_data_options(action)
    show_one.add_argument("--split", default="train", help="train or test")
    show_one.add_argument("--classes", type=count, default=20, help="rows of the sheet")
    show_one.add_argument("--per-class", type=count, default=10, help="images in a row")
    show_one.add_argument("--out", type=png, help="the PNG to write (default: NAME-SPLIT.png)")


def _action(actions: Any, name: str, run: Callable[[Namespace], Any], summary: str) -> ArgumentParser:
    action: ArgumentParser = actions.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + "."
    )
    action.set_defaults(run=run)
    action.add_argument("name", help="the data set")
    return action


def run(arguments: Namespace) -> None:
    say = listing.as_json if arguments.json else listing.as_text
    print(say("data", getattr(arguments, "name", None)))


def prepare(arguments: Namespace) -> None:
    from ...parts.data.shared import preparing

    release = _release(arguments.name)
    print(preparing.prepare(release, arguments.sources, arguments.root, arguments.allow_partial))


def fetch(arguments: Namespace) -> None:
    from ...parts.data.shared import preparing

    print(preparing.fetch(_release(arguments.name), arguments.root))


def _release(name: str) -> Release:
    from ...parts import data

    release = data.get(name).release
    if release is None:
        raise UserError(f"the data set {name} needs no preparation.")
    return release


def verify(arguments: Namespace) -> int:
    from ...parts.data.shared.verify import verify

    checked, wrong = verify(arguments.name, **data_options(arguments.name, arguments.set))
    end = layout.plural(len(wrong), "problem") if wrong else "all is well"
    print("\n".join([*checked, *wrong, end]))
    return 1 if wrong else 0


def show(arguments: Namespace) -> None:
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
