"""Write what the data set icons is made of: which drawings are copies, its counts, its sets and their licences.

    python scripts/icons.py FOLDER    the unpacked npm package @iconify/json, of the version that the data set names

Run it if the rules or the version change. Two drawings are copies if all of their pixels agree. The one is kept whose class is
the larger, and then the one whose set comes first in the alphabet.
"""

import argparse
import json
import tempfile
from collections import defaultdict
from pathlib import Path

from dmlplayground.parts.data import icons as icon_sets
from dmlplayground.parts.data.shared import decoding
from dmlplayground.parts.data.shared.releases import checksum

PIXELS = 64
TARGET = Path(__file__).parents[1] / "dmlplayground/parts/data/icons.json"


def copies(classes: dict[str, dict[str, str]]) -> list[str]:
    """The drawings to leave out, as SET/MEANING: copies of others, and those that show nothing."""
    same: dict[bytes, list[tuple[int, str, str]]] = defaultdict(list)
    left_out = []
    for name, by_set in classes.items():
        meaning = "-".join(sorted(name.split("-")))
        for key, content in by_set.items():
            image = decoding.decode(decoding.drawn(content.encode(), PIXELS))
            if image.min() == image.max():
                left_out.append(f"{key}/{meaning}")
            else:
                same[image.tobytes()].append((-len(by_set), key, meaning))
    for alike in same.values():
        left_out += [f"{key}/{meaning}" for _, key, meaning in sorted(alike)[1:]]
    return sorted(left_out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    known = icon_sets.collections(folder)
    left_out = copies(icon_sets.classes_of(folder))
    classes = icon_sets.classes_of(folder, set(left_out))
    with tempfile.TemporaryDirectory() as place:
        icon_sets.write(classes, Path(place))
        entries = icon_sets.read(Path(place))
        digest = checksum(Path(place), entries)
    counted = {key: sum(key in by_set for by_set in classes.values()) for key in known}
    sets = {
        key: {
            "title": facts["name"],
            "author": facts["author"]["name"],
            "licence": facts["license"]["spdx"],
            "address": facts["license"].get("url") or facts["author"].get("url", ""),
            "images": counted[key],
        }
        for key, facts in known.items()
        if counted[key]
    }
    split = {
        name: [entry for entry in icon_sets.divided(entries, None, 0) if entry.split == name]
        for name in ("train", "test")
    }
    content = {
        **{name: [len(part), len({entry.label for entry in part})] for name, part in split.items()},
        "content": digest,
        "sets": sets,
        "copies": left_out,
    }
    with TARGET.open("w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, indent=0)
        file.write("\n")
    print(
        f"{len(entries):,} drawings of {len(classes):,} classes by {len(sets)} sets, {len(left_out):,} left out"
    )


if __name__ == "__main__":
    main()
