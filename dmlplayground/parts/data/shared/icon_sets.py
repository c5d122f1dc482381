"""From a collection of icon sets to classes: which drawings show the same thing, by their names."""

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from ....base import files, seeds
from ....base.errors import UserError
from .catalogue import Entry, halves, lines


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


def classes(folder: Path, copies: Container[str] = ()) -> dict[str, dict[str, str]]:
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


def finish(folder: Path, copies: Container[str]) -> None:
    """Put the drawings in the place of the collection that this folder holds; what is known of its sets stays."""
    (known,) = folder.glob("*/collections.json")
    write(classes(known.parent, copies), folder)
    known.rename(folder / known.name)
    shutil.rmtree(known.parent)


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
