"""icons: a class is a concept, an image a designer's drawing of it."""

from pathlib import Path
from typing import Any

from ...base import files
from ...base.errors import UserError
from . import KIND
from .shared import icon_sets
from .shared.catalogue import Catalogue, Entry, Number, Pixels
from .shared.releases import Archive, Count, Layout, Release

VERSION = "2.2.535"
#: What the release holds: its counts and checksum, its sets with their licences, and the copies that are left out.
MANIFEST: dict[str, Any] = files.read_json(Path(__file__).with_suffix(".json"))


def _finish(folder: Path) -> None:
    try:
        icon_sets.finish(folder, set(MANIFEST["copies"]))
    except (KeyError, TypeError, AttributeError, ValueError, OSError) as problem:
        wanted = f"the collection of icon sets in its version {VERSION}"
        raise UserError(f"this is not {wanted}: {problem!r}.") from None


def _read(folder: Path) -> list[Entry]:
    return icon_sets.divided(icon_sets.read(folder), None, 0)


RELEASE = Release(
    name="icons",
    title="Icons: concepts, drawn by the designers of many sets",
    layouts=(Layout("drawings of its classes", (icon_sets.LIST,), _read),),
    counts={split: Count(*MANIFEST[split]) for split in ("train", "test")},
    archives=(
        Archive(
            f"icon-sets-{VERSION}.tar.gz",
            f"https://github.com/iconify/icon-sets/archive/refs/tags/{VERSION}.tar.gz",
            otherwise=Archive(
                f"iconify-json-{VERSION}.tgz",
                f"npm:@iconify/json@{VERSION}",
                "1a545f86fa224d6531d8fb101dcbe83aac2b28689a21cbed6fc68318a5af4d91",
            ),
        ),
    ),
    content=MANIFEST["content"],
    finish=_finish,
    works=tuple(
        (one["title"], one["author"], one["licence"], one["images"]) for one in MANIFEST["sets"].values()
    ),
    advice=(
        f"The repository iconify/icon-sets on GitHub has it under the tag {VERSION}, and the same is in the npm package "
        f"@iconify/json ({VERSION}; npm pack @iconify/json@{VERSION})."
    ),
)


@KIND.register(
    title=RELEASE.title, release=RELEASE, also=("iconify", "drawings"), settings={"transform": "plain"}
)
def load(
    split: str,
    *,
    classes: int | None = None,
    skip: int = 0,
    size: Pixels = 32,
    division: Number = 0,
    **installed: Any,
) -> Catalogue:
    """Drawings of 160 sets whose licences allow it (Iconify's collection, version 2.2.535): a class is what an icon shows, an
    image is how one set draws it. Needs the package resvg_py (extra icons).

    A class is the name of a drawing without words of style, two words at most, in any order; at least 12 sets draw it.
    It does not know that a gear and a cog are one thing. Drawings that are the same to the pixel are kept once. Flags, logos,
    emoji and brands are left out. These are drawings of lines and areas, mostly black on white, not photographs.

    classes: how many, of an order that was drawn once; nothing: all.
    skip: so many of that order are left out before: so a search of settings can have classes that are not tested on.
    size: height and width in pixels that they are drawn at.
    """
    return RELEASE.catalogue(
        split,
        divided=lambda entries: icon_sets.divided(entries, classes, division, skip),
        size=size,
        pooled=True,
        **installed,
    )
