"""What a folder of images holds: classes, their sizes, image sizes, and what has to be left out."""

import statistics
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from ...base import layout
from ...base.errors import UserError
from ...parts.data import folder as folders
from ...parts.data.shared import decoding
from ...parts.data.shared.catalogue import Entry, is_image
from ...parts.data.shared.preparing import unusable

CLASSES, IMAGES = 6, 2  # the fewest that are needed, and of each class: an image to look for, one to be found
CONVERT = dict.fromkeys((".heic", ".heif"), ": photographs of a telephone; save them as JPEG")
NAMED = 5  # files or classes that a message names


class Look(NamedTuple):
    """What the folder holds."""

    folder: Path
    entries: list[Entry]  # the images that can be used
    sizes: list[tuple[int, int]]  # height and width of every one
    left_out: list[str]  # what cannot be used, and why, in a line for each reason

    @property
    def shorter(self) -> int:
        """The shorter side of the usual image."""
        return int(statistics.median(min(size) for size in self.sizes))

    def describe(self) -> str:
        """A description in a line, with another on classes that are too small."""
        counts = sorted(Counter(entry.label for entry in self.entries).values())
        heights, widths = zip(*self.sizes)
        number = f"{len(self.sizes):,} images of {len(counts):,} classes, {counts[0]} to {counts[-1]} in each"
        smallest, largest = f"{min(widths)} x {min(heights)}", f"{max(widths)} x {max(heights)}"
        pixels = smallest if smallest == largest else f"from {smallest} to {largest}"
        left_out = [f"left out: {reason}" for reason in self.left_out]
        return "\n".join(map(layout.prose, [f"{self.folder}: {number}, {pixels} pixels", *left_out]))


def look(folder: Path) -> Look:
    """Look at every image; a ``UserError`` if they cannot be used for training."""
    if folder.is_file():
        raise UserError(f"{folder} is a file; give a folder that holds one folder of images for each class.")
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}.")
    entries = folders.entries(folder)
    if not entries:
        loose = any(is_image(path) for path in folder.iterdir())
        found = "images, but no folders of classes" if loose else "no images"
        raise UserError(
            f"{folder} holds {found}; put the images of each class into a folder of its own."
            + "".join(f" {reason}." for reason in _others(folder))
        )
    names = [entry.file for entry in entries]
    broken = {problem.partition(" cannot be read")[0]: problem for problem in unusable(folder, names)}
    usable = [entry for entry in entries if entry.file not in broken]
    counts = Counter((entry.label, entry.split == "train") for entry in usable)
    single = {label for (label, _), count in counts.items() if count < IMAGES}
    reasons = _others(folder)
    if broken:
        reasons.append(f"{layout.plural(len(broken), 'damaged image')}: {_some(list(broken.values()))}")
    if single:
        few = f"{layout.plural(len(single), 'class')} with fewer than {IMAGES} images"
        reasons.append(f"{few}: {_some(sorted(single))}")
    usable = [entry for entry in usable if entry.label not in single]
    enough = len({entry.label for entry in usable})
    if enough < CLASSES:
        raise UserError(
            f"{folder} has {layout.plural(enough, 'class')} with at least {IMAGES} images; "
            f"training and testing on different classes needs at least {CLASSES}."
            + "".join(f" Left out: {reason}." for reason in reasons)
        )
    return Look(folder, usable, [decoding.size(folder / entry.file) for entry in usable], reasons)


def _others(folder: Path) -> list[str]:
    """What lies in the folder and is no image that can be read: by its kind, and folders without any image."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    kinds = Counter(path.suffix.lower() or "no ending" for path in files if not is_image(path))
    loose = [path.name for path in folder.iterdir() if is_image(path)]
    filled = {place for path in files if is_image(path) for place in path.parents}
    empty = [path.name for path in sorted(folder.iterdir()) if path.is_dir() and path not in filled]
    said = [
        f"{layout.plural(count, 'file')} of a kind that is not read here ({kind}{CONVERT.get(kind, '')})"
        for kind, count in sorted(kinds.items())
    ]
    if loose:
        said.append(f"{layout.plural(len(loose), 'image')} in no folder of a class: {_some(sorted(loose))}")
    if empty:
        said.append(f"{layout.plural(len(empty), 'folder')} without images: {_some(empty)}")
    return said


def _some(words: list[str]) -> str:
    rest = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return ", ".join(word.rstrip(".") for word in words[:NAMED]) + rest
