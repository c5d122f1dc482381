"""Installing a published data set from archives, from folders or from the web: checked, and complete or not at all.
Checking all of any data set later: whether every file exists and can be read, and whether its cache is undamaged."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ....base import download, files
from ....base.errors import UserError, printable
from ....base.threads import ahead, cores
from ...transforms.shared.stored import Stored
from .. import SPLITS, catalogue, get, load
from . import archives, cache, decoded_cache, decoding
from .releases import Archive, Release, checksum, counts, data_root


def prepare(release: Release, sources: Sequence[Path], root: str = "", allow_partial: bool = False) -> str:
    """Install the release from archives or folders, with checks. Returns a description of it. Doing it again changes
    nothing. If anything is wrong, nothing is left behind, and what was there is not touched."""
    home = data_root(root) / release.name
    ours = home.exists() and not home.is_symlink()
    if _whole(release, home, allow_partial) or (ours and allow_partial and release.find(home) is not None):
        return f"{release.name} is already prepared: {_summary(release, home)}"
    if ours:
        raise UserError(f"{home} exists but is not a complete {release.name}; rename or delete it first.")
    for source in sources:
        if not source.exists():
            raise UserError(f"there is no file or folder {source}.")
    folder = sources[0] if len(sources) == 1 and sources[0].is_dir() else None
    packed = [path for one in release.files() if folder and (path := folder / one.name).is_file()]
    try:
        if folder and (not packed or _whole(release, folder, allow_partial=True)):
            _require_whole(release, folder, sources, allow_partial)
            home.parent.mkdir(parents=True, exist_ok=True)
            home.unlink(missing_ok=True)  # a link
            home.symlink_to(folder.resolve(), target_is_directory=True)
        else:
            with files.filling(home) as beside:
                _gather(release, packed or sources, beside)
                if release.finish is not None:
                    release.finish(beside)
                _require_whole(release, beside, sources, allow_partial)
                home.unlink(missing_ok=True)
    except OSError as problem:
        raise UserError(f"cannot write to {home.parent}: {problem.strerror or problem}.") from None
    return f"{release.name} is prepared: {_summary(release, home)}"


def _require_whole(release: Release, place: Path, sources: Sequence[Path], allow_partial: bool) -> None:
    found = release.find(place)
    if found is None:
        known = (f"{layout.title} has {' or '.join(layout.markers)}" for layout in release.layouts)
        raise UserError(
            f"{', '.join(map(str, sources))} is not in any known layout of {release.name}: {'; '.join(known)}. "
            f"{release.advice}"
        )
    wrong = problems(release, found, allow_partial)
    if wrong:
        hint = "" if allow_partial else " (--allow-partial accepts an incomplete one)"
        raise UserError(
            decoded_cache.summary(f"{release.name} is incomplete and was not prepared{hint}", wrong)
        )


def _whole(release: Release, place: Path, allow_partial: bool) -> bool:
    """Whether every listed image exists, and their number is the published one."""
    folder = release.find(place)
    if folder is None:
        return False
    entries = release.entries(folder)
    counted = allow_partial or not release.miscounted(entries)
    return counted and all((folder / entry.file).is_file() for entry in entries)


def _gather(release: Release, sources: Sequence[Path], folder: Path) -> None:
    """Unpack the release's archives, and copy its other files, into one folder."""
    known = {archive.name: archive.digest for archive in release.files()}
    for source in sources:
        digest = known.get(source.name)
        if digest and not files.agrees(source, digest):
            raise UserError(f"{source} is not the published file, or is damaged (wrong checksum).")
        if source.is_dir():
            raise UserError(f"{source} is a folder; give one folder with all of {release.name}, or files.")
        if archives.is_archive(source):
            archives.unpack(source, folder)
        else:
            shutil.copy(source, folder / source.name)


def problems(release: Release, folder: Path, allow_partial: bool) -> list[str]:
    """Everything that is wrong with the release in this folder: wrong counts, and missing or unreadable files."""
    entries = release.entries(folder, allow_partial)
    found = [] if allow_partial else [f"{line}." for line in release.miscounted(entries)]
    if not entries:
        found.append(f"{folder} has none of its images.")
    if release.content and not found and checksum(folder, entries) == release.content:
        return []  # these very files have been decoded before
    return found + unusable(folder, [entry.file for entry in entries])


def unusable(folder: Path, names: Sequence[str]) -> list[str]:
    """What is wrong with these files: every one is decoded."""

    def look(name: str) -> str | None:
        path = folder / name
        if not path.is_file():
            return f"{printable(name)} is missing."
        try:
            decoding.read(path, Stored("none"))
        except decoding.Unreadable as problem:
            return f"{printable(name)} cannot be read: {problem.reason}."
        return None

    return [*filter(None, decoded_cache.progress(ahead(look, names, cores()), len(names)))]


def fetch(release: Release, root: str = "") -> str:
    """Download what has an address, and prepare it. Returns a description of it."""
    home = data_root(root) / release.name
    if _whole(release, home, allow_partial=False):
        return prepare(release, [], root)
    if not all(archive.url for archive in release.archives):
        raise UserError(
            f"{release.name} has no public address to fetch it from. {_by_hand(release, *release.archives)}"
        )
    downloads = home.with_name("downloads")
    return prepare(release, [_fetched(archive, downloads, release) for archive in release.archives], root)


def _by_hand(release: Release, *archives: Archive) -> str:
    names = " ".join(archive.name for archive in archives)
    return f"{release.advice} Then run: dmlplayground data prepare {release.name} --from {names}"


def _fetched(archive: Archive, folder: Path, release: Release) -> Path:
    target = folder / archive.name
    if target.exists():
        return target
    try:
        download.fetch(archive.url, target, archive.digest)
    except (download.Failed, OSError) as problem:
        failed = f"cannot download {archive.url} ({problem})"
        if archive.otherwise is None:
            kept = "what has arrived is kept, and the same command continues from there."
            raise UserError(f"{failed}; {kept} {_by_hand(release, archive)}") from None
        print(f"{failed}; trying {archive.otherwise.url}", file=sys.stderr)
        return _fetched(archive.otherwise, folder, release)
    return target


def _summary(release: Release, home: Path) -> str:
    folder = release.find(home)
    layout = folder and release.layout(folder)
    assert folder is not None and layout
    listed, present = release.entries(folder), release.entries(folder, partial=True)
    lines = ", ".join(f"{split} {count}" for split, count in counts(present).items())
    rest = f"; {len(listed) - len(present):,} images that it lists are not there" if present != listed else ""
    return f"{layout.title}, {len(present):,} images: {lines}, in {folder}{rest}"


def verify(name: str, **options: Any) -> tuple[list[str], list[str]]:
    """What was checked, and what is wrong with it; a ``UserError`` if there is nothing to check, or if a set that is one file
    cannot be used. Damaged cache entries are removed and will be made anew."""
    part = get(name)
    part.fill(options, "data set")
    of_images = "cache" in part.options
    of_one_file = not of_images and not {"path", "of"}.isdisjoint(part.options)
    lines, wrong = [], []
    release, published = part.release, None  # whether all images are those whose checksum is known
    if release and release.content and not options.get("partial"):
        folder = release.locate(options.get("root", ""))
        published = checksum(folder, release.entries(folder, partial=True)) == release.content
    if published:
        lines.append(f"{name}: the content of all images is the published one")
    elif published is False:
        wrong.append(f"the images of {name} are not all those that were published.")
    for split in SPLITS if of_images else ():
        listed = catalogue(name, split, **options)
        held = f"{len(listed):,} images of {len(listed.class_names):,} classes"
        lines.append(f"{name} ({split}): {held} in {listed.folder}")
        wrong += [] if published else unusable(listed.folder, listed.files)
    if of_one_file:  # loading it checks all of it
        lines += [load(name, split, **options).describe() for split in SPLITS]
    elif not of_images:
        lines.append(f"{name} is made, not read from image files: only its cache can be verified")
    home = decoded_cache if of_images else cache
    for entry in home.entries(name):
        damaged = home.remove_if_damaged(entry)
        lines.append(f"cache {entry}: {'damaged' if damaged else 'whole'}")
        if damaged:
            wrong.append(f"the cache entry {entry} was damaged; it has been removed and will be made anew.")
    return lines, wrong
