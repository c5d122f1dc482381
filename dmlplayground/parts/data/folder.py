"""Your own images: a folder for every class."""

from pathlib import Path
from typing import Any

from ...base import files
from ...base.errors import UserError
from . import KIND
from .shared.catalogue import Catalogue, Entry, Walk, class_folders, own

SPLITS = ("train", "test", "query", "gallery")


@KIND.register(title="Your own images: a folder for every class", yours=True)
def load(split: str, *, path: str, **others: Any) -> Catalogue:
    """Images below folders that are called by their classes.

    path: the folder of these folders; or one with the folders train and test, or train, query and gallery, in
        which they are. Query images then search those of the gallery.
    """
    folder = files.expanded(path)
    if not folder.is_dir():
        raise UserError(f"data set folder: there is no folder {folder}.")
    return own("folder", split, folder, entries(folder), **others)


def entries(folder: Path) -> list[Entry]:
    """All images of the folder, with their splits where it says them."""
    walk = Walk(folder)
    inside = {path.name for path in folder.iterdir() if path.is_dir()}
    if inside in ({"train", "test"}, {"train", "query", "gallery"}):
        found = [
            entry._replace(file=f"{split}/{entry.file}", split=split)
            for split in SPLITS
            if split in inside
            for entry in class_folders(folder / split, walk)
        ]
    else:
        found = class_folders(folder, walk)
    walk.warn()
    return found
