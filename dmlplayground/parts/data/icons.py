"""icons: a class is a concept, an image a designer's drawing of it. Which drawings show the same thing, their names say."""

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from ...base import files, seeds
from ...base.errors import UserError
from . import KIND
from .shared.catalogue import Catalogue, Entry, Number, Pixels, halves, lines
from .shared.releases import Archive, Count, Layout, Release

VERSION = "2.2.535"
#: What the release holds: its counts and checksum, its sets with their licences, and the copies that are left out.
MANIFEST: dict[str, Any] = files.read_json(Path(__file__).with_suffix(".json"))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LICENCES = _words("MIT Apache-2.0 CC-BY-4.0 OFL-1.1 CC0-1.0 ISC BSD-3-Clause MPL-2.0 Unlicense")
#: Kinds of sets that do not draw things, or draw them all alike.
LEFT_OUT = {"Flags / Maps", "Logos", "Emoji", "Programming", "Thematic"}
NOT_SETS = re.compile("emoji|brands")
#: Words of a name that say how something is drawn, not what.
STYLE = _words(
    """
    alt animated baseline bold broken bulk color colored colour contained curved default duo duotone extra fill filled flat
    freehand glyph heavy icon ios large lg light line linear lined lines md medium micro mini mono monochrome o outline
    outlined outlines plump regular remix round rounded semi sharp simple small sm solid stroke stroked thick thin tone two
    twotone ui ultra variant xl
    """
)
SIZE = re.compile(r"\d+(px)?|v\d")
#: Names of companies and products, the words in the alphabet's order. Their logos look the same in every set.
BRANDS = _words(
    """
    adobe amazon android app-store apple behance bitcoin blender blogger chrome codepen commons-creative css css3 discord
    docker dribbble drive-google dropbox ethereum facebook facebook-logo figma firefox flickr foursquare gameboy git github
    github-logo gitlab google google-play html5 instagram iphone java javascript linkedin linux mastodon messenger meta
    microsoft nintendo-switch npm opera pacman paypal php pinterest react reddit safari sketch skype slack snapchat soundcloud
    spotify steam telegram threads tiktok trello tumblr twitch twitter vimeo vk wechat whatsapp windows wordpress xbox yahoo
    youtube
    """
)
LEAST = 12  # sets that draw a class
LIST, PLACE = "drawings.txt", "drawings"  # the names of what ``write`` makes


def collections(folder: Path) -> dict[str, Mapping[str, Any]]:
    """The sets that may be used, by key, with what is known of them."""
    return {
        key: facts
        for key, facts in sorted(files.read_json(folder / "collections.json").items())
        if facts["license"].get("spdx") in LICENCES
        and facts.get("category") not in LEFT_OUT
        and not NOT_SETS.search(key)
    }


def classes_of(folder: Path, copies: Container[str] = ()) -> dict[str, dict[str, str]]:
    """For each class the drawings (SVG) of the sets that have one, ``copies`` (SET/MEANING) left out."""
    named: dict[str, Counter] = defaultdict(Counter)
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for key in collections(folder):
        content = files.read_json(folder / "json" / f"{key}.json")
        for meaning, (words, name) in drawings(content["icons"]).items():
            if f"{key}/{meaning}" not in copies:
                named[meaning][words] += 1
                found[meaning][key] = svg(content["icons"][name], content)
    return {
        max(named[meaning], key=lambda name: (named[meaning][name], name)): by_set
        for meaning, by_set in found.items()
        if len(by_set) >= LEAST
    }


def drawings(icons: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    """The things that a set draws, each by words in the alphabet's order (circle-check and check-circle are one thing): these
    words as its drawing's name has them, and the name, which is the one that says least besides."""
    best: dict[str, tuple[str, str]] = {}
    for name in sorted(icons, key=lambda name: (name.count("-"), name)):
        words = [word for word in name.split("-") if word not in STYLE and not SIZE.fullmatch(word)]
        meaning, moves = "-".join(sorted(words)), "<animate" in icons[name]["body"]
        if 1 <= len(words) <= 2 and not moves and not icons[name].get("hidden") and meaning not in BRANDS:
            best.setdefault(meaning, ("-".join(words), name))
    return best


def svg(icon: Mapping[str, Any], icons: Mapping[str, Any]) -> str:
    """A drawing as a file of its own, square: in the middle where it is not."""
    place = {"left": 0, "top": 0, "width": 16, "height": 16}
    view = " ".join(str(icon.get(side, icons.get(side, otherwise))) for side, otherwise in place.items())
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="256" height="256" '
        f'viewBox="{view}">{icon["body"]}</svg>\n'
    )


def write(chosen: Mapping[str, Mapping[str, str]], folder: Path) -> None:
    """Put the drawings of all classes into a folder, with a list of them."""
    listed = []
    for name, by_set in sorted(chosen.items()):
        (folder / PLACE / name).mkdir(parents=True)
        for key, content in sorted(by_set.items()):
            listed.append(f"{PLACE}/{name}/{key}.svg")
            (folder / listed[-1]).write_text(content, encoding="utf-8")
    (folder / LIST).write_text("\n".join(listed) + "\n", encoding="utf-8")


def read(folder: Path) -> list[Entry]:
    return [Entry(file, file.split("/")[1]) for file in lines(folder / LIST)]


def divided(entries: list[Entry], classes: int | None, division: int, skip: int = 0) -> list[Entry]:
    """Of the classes in an order that was drawn once, the first ones after those to ``skip``; every other one is for training,
    so that it stays there however many follow."""
    names = sorted({entry.label for entry in entries})
    if not 0 <= skip <= len(names) - 2:
        raise UserError(f"data set icons: skip must be from 0 to {len(names) - 2}, not {skip}.")
    count = len(names) - skip if classes is None else classes
    if not 2 <= count <= len(names) - skip:
        raise UserError(f"data set icons: classes must be from 2 to {len(names) - skip}, not {count}.")
    order = seeds.generator(0, "icons").permutation(len(names))
    drawn = [names[i] for i in order[skip : skip + count]]
    among = set(drawn)
    chosen = [entry for entry in entries if entry.label in among]
    return halves(chosen, drawn[::2] + drawn[1::2], division)


def _finish(folder: Path) -> None:
    """Put the drawings in the place of the collection that this folder holds; what is known of its sets stays."""
    try:
        (known,) = folder.glob("*/collections.json")
        write(classes_of(known.parent, set(MANIFEST["copies"])), folder)
        known.rename(folder / known.name)
        shutil.rmtree(known.parent)
    except (KeyError, TypeError, AttributeError, ValueError, OSError) as problem:
        wanted = f"the collection of icon sets in its version {VERSION}"
        raise UserError(f"this is not {wanted}: {problem!r}.") from None


RELEASE = Release(
    name="icons",
    title="Icons: concepts, drawn by the designers of many sets",
    layouts=(Layout("drawings of its classes", (LIST,), lambda folder: divided(read(folder), None, 0)),),
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
        divided=lambda entries: divided(entries, classes, division, skip),
        size=size,
        pooled=True,
        **installed,
    )
