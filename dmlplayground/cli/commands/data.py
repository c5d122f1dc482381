"""list the data sets; describe, prepare, fetch, verify or show one"""

from pathlib import Path
from typing import TYPE_CHECKING

from ...base import layout
from ...base.errors import UserError
from .. import listing
from ..arguments import Command, Namespace, add_actions, count, data_options, place, png

if TYPE_CHECKING:
    from ...parts.data.shared.releases import Release

EXAMPLE = "data prepare cub200 --from CUB_200_2011.tgz"
PAGE = "own-images"


def complete(words: list[str]) -> list[str]:
    """``data glyphs`` is short for ``data about glyphs``."""
    named = [word for word in words if not word.startswith("-")]
    short = len(named) == 1 and named[0] not in {action.__name__ for action in ACTIONS}
    return ["about", *words] if short else words


def add_arguments(command: Command) -> None:
    listing.add_json(command)
    actions = add_actions(command, *ACTIONS)
    for action in actions:
        action.takes("name", "the data set")
    of_about, of_prepare, of_fetch, of_verify, of_show = actions
    listing.add_json(of_about)
    about = "its archives and files, or the folder that they are unpacked in (which is linked to, not copied)"
    of_prepare.takes("--from PATH", about, place, dest="sources", nargs="+", required=True)
    of_prepare.flag("--allow-partial", "accept an incomplete data set")
    for action in (of_prepare, of_fetch):
        about = "the folder of data sets (default: $DMLPLAYGROUND_DATA, or a folder in your home)"
        action.takes("--root", about, default="")
    for action in (of_verify, of_show):
        action.repeats("--set OPTION=VALUE", "set an option of the data set")
    of_show.takes("--split", "train or test", default="train")
    of_show.takes("--classes", "rows of the sheet", count, 20)
    of_show.takes("--per-class", "images in a row", count, 10)
    of_show.takes("--out", "the PNG to write (default: NAME-SPLIT.png)", png)


def run(arguments: Namespace) -> None:
    say = listing.as_json if arguments.json else listing.as_text
    print(say("data", getattr(arguments, "name", None)))


def about(arguments: Namespace) -> None:
    """describe a data set (the word 'about' may be left out)"""
    run(arguments)


def prepare(arguments: Namespace) -> None:
    """install a published data set from its archives, with checks"""
    from ...parts.data.shared import preparing

    given = arguments.sources, arguments.root, arguments.allow_partial
    print(preparing.prepare(_release(arguments.name), *given))


def fetch(arguments: Namespace) -> None:
    """download a published data set and prepare it"""
    from ...parts.data.shared import preparing

    print(preparing.fetch(_release(arguments.name), arguments.root))


def _release(name: str) -> "Release":
    from ...parts import data

    if (release := data.get(name).release) is None:
        raise UserError(f"the data set {name} needs no preparation.")
    return release


def verify(arguments: Namespace) -> int:
    """read every image of a data set, and check its cache"""
    from ...parts.data.shared.preparing import verify

    checked, wrong = verify(arguments.name, **data_options(arguments.name, arguments.set))
    print("\n".join([*checked, *wrong, layout.plural(len(wrong), "problem") if wrong else "all is well"]))
    return 1 if wrong else 0


def show(arguments: Namespace) -> None:
    """write a contact sheet as PNG"""
    from ...base import files
    from ...parts import data
    from ...parts.data.shared.dataset import contact_sheet

    options = data_options(arguments.name, arguments.set)
    if "cache" in data.get(arguments.name).options:
        options = {"cache": "none", **options}  # for a few images
    dataset = data.load(arguments.name, split=arguments.split, **options)
    path = arguments.out or Path(f"{arguments.name}-{arguments.split}.png")
    sheet = contact_sheet(dataset, arguments.classes, arguments.per_class)
    with files.replacing(path, "wb") as file:
        sheet.save(file, "PNG")
    print(f"{dataset.describe()}\nwrote {path}")


ACTIONS = (about, prepare, fetch, verify, show)
