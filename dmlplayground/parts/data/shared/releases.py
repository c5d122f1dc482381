"""Data sets as their authors publish them: what belongs to one, and where it is kept on this machine.

A release lives in the folder of its name below the data root: $DMLPLAYGROUND_DATA, else dmlplayground/ in the
user's data folder. ``preparing`` puts it there.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ....base import files
from ....base.errors import UserError
from ....base.threads import ahead, cores
from .catalogue import ROLES, Catalogue, Entry, catalogue


class Archive(NamedTuple):
    """A file of the release."""

    name: str
    url: str = ""
    digest: str = ""  # its MD5, SHA-1 or SHA-256
    otherwise: "Archive | None" = None  # another file that will do if this one cannot be had


class Count(NamedTuple):
    images: int
    classes: int

    def __str__(self) -> str:
        return f"{self.images:,} images of {self.classes:,} classes"


class Layout(NamedTuple):
    """One layout in which a data set's files circulate."""

    title: str
    markers: tuple[str, ...]  # files or folders, any of which a folder of this layout is known by
    read: Callable[[Path], list[Entry]]  # lists its images with their splits


@dataclass(frozen=True)
class Release:
    """What a data set's authors publish, and how to read it in each layout that it is found in."""

    name: str
    title: str
    layouts: tuple[Layout, ...]
    counts: Mapping[str, Count]  # by split
    archives: tuple[Archive, ...]
    advice: str  # where to get the files
    content: str = ""  # the ``checksum`` of all images, if it is known
    finish: Callable[[Path], None] | None = None  # makes the images where the archives hold something else
    works: tuple[tuple[str, str, str, int], ...] = ()  # those of others in it: title, author, licence, images

    def files(self) -> list[Archive]:
        """Every file that can serve."""
        return [one for archive in self.archives for one in (archive, archive.otherwise) if one]

    def find(self, folder: Path) -> Path | None:
        """The release's folder: this one, or one in it."""
        if not folder.is_dir():
            return None
        inside = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
        return next((place for place in (folder, *inside) if self.layout(place)), None)

    def layout(self, folder: Path) -> Layout | None:
        """The first known layout of which the folder has a marker."""
        known = (one for one in self.layouts if any((folder / marker).exists() for marker in one.markers))
        return next(known, None)

    def locate(self, root: str) -> Path:
        """The release's folder on this machine, or a UserError that says how to get it."""
        base = data_root(root)
        found = self.find(base / self.name) or self.find(base)
        if found is None:
            files = " ".join(archive.name for archive in self.archives)
            first = f"dmlplayground data fetch {self.name}, or " if any(a.url for a in self.archives) else ""
            raise UserError(
                f"{self.name} is not in {base / self.name}. Prepare it once with: {first}dmlplayground data "
                f"prepare {self.name} --from {files} (or the folder they were unpacked to). {self.advice}"
            )
        return found

    def entries(self, folder: Path, partial: bool = False) -> list[Entry]:
        """The images that the release lists; if it is incomplete, those that are there."""
        layout = self.layout(folder)
        assert layout is not None, folder
        try:
            listed = layout.read(folder)
        except (OSError, ValueError, KeyError, IndexError) as problem:
            raise UserError(
                f"{folder} looks like {self.name} ({layout.title}), but cannot be read: {problem}."
            ) from None
        return [entry for entry in listed if (folder / entry.file).is_file()] if partial else listed

    def miscounted(self, entries: Sequence[Entry]) -> list[str]:
        """The splits whose number of entries is not the published one."""
        return [
            f"{split}: {found}, and the release has {self.counts[split]}"
            for split, found in counts(entries).items()
            if split in self.counts and found != self.counts[split]
        ]

    def catalogue(
        self,
        split: str,
        *,
        root: str = "",
        partial: bool = False,
        cache: Literal["disk", "none"] = "disk",
        divided: Callable[[list[Entry]], list[Entry]] = list,
        **more: Any,
    ) -> Catalogue:
        """One split as it is on this machine, or ``divided`` otherwise than its authors do. Counts other than the published ones
        are only accepted with ``partial``. What comes before ``divided`` are options of every data set that is a release."""
        folder = self.locate(root)
        entries = self.entries(folder, partial)
        miscounted = self.miscounted(entries)
        if miscounted and not partial:
            raise UserError(
                f"{folder} is not a complete {self.name} ({'; '.join(miscounted)}). Set the data set's "
                "option partial: true to use it as it is; the record will say so."
            )
        return catalogue(self.name, split, folder, divided(entries), cached=cache == "disk", **more)


def checksum(folder: Path, entries: Sequence[Entry]) -> str:
    """The SHA-256 of the list of all images, each with its own SHA-256 and its class."""

    def line(entry: Entry) -> str:
        return f"{files.digest(folder / entry.file)} {entry.label} {entry.file}\n"

    by_name = sorted(entries, key=lambda entry: entry.file)
    return hashlib.sha256("".join(ahead(line, by_name, cores())).encode()).hexdigest()


def data_root(root: str = "") -> Path:
    """The folder that data sets live in: the one given, or the user's own."""
    if chosen := root or os.environ.get("DMLPLAYGROUND_DATA"):
        return files.expanded(chosen)
    return files.expanded(os.environ.get("XDG_DATA_HOME") or "~/.local/share") / "dmlplayground"


def counts(entries: Sequence[Entry]) -> dict[str, Count]:
    """How many images and classes each split has; train and test always have a line."""
    images = Counter(entry.split for entry in entries)
    classes = Counter(split for split, _ in {(entry.split, entry.label) for entry in entries})
    tested = [split for split in ROLES["test"] if images[split]] or ["test"]
    return {split: Count(images[split], classes[split]) for split in ("train", *tested)}
