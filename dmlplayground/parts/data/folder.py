"""Your own images: a folder for every class."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Optional

from ...base import files
from ...base.errors import UserError
from . import KIND
from .shared.catalogue import Catalogue, Classes, Entry, Walk, catalogue, class_folders, divide

SPLITS = ("train", "test", "query", "gallery")


@KIND.register(title="Your own images: a folder for every class")
def load(
    split: str,
    *,
    path: str,
    train: Classes = 0.5,
    test: Optional[Classes] = None,
    seed: Optional[int] = None,
    cache: Literal["disk", "none"] = "disk",
) -> Catalogue:
    """Images below folders that are called by their classes.

    path: the folder of these folders; or one with the folders train and test, or train, query and gallery, in
        which they are. Query images then search those of the gallery.
    """
    folder = files.expanded(path)
    if not folder.is_dir():
        raise UserError(f"data set folder: there is no folder {folder}.")
    found = entries(folder)
    if not any(entry.split for entry in found):
        found = divide(found, train, test, "data set folder", seed)
    return catalogue("folder", split, folder, found, cached=cache == "disk")


def entries(folder: Path) -> list[Entry]:
    """All images of the folder, with their splits where it says them."""
    walk = Walk(folder)
    found = _divided(folder, walk) if _is_divided(folder) else class_folders(folder, walk)
    walk.warn()
    return found


def _is_divided(folder: Path) -> bool:
    inside = {path.name for path in folder.iterdir() if path.is_dir()}
    return inside in ({"train", "test"}, {"train", "query", "gallery"})


def _divided(folder: Path, walk: Walk) -> list[Entry]:
    return [
        entry._replace(file=f"{split}/{entry.file}", split=split)
        for split in SPLITS
        if (folder / split).is_dir()
        for entry in class_folders(folder / split, walk)
    ]
