"""The image files of a data set with their classes, splits and boxes, before anything is decoded."""

import math
import os
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np

from ....base import files, optional, seeds
from ....base.errors import UserError, printable, warn
from ....base.options import Must

HEIC = (".heic", ".heif")
#: The endings of pictures; those of phones, too, where what reads them is installed.
SUFFIXES = (
    ".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff",
    *(HEIC if optional.installed("pillow_heif") else ()),
)  # fmt: skip
Box = Sequence[float]  # x, y, width, height
#: How to divide classes: a share of them, their names, or a file with one name a line.
Classes = float | list[str] | str
Number = Annotated[int, Must("not be negative", lambda number: number >= 0)]
Pixels = Annotated[int, Must("be from 16 to 1024 pixels", lambda pixels: 16 <= pixels <= 1024)]
ROLES = {"train": ("train",), "test": ("test", "query", "gallery")}


class Entry(NamedTuple):
    """One image."""

    file: str  # below the data set's folder
    label: str  # its class
    split: str = ""  # train or test, or which part of the test split: query or gallery
    box: Box | None = None
    parent: str = ""  # the class above its class
    query: bool | None = None  # of a training class kept back to validate: whether it searches


@dataclass(frozen=True, eq=False)
class Catalogue:
    """The images of one split, class after class."""

    name: str
    split: str
    folder: Path
    files: tuple[str, ...]
    labels: np.ndarray
    class_names: tuple[str, ...]
    boxes: np.ndarray | None = None  # (N, 4): x, y, width, height
    queries: np.ndarray | None = None  # which images search the others; None: all search all
    cached: bool = True
    parents: tuple[str, ...] | None = None  # of each class the one above it
    size: int | None = None  # the height and width that images are drawn at, or brought to
    pool: "Catalogue | None" = None  # all images of the data set, decoded together however they are divided

    def __len__(self) -> int:
        return len(self.files)

    @property
    def rows(self) -> np.ndarray:
        """The places of the images in the pool."""
        assert self.pool is not None
        places = {file: row for row, file in enumerate(self.pool.files)}
        return np.array([places[file] for file in self.files])

    def path(self, row: int) -> Path:
        return self.folder / self.files[row]

    def box(self, row: int) -> Box | None:
        return None if self.boxes is None else self.boxes[row]


def catalogue(
    name: str,
    split: str,
    folder: Path,
    entries: Iterable[Entry],
    *,
    boxes: bool = False,
    cached: bool = True,
    size: int | None = None,
    pooled: bool = False,
) -> Catalogue:
    """The entries of one split: classes in the order of their names, and the images of each in the order of the entries."""
    entries = list(entries)
    chosen = [entry for entry in entries if entry.split in ROLES[split]]
    if not chosen:
        raise UserError(f"data set {name} has no images in its {split} split ({folder}).")
    class_names = natural({entry.label for entry in chosen})
    number = {label: i for i, label in enumerate(class_names)}
    chosen.sort(key=lambda entry: number[entry.label])
    roles = {entry.split for entry in chosen}
    if roles & {"query", "gallery"} and roles != {"query", "gallery"}:
        wanted = "either all test images are queries or gallery, or none are"
        raise UserError(f"data set {name}: {wanted}; got {', '.join(sorted(roles))}.")
    for entry in chosen if boxes else ():
        if entry.box is None:
            raise UserError(f"data set {name} has no boxes; leave out the option boxes.")
        if not is_box(entry.box):
            raise UserError(f"data set {name}: {BOX}, which {list(entry.box)} is not ({entry.file}).")
    above = {entry.label: entry.parent for entry in chosen}
    searching = [entry.split == "query" if entry.query is None else entry.query for entry in chosen]
    pool = None
    if pooled:  # in an order that does not depend on a division
        all_files = tuple(sorted(entry.file for entry in entries))
        none = np.zeros(len(all_files), np.int32)
        pool = Catalogue(name, "all", folder, all_files, none, ("",), size=size)
    return Catalogue(
        name,
        split,
        folder,
        tuple(entry.file for entry in chosen),
        np.array([number[entry.label] for entry in chosen], np.int32),
        tuple(class_names),
        np.array([entry.box for entry in chosen], float) if boxes else None,
        np.array(searching) if any(searching) else None,
        cached,
        tuple(above[label] for label in class_names) if all(above.values()) else None,
        size,
        pool,
    )


def own(
    name: str,
    split: str,
    folder: Path,
    entries: Sequence[Entry],
    boxes: bool = False,
    *,
    train: Classes = 0.5,
    test: Classes | None = None,
    seed: Number | None = None,
    cache: Literal["disk", "none"] = "disk",
) -> Catalogue:
    """One split of a user's images, which may say their splits. What comes by name are options of every such set."""
    if not any(entry.split for entry in entries):
        entries = divide(entries, train, test, f"data set {name}", seed)
    return catalogue(name, split, folder, entries, boxes=boxes, cached=cache == "disk")


#: What a box is, in words.
BOX = "a box is x, y, width and height in pixels, none of them negative and the last two above 0"


def is_box(box: Box) -> bool:
    return all(map(math.isfinite, box)) and min(box) >= 0 and min(box[2:]) > 0


def natural(names: Iterable[str]) -> list[str]:
    """Sorted as people would: class 2 before class 10."""

    def parts(name: str) -> tuple:
        return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)], name

    return sorted(names, key=parts)


class Walk:
    """Goes through folders for their images, and keeps what it passes over, since nothing is left out in silence."""

    LOOKED = 20_000  # files after which at least every tenth must have been an image, or this is no data set
    PATIENCE = 200_000  # files after which a sign of life is due
    NAMED = 3

    def __init__(self, root: Path, of_classes: bool = True):
        self.root = root
        self.of_classes = of_classes
        self.seen = self.images = 0
        self.left: dict[str, list[str]] = defaultdict(list)  # what was left out, by the reason

    def below(self, folder: Path) -> list[str]:
        """All images in the folder and its subfolders, by their paths from there, sorted."""
        found, waiting = [], [str(folder)]
        while waiting:
            place = waiting.pop()
            try:
                with os.scandir(place) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        elif is_image(entry):
                            self.images += 1
                            found.append(entry.path)
                        elif is_image(entry, HEIC):
                            why = f"in HEIC: {optional.PACKAGES['pillow_heif'].install}"
                            self.left[why].append(entry.path)
                        self._count()
            except OSError as problem:
                self.left[f"not readable: {problem.strerror}"].append(place)
        start = len(os.path.join(folder, ""))  # noqa: PTH118 (with the separator at its end)
        return natural(path[start:] for path in found)

    def _count(self) -> None:
        self.seen += 1
        if self.of_classes and self.seen >= self.LOOKED and 10 * self.images < self.seen:
            raise UserError(
                f"{self.root} is no data set: {self.images:,} of the first {self.seen:,} files in it are images. Give a "
                "folder that holds one folder of images for each class, and little else."
            )
        if self.seen % self.PATIENCE == 0:
            print(f"looking through {self.root}: {self.seen:,} files so far", file=sys.stderr)

    def warn(self) -> None:
        """Warn of what was left out."""
        for why, names in self.left.items():
            first = sorted(names)[: self.NAMED]
            some = ", ".join(printable(os.path.relpath(name, self.root)) for name in first)
            more = f" and {len(names) - self.NAMED:,} more" * (len(names) > self.NAMED)
            warn(f"left out of {self.root}: {some}{more} ({why}).")


def class_folders(folder: Path, walk: Walk | None = None) -> list[Entry]:
    """The images of a folder that has one folder for every class, whatever the files are called."""
    walk, entries, labels = walk or Walk(folder), [], []
    for path in folder.iterdir():
        if path.is_dir():
            labels.append(path.name)
        elif is_image(path, (*SUFFIXES, *HEIC)):
            walk.left["in no folder of a class"].append(str(path))
    for label in natural(labels):
        found = walk.below(folder / label)
        if not found and not label.startswith("."):
            walk.left["without images"].append(str(folder / label))
        entries += [Entry(f"{label}/{name}", label) for name in found]
    return entries


def is_image(path: Path | os.DirEntry, suffixes: Sequence[str] = ()) -> bool:
    suffix = os.path.splitext(path.name)[1]  # noqa: PTH122 (for entries of folders by the million)
    return suffix.lower() in (suffixes or SUFFIXES) and not path.name.startswith(".") and path.is_file()


def divide(
    entries: Sequence[Entry], train: Classes, test: Classes | None, where: str, seed: int | None = None
) -> list[Entry]:
    """The entries with the splits of their classes: those that ``train`` names, then those of ``test`` or all others. A share
    is that of the first classes for ``train``, and of the last for ``test``: by name, or in an order that a seed draws."""
    names = natural({entry.label for entry in entries})
    if seed is not None:
        names = [names[i] for i in seeds.generator(seed, "split of classes").permutation(len(names))]
    training = set(_chosen(names, train, f"{where}: train"))
    others = [name for name in names if name not in training]
    testing = set(others if test is None else _chosen(names[::-1], test, f"{where}: test"))
    if training & testing:
        raise UserError(
            f"{where}: train and test share {len(training & testing)} classes, such as "
            f"{printable(natural(training & testing)[0])}; a class can only belong to one of them."
        )
    roles = {**dict.fromkeys(training, "train"), **dict.fromkeys(testing, "test")}
    return [entry._replace(split=roles.get(entry.label, "")) for entry in entries]


def reserved(ordered: Sequence[str], count: int, where: str) -> set[str]:
    """So many of the classes, always the same ones: for training in every division."""
    if not 0 <= count <= len(ordered) - 2:
        raise UserError(f"{where}: reserved must be from 0 to {len(ordered) - 2}, not {count}.")
    return {ordered[i] for i in seeds.generator(0, "reserved classes").permutation(len(ordered))[:count]}


def halves(entries: Sequence[Entry], ordered: Sequence[str], division: int) -> list[Entry]:
    """The entries with half of the classes for training, rounded up, and the others for test: the first ones in the given
    order (division 0), or those that are drawn at random for another division."""
    if division:
        drawn = seeds.generator(division, "division of classes").permutation(len(ordered))
        ordered = [ordered[i] for i in drawn]
    training = set(ordered[: -(-len(ordered) // 2)])
    return [entry._replace(split="train" if entry.label in training else "test") for entry in entries]


def _chosen(names: Sequence[str], classes: Classes, where: str) -> Collection[str]:
    if isinstance(classes, float):
        if not 0 < classes < 1:
            wanted = "a share of the classes between 0 and 1, a list or a file"
            raise UserError(f"{where} must be {wanted}, not {classes}.")
        return names[: min(max(1, round(classes * len(names))), len(names) - 1)]
    if isinstance(classes, str):
        classes = lines(files.expanded(classes))
    strange = [name for name in classes if name not in set(names)]
    if strange:
        raise UserError(f"{where} names {strange[0]!r}, which is not a class of the data set.")
    if not classes:
        raise UserError(f"{where} is empty.")
    return classes


def lines(path: Path) -> list[str]:
    """The non-empty lines of a text file."""
    try:
        text = files.read_bytes(path).decode("utf-8-sig")
        return [line.strip() for line in text.splitlines() if line.strip()]
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text in UTF-8.") from None
