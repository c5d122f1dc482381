"""Data sets as their authors publish them: where they are on this machine, and how they get there.

A release lives in the folder of its name below the data root: $DMLPLAYGROUND_DATA, else dmlplayground/ in the
user's data folder. ``prepare`` puts it there, unpacked from archives, or as a link to a folder that holds it
already.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .. import download
from ..errors import UserError
from ..transforms.stored import Stored
from . import archives, decoding
from .catalogue import ROLES, Catalogue, Entry, catalogue
from .decoded_cache import progress, summary
from .threads import ahead, cores


class Archive(NamedTuple):
    """A file of the release; ``digest`` (MD5, SHA-1 or SHA-256) where it is known, ``url`` where one is."""

    name: str
    url: str = ""
    digest: str = ""


class Count(NamedTuple):
    images: int
    classes: int

    def __str__(self) -> str:
        return f"{self.images:,} images of {self.classes:,} classes"


class Layout(NamedTuple):
    """One way in which a data set's files circulate. A folder is known by any of the ``markers``, files or folders in it;
    ``read`` lists its images with their splits."""

    title: str
    markers: tuple[str, ...]
    read: Callable[[Path], list[Entry]]


@dataclass(frozen=True)
class Release:
    """What a data set's authors publish, and how to read it in each layout that it is found in.

    ``counts`` says how many images belong to each split; ``advice`` says where the files are to be had.
    """

    name: str
    title: str
    layouts: tuple[Layout, ...]
    counts: Mapping[str, Count]
    archives: tuple[Archive, ...]
    advice: str

    def find(self, folder: Path) -> Path | None:
        """The release's folder: this one, or one in it."""
        if not folder.is_dir():
            return None
        inside = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
        return next((place for place in (folder, *inside) if self.layout(place)), None)

    def layout(self, folder: Path) -> Layout | None:
        """The first of the known layouts that the folder has a mark of."""
        for layout in self.layouts:
            if any((folder / marker).exists() for marker in layout.markers):
                return layout
        return None

    def locate(self, root: str) -> Path:
        """The release's folder on this machine, or a UserError that says how to come by it."""
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
        """The images that the release lists; of a part of it, those that are there."""
        layout = self.layout(folder)
        assert layout is not None, folder
        try:
            listed = layout.read(folder)
        except (OSError, ValueError, KeyError, IndexError, UnicodeDecodeError) as problem:
            raise UserError(
                f"{folder} looks like {self.name} ({layout.title}), but cannot be read: {problem}."
            ) from None
        return [entry for entry in listed if (folder / entry.file).is_file()] if partial else listed

    def miscounted(self, entries: Sequence[Entry]) -> list[str]:
        """Where the entries are not as many as were published, split by split."""
        return [
            f"{split}: {found}, and the release has {self.counts[split]}"
            for split, found in counts(entries).items()
            if split in self.counts and found != self.counts[split]
        ]

    def catalogue(self, split: str, *, root: str, boxes: bool, cache: str, partial: bool) -> Catalogue:
        """One split as it is on this machine; only ``partial`` accepts other counts than the published
        ones."""
        folder = self.locate(root)
        entries = self.entries(folder, partial)
        miscounted = self.miscounted(entries)
        if miscounted and not partial:
            raise UserError(
                f"{folder} is not the whole of {self.name} ({'; '.join(miscounted)}). Set the data set's "
                "option partial: true to use it as it is; the record will say so."
            )
        return catalogue(self.name, split, folder, entries, boxes=boxes, cached=cache == "disk")


def data_root(root: str = "") -> Path:
    """The folder that data sets live in: the one given, or the user's own."""
    chosen = root or os.environ.get("DMLPLAYGROUND_DATA")
    if chosen:
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "dmlplayground"


def counts(entries: Sequence[Entry]) -> dict[str, Count]:
    """How many images and classes each split has; train and test always have a line."""
    images = Counter(entry.split for entry in entries)
    classes = Counter(split for split, _ in {(entry.split, entry.label) for entry in entries})
    tested = [split for split in ROLES["test"] if images[split]] or ["test"]
    return {split: Count(images[split], classes[split]) for split in ("train", *tested)}


# --- making it so -----------------------------------------------------------------------------------------


def prepare(release: Release, sources: Sequence[Path], root: str = "", allow_partial: bool = False) -> str:
    """Put the release in its place from archives or folders, checked; says what is there now. Doing it again
    changes nothing; where anything is wrong nothing is left behind, and what was there is not touched."""
    home = data_root(root) / release.name
    ours = home.exists() and not home.is_symlink()
    if _whole(release, home, allow_partial) or (ours and allow_partial and release.find(home) is not None):
        return f"{release.name} is already prepared: {_told(release, home)}"
    if ours:
        raise UserError(f"{home} is there already, and not all of {release.name}; move it away first.")
    for source in sources:
        if not source.exists():
            raise UserError(f"there is no {source}.")
    beside = home.with_name(f".{release.name}-{uuid.uuid4().hex}")
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        _gather(release, sources, beside)
        found = release.find(beside)
        if found is None:
            raise UserError(
                f"{', '.join(map(str, sources))} holds none of the layouts that {release.name} is known in: "
                + "; ".join(f"{layout.title} has {' or '.join(layout.markers)}" for layout in release.layouts)
                + f". {release.advice}"
            )
        wrong = problems(release, found, allow_partial)
        if wrong:
            hint = "" if allow_partial else " (--allow-partial accepts a part of it)"
            raise UserError(summary(f"{release.name} is not whole and was not prepared{hint}", wrong))
        home.unlink(missing_ok=True)  # a link
        beside.rename(home)
    except OSError as problem:
        raise UserError(f"cannot write to {home.parent}: {problem.strerror or problem}.") from None
    finally:
        if beside.is_symlink():
            beside.unlink()
        shutil.rmtree(beside, ignore_errors=True)
    return f"{release.name} is prepared: {_told(release, home)}"


def _whole(release: Release, place: Path, allow_partial: bool) -> bool:
    """Whether every image that is listed there is there, and they are as many as were published."""
    folder = release.find(place)
    if folder is None:
        return False
    entries = release.entries(folder)
    counted = allow_partial or not release.miscounted(entries)
    return counted and all((folder / entry.file).is_file() for entry in entries)


def _gather(release: Release, sources: Sequence[Path], folder: Path) -> None:
    """The release's files in one folder: a link to where they are, or unpacked from archives and copied."""
    if len(sources) == 1 and sources[0].is_dir():
        packed = [path for name in release.archives if (path := sources[0] / name.name).is_file()]
        if not packed or _whole(release, sources[0], allow_partial=True):
            folder.symlink_to(sources[0].resolve(), target_is_directory=True)
            return
        sources = packed
    folder.mkdir()
    known = {archive.name: archive.digest for archive in release.archives}
    for source in sources:
        digest = known.get(source.name)
        if digest and not download.agrees(source, digest):
            raise UserError(f"{source} is not the published file, or is damaged (wrong checksum).")
        if source.is_dir():
            raise UserError(
                f"{source} is a folder; give one folder that holds all of {release.name}, or files."
            )
        if archives.is_archive(source):
            archives.unpack(source, folder)
        else:
            shutil.copy(source, folder / source.name)


def problems(release: Release, folder: Path, allow_partial: bool) -> list[str]:
    """All that is wrong with the release in this folder: other counts, and files missing or unreadable."""
    entries = release.entries(folder, allow_partial)
    found = [] if allow_partial else [f"{line}." for line in release.miscounted(entries)]
    if not entries:
        found.append(f"{folder} has none of its images.")
    return found + unusable(folder, [entry.file for entry in entries])


def unusable(folder: Path, files: Sequence[str]) -> list[str]:
    """What is wrong with these files: every one is decoded."""

    def look(file: str) -> str | None:
        path = folder / file
        if not path.is_file():
            return f"{file} is missing."
        try:
            decoding.read(path, Stored("none"))
        except decoding.Unreadable as problem:
            return f"{file} cannot be read: {problem.reason}."
        return None

    looked = progress(ahead(look, files, cores()), len(files))
    return [problem for problem in looked if problem]


def fetch(release: Release, root: str = "") -> str:
    """Download what has an address, prepare it, and say what is there now."""
    home = data_root(root) / release.name
    if _whole(release, home, allow_partial=False):
        return prepare(release, [], root)
    if not all(archive.url for archive in release.archives):
        raise UserError(
            f"{release.name} has no public address to fetch it from. {release.advice} Then run: "
            f"dmlplayground data prepare {release.name} --from "
            f"{' '.join(archive.name for archive in release.archives)}"
        )
    downloads = home.with_name("downloads")
    return prepare(release, [_fetched(archive, downloads, release) for archive in release.archives], root)


def _fetched(archive: Archive, folder: Path, release: Release) -> Path:
    target = folder / archive.name
    partial = folder / f"{archive.name}.part"
    if not target.exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            download.fetch(archive.url, partial, archive.digest)
        except download.ERRORS as problem:
            raise UserError(
                f"cannot download {archive.url} ({download.reason(problem)}); what has come is kept, and the "
                f"same command goes on from there. {release.advice} Then run: dmlplayground data prepare "
                f"{release.name} --from {archive.name}"
            ) from None
        if archive.digest and not download.agrees(partial, archive.digest):
            partial.unlink()
            raise UserError(
                f"what came from {archive.url} is not what was published (wrong checksum); try again."
            )
        partial.replace(target)
    return target


def _told(release: Release, home: Path) -> str:
    folder = release.find(home)
    assert folder is not None
    listed, present = release.entries(folder), release.entries(folder, partial=True)
    layout = release.layout(folder)
    assert layout is not None
    lines = ", ".join(f"{split} {count}" for split, count in counts(present).items())
    rest = f"; {len(listed) - len(present):,} images that it lists are not there" if present != listed else ""
    return f"{layout.title}, {len(present):,} images: {lines}, in {folder}{rest}"
