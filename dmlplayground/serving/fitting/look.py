"""What a folder of images holds: classes, their sizes, image sizes, and files that cannot be read."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ...base import layout
from ...base.errors import UserError
from ...parts.data import folder as folders
from ...parts.data.shared import decoding
from ...parts.data.shared.catalogue import is_image
from ...parts.data.shared.preparing import unusable

CLASSES, IMAGES = 6, 3  # the fewest classes needed, and the fewest images of each
NAMED = 5  # broken files that a message names


@dataclass(frozen=True)
class Look:
    """What the folder holds."""

    folder: Path
    counts: dict[str, int]  # images, by class
    sizes: list[tuple[int, int]]  # height and width of every image
    train_classes: int = 0  # if the folder itself says which are for training

    @property
    def shorter(self) -> int:
        """The shorter side of the usual image."""
        return int(statistics.median(min(size) for size in self.sizes))

    def describe(self) -> str:
        """A description in a line, with another on classes that are too small."""
        counts, (heights, widths) = sorted(self.counts.values()), zip(*self.sizes)
        number = f"{len(self.sizes):,} images of {len(counts):,} classes, {counts[0]} to {counts[-1]} in each"
        smallest, largest = f"{min(widths)} x {min(heights)}", f"{max(widths)} x {max(heights)}"
        pixels = smallest if smallest == largest else f"from {smallest} to {largest}"
        few = [name for name, count in self.counts.items() if count < IMAGES]
        note = (
            [f"note: classes with fewer than {IMAGES} images contribute little: {_some(few)}"] if few else []
        )
        return "\n".join(map(layout.prose, [f"{self.folder}: {number}, {pixels} pixels", *note]))


def look(folder: Path) -> Look:
    """Look at every image; a ``UserError`` if they cannot be used for training."""
    if folder.is_file():
        raise UserError(f"{folder} is a file; give a folder that holds one folder of images for each class.")
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}.")
    entries = folders.entries(folder)
    counts = Counter(entry.label for entry in entries)
    _check(folder, counts)
    files = [entry.file for entry in entries]
    if broken := unusable(folder, files):
        raise UserError(
            f"{len(broken)} of {len(files):,} images cannot be used; repair or remove them: {_some(broken)}"
        )
    train = {entry.label for entry in entries if entry.split == "train"}
    return Look(folder, dict(counts), [decoding.size(folder / file) for file in files], len(train))


def _check(folder: Path, counts: Counter[str]) -> None:
    if not counts:
        loose = any(is_image(path) for path in folder.iterdir())
        found = "images, but no folders of classes" if loose else "no images"
        raise UserError(f"{folder} holds {found}; put the images of each class into a folder of its own.")
    enough = sum(count >= IMAGES for count in counts.values())
    if enough < CLASSES:
        raise UserError(
            f"{folder} has {enough} {'class' if enough == 1 else 'classes'} with at least {IMAGES} images; "
            f"training and testing on different classes needs at least {CLASSES}."
        )


def _some(words: list[str]) -> str:
    rest = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return " ".join(words[:NAMED]) + rest
