"""Cars196: models of cars."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from .. import KIND
from ..catalogue import Catalogue, Entry, class_folders
from ..releases import Archive, Count, Release

ANNOTATIONS = "cars_annos.mat"


def _read(folder: Path) -> list[Entry]:
    """The release's own annotations, or else a folder of images for every class, called by its number. The
    first half of the classes is for training."""
    return _annotated(folder) if (folder / ANNOTATIONS).exists() else _rearranged(folder)


def _annotated(folder: Path) -> list[Entry]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        stored = loadmat(folder / ANNOTATIONS, squeeze_me=True)
    except MatReadError as problem:
        raise ValueError(f"{ANNOTATIONS}: {problem}") from None
    names = [str(name) for name in stored["class_names"].ravel()]
    entries = []
    for row in stored["annotations"].ravel():
        number = int(row["class"])
        # MATLAB counts pixels from 1, and its boxes include their last row and column.
        left, top, right, bottom = (int(row[f"bbox_{side}"]) for side in ("x1", "y1", "x2", "y2"))
        box = (left - 1, top - 1, right - left + 1, bottom - top + 1)
        label = f"{number:03d}.{names[number - 1]}"
        entries.append(Entry(str(row["relative_im_path"]), label, _split(number, len(names)), box))
    return entries


def _rearranged(folder: Path) -> list[Entry]:
    entries = [entry for entry in class_folders(folder) if entry.label.isdecimal()]
    classes = max(int(entry.label) for entry in entries)
    return [entry._replace(split=_split(int(entry.label), classes)) for entry in entries]


def _split(number: int, classes: int) -> str:
    return "train" if number <= classes // 2 else "test"


RELEASE = Release(
    name="cars196",
    title="Cars196: cars of 196 models",
    markers=(ANNOTATIONS, "1", "001"),
    read=_read,
    counts={"train": Count(8054, 98), "test": Count(8131, 98)},
    archives=(Archive("cars_annos.mat"), Archive("car_ims.tgz")),
    advice=(
        "Stanford no longer offers its files car_ims.tgz and cars_annos.mat; copies are held by many groups. "
        "A folder of images for each class, called 1 to 196, will do as well."
    ),
)


@KIND.register(title=RELEASE.title, release=RELEASE)
def load(
    split: str,
    *,
    root: str = "",
    boxes: bool = False,
    partial: bool = False,
    cache: Literal["disk", "none"] = "disk",
) -> Catalogue:
    """Stanford's cars. Models 1 to 98 are for training (8,054 images), 99 to 196 for test (8,131).

    root: the folder that data sets live in; empty: $DMLPLAYGROUND_DATA, else the user's data folder.
    boxes: images are cut to their bounding boxes before anything else (not in the rearrangement by folders).
    partial: accept a release that is not whole.
    cache: where decoded images are kept; with none they are decoded anew each time.
    """
    return RELEASE.catalogue(split, root=root, boxes=boxes, cache=cache, partial=partial)
