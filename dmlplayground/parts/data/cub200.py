"""CUB-200-2011: birds."""

from pathlib import Path
from typing import Any

from . import KIND
from .shared.catalogue import Catalogue, Entry, lines
from .shared.releases import Archive, Count, Layout, Release


def _read(folder: Path) -> list[Entry]:
    """``images.txt`` names the files, other lists give their classes and boxes, all by the number of the
    image. The first half of the classes is for training."""
    lists = ("images", "image_class_labels", "bounding_boxes")
    files, classes, boxes = (_table(folder / f"{name}.txt") for name in lists)
    names = _table(folder / "classes.txt") if (folder / "classes.txt").exists() else {}
    half = (len(names) or max(int(row[0]) for row in classes.values())) // 2
    entries = []
    for image, (file,) in files.items():
        number = int(classes[image][0])
        label = names[str(number)][0] if names else file.split("/")[0]
        x, y, width, height = map(float, boxes[image])
        split = "train" if number <= half else "test"
        entries.append(Entry(f"images/{file}", label, split, (x, y, width, height)))
    return entries


def _table(path: Path) -> dict[str, list[str]]:
    """Each line's first word, and the others."""
    return {row[0]: row[1:] for row in map(str.split, lines(path))}


RELEASE = Release(
    name="cub200",
    title="CUB-200-2011: birds of 200 species",
    layouts=(Layout("its authors' folder", ("image_class_labels.txt",), _read),),
    counts={"train": Count(5864, 100), "test": Count(5924, 100)},
    archives=(
        Archive(
            "CUB_200_2011.tgz",
            "https://data.caltech.edu/records/65de6-vp158/files/CUB_200_2011.tgz",
            "0c685df5597a8b24909f6a7c9db6d11e008733779a671760afef78feb49bf081",
        ),
    ),
    advice="CUB_200_2011.tgz is in the data repository of Caltech (record 65de6-vp158).",
)


@KIND.register(title=RELEASE.title, release=RELEASE)
def load(split: str, *, boxes: bool = False, **installed: Any) -> Catalogue:
    """Caltech's birds. Species 1 to 100 are for training (5,864 images), 101 to 200 for test (5,924)."""
    return RELEASE.catalogue(split, boxes=boxes, **installed)
