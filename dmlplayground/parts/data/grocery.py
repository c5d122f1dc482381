"""The Grocery Store data set: photographs taken in shops."""

import csv
from pathlib import Path
from typing import Any

from . import KIND
from .shared.catalogue import Catalogue, Entry, Number, halves, lines
from .shared.catalogue import reserved as always_the_same
from .shared.releases import Archive, Count, Layout, Release

COMMIT = "fc80ba90f803d79d0383df52c5a4ac5de99ff6fc"
LISTS = ("train", "val", "test")


def _read(folder: Path) -> list[Entry]:
    """The images in the order of the numbers of their classes, divided as their authors do. Each list has ``path, number of
    the class, number of the class above it``; ``classes.csv`` has their names."""
    place = folder / "dataset" if (folder / "dataset").is_dir() else folder
    names = {
        int(number): (name, above)
        for name, number, above, *_ in csv.reader(lines(place / "classes.csv")[1:], skipinitialspace=True)
    }
    rows = [line.split(", ") for name in LISTS for line in lines(place / f"{name}.txt")]
    inside = place.relative_to(folder)
    entries = [
        Entry((inside / file).as_posix(), names[int(fine)][0], parent=names[int(fine)][1])
        for file, fine, _ in sorted(rows, key=lambda row: int(row[1]))
    ]
    return divided(entries, 0)


def divided(
    entries: list[Entry], division: int, reserve: int = 0, only_reserved: bool = False
) -> list[Entry]:
    """The classes for test in two: the release's lists tell visits to shops apart, and those of its test list are the queries.
    So are those of training classes that are kept back to validate."""
    classes = list(dict.fromkeys(entry.label for entry in entries))
    kept = always_the_same(classes, reserve, "data set grocery")
    rest = [label for label in classes if label not in kept]
    among = [entry for entry in entries if entry.label not in kept]
    found = [entry._replace(split="train") for entry in entries if entry.label in kept]
    for entry in halves(among, rest, division):
        found.append(entry._replace(split="") if only_reserved and entry.split == "train" else entry)
    return [
        entry._replace(split="query" if _searches(entry) else "gallery")
        if entry.split == "test"
        else entry._replace(query=_searches(entry))
        for entry in found
    ]


def _searches(entry: Entry) -> bool:
    return "test" in Path(entry.file).parts[:2]


RELEASE = Release(
    name="grocery",
    title="Grocery Store: photographs of 81 kinds of fruit, vegetables and packages in shops",
    layouts=(Layout("its authors' repository", ("dataset/classes.csv", "classes.csv"), _read),),
    counts={"train": Count(3051, 41), "query": Count(1061, 40), "gallery": Count(1309, 40)},
    archives=(
        Archive(
            "grocery-store.tar.gz",
            f"https://github.com/marcusklasson/GroceryStoreDataset/archive/{COMMIT}.tar.gz",
        ),
    ),
    content="8fb78a6e2a27e0c2930b9745025b83863285abe61ddf7e592a36d074a83c7593",
    advice=(
        "It is the repository marcusklasson/GroceryStoreDataset on GitHub (Klasson, Zhang, Kjellström, WACV 2019): an archive "
        f"of it at the commit {COMMIT[:7]}, or a clone."
    ),
)


@KIND.register(title=RELEASE.title, release=RELEASE, also=("grocery store",))
def load(
    split: str,
    *,
    division: Number = 0,
    reserved: int = 0,
    only_reserved: bool = False,
    size: int | None = None,
    **installed: Any,
) -> Catalogue:
    """Photographs of 81 kinds of fruit, vegetables, juices and dairy products, taken with a telephone in shops in Stockholm
    (348 x 348 pixels, 35 to 143 of a class), with 43 classes above them.

    Here classes are divided, not images: 41 are for training, 40 for test. The release's lists keep visits to shops apart, so
    that of the test classes those of its test list are the queries, and those of its other lists the gallery. In one pool a
    query would find the next photograph of the same shelf.

    It is small: with 40 classes for test, scores differ by several points between divisions. Use more than one.

    division: which classes are for training: 0 for those numbered 0 to 40, 1, 2, 3, ... for halves drawn at random.
    reserved: so many classes, always the same ones, are for training in every division and never for test; the others are
        divided. A search of settings on them alone sees no class that is tested on.
    only_reserved: the training half holds these alone.
    size: height and width in pixels that images are brought to before the transform; nothing: they stay as they are.
    """
    return RELEASE.catalogue(
        split,
        divided=lambda entries: divided(entries, division, reserved, only_reserved),
        size=size,
        pooled=True,
        **installed,
    )
