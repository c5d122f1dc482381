"""Images in any form (files, folders, arrays or a data set), prepared for a trial's transform."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..base.errors import UserError, printable, warn
from ..parts.data import Dataset
from ..parts.data.shared import decoding
from ..parts.data.shared.catalogue import SUFFIXES, Walk
from ..parts.data.shared.images import Images, SomeImages, select
from ..parts.transforms.shared.stored import Stored

Given = str | Path | Sequence[str | Path] | np.ndarray | Sequence[np.ndarray] | Dataset


class Pictures(NamedTuple):
    """Images, each with its name and its class ('' if unknown)."""

    dataset: Dataset
    names: tuple[str, ...]
    classes: tuple[str, ...]
    numbered: bool = False  # whether the names are nothing but numbers

    def take(self, rows: Sequence[int]) -> "Pictures":
        """Those with these numbers, which ascend."""
        kept = np.asarray(rows, np.int64)
        images, labels = select(self.dataset.images, kept), self.dataset.labels[kept]
        names, classes = (tuple(each[row] for row in rows) for each in (self.names, self.classes))
        dataset = replace(self.dataset, images=images, labels=labels, queries=None)
        return Pictures(dataset, names, classes, self.numbered)

    def digests(self) -> tuple[str, ...]:
        """A digest of each image's content: the file's, or else the pixels'."""
        images, rows = self._files()
        if isinstance(images, Files):
            return tuple(map(images.digest, rows))
        return tuple(_digest(np.ascontiguousarray(images[row]).tobytes()) for row in rows)

    def sound(self) -> list[int]:
        """The numbers of all but the damaged images, once they have been read."""
        images, rows = self._files()
        damaged = images.damaged if isinstance(images, Files) else ()
        return [number for number, row in enumerate(rows) if row not in damaged]

    def _files(self) -> tuple[Any, Sequence[int]]:
        """The images, and which of them; the files, if they are files."""
        images = self.dataset.images
        if isinstance(images, SomeImages) and isinstance(images.images, Files):
            return images.images, images.rows.tolist()
        return images, range(len(self.names))


class Files(Images):
    """Image files. Each is read once, for its pixels and for its digest. If they are ``found`` in a folder, a damaged one is not
    the end: it is told, noted in ``damaged``, and black."""

    def __init__(self, paths: Sequence[Path], stored: Stored, found: bool = False):
        fixed = stored.fixed(None)
        super().__init__(len(paths), fixed, fixed)
        self.paths, self.stored, self.found = paths, stored, found
        self._digests: dict[int, str] = {}
        self.damaged: set[int] = set()

    def image(self, row: int) -> np.ndarray:
        content = decoding.content_of(self.paths[row])
        self._digests[row] = _digest(content)
        try:
            return decoding.pixels(content, self.paths[row], self.stored)
        except decoding.Unreadable as problem:
            if not self.found:
                raise
            warn(f"{problem} It is left out.")
            self.damaged.add(row)
            return self.stored.apply(np.zeros((256, 256, 3), np.uint8))

    def digest(self, row: int) -> str:
        """A digest of the file; it is read only if its image has not been asked for yet."""
        if row not in self._digests:
            self._digests[row] = _digest(decoding.content_of(self.paths[row]))
        return self._digests[row]


class Arrays(Images):
    """Pictures in memory, of any sizes, resized as the trial's test images are."""

    def __init__(self, arrays: Sequence[np.ndarray], stored: Stored):
        shapes = {stored.shape(*array.shape[:2]) for array in arrays}
        super().__init__(len(arrays), *(shapes.pop() if len(shapes) == 1 else (None, None)))
        self.arrays = arrays
        self.stored = stored

    def image(self, row: int) -> np.ndarray:
        return self.stored.apply(np.ascontiguousarray(self.arrays[row]))


def read(given: Given, stored: Stored, damaged: bool = False) -> Pictures:
    """``given`` as pictures, to be stored in this way. Of a folder some may be ``damaged``."""
    if isinstance(given, Dataset):
        names = tuple(f"{given.name}/{given.split}/{row}" for row in range(len(given)))
        return Pictures(given, names, tuple(given.class_names[label] for label in given.labels))
    if isinstance(given, (str, Path)):
        root = Path(given)
        return _files(images_in(root), stored, root, damaged and root.is_dir())
    if len(given) and all(isinstance(each, (str, Path)) for each in given):
        return _files([Path(each) for each in given], stored)  # type: ignore[arg-type]
    return _arrays(given, stored)  # type: ignore[arg-type]


def images_in(folder: Path) -> list[Path]:
    """All images in a folder and its subfolders, sorted by name."""
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise UserError(f"there is no file or folder {folder}.")
    walk = Walk(folder, of_classes=False)
    found = walk.below(folder)
    walk.warn()
    if not found:
        raise UserError(f"there are no images in {folder} (known: {', '.join(SUFFIXES)}).")
    return [folder / name for name in found]


def _files(
    paths: Sequence[Path], stored: Stored, root: Path | None = None, damaged: bool = False
) -> Pictures:
    """A file in a folder directly below ``root`` has the class that this folder is named after."""
    if missing := [path for path in paths if not path.is_file()]:
        raise UserError(f"there is no file {printable(missing[0])}.")
    classes = tuple("" if root is None or path.parent in (root, path) else path.parent.name for path in paths)
    return Pictures(_unlabelled("files", Files(paths, stored, damaged)), tuple(map(str, paths)), classes)


def _arrays(arrays: Sequence[np.ndarray], stored: Stored) -> Pictures:
    arrays = [np.asarray(array) for array in arrays]
    for array in arrays:
        if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8:
            raise UserError(
                f"images are files, a data set, or arrays (H, W, 3) of uint8 in RGB; got an array {array.shape} of {array.dtype}."
            )
    if not arrays:
        raise UserError("there are no images to embed.")
    names = tuple(map(str, range(len(arrays))))
    return Pictures(_unlabelled("arrays", Arrays(arrays, stored)), names, ("",) * len(arrays), numbered=True)


def _unlabelled(name: str, images: Images) -> Dataset:
    return Dataset(name, "test", images, np.zeros(len(images), np.int32), ("all",))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
