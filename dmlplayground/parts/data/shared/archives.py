"""Unpacking archives from elsewhere: plain files and folders alone, inside the given folder, and no more than images take."""

import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from ....base import download, files
from ....base.errors import UserError, printable

MOST_FILES = 5_000_000
#: The name, the kind ('file', 'folder', or the name of what is refused), and a file's content.
Member = tuple[str, str, IO[bytes] | None]


def is_archive(path: Path) -> bool:
    return path.is_file() and (zipfile.is_zipfile(path) or tarfile.is_tarfile(path))


def unpack(archive: Path, folder: Path) -> int:
    """Write the archive's files below the folder. Returns their number; a UserError for anything that is refused."""
    count, room = 0, download.room(archive)
    try:
        members = _of_zip(archive) if zipfile.is_zipfile(archive) else _of_tar(archive)
        for name, kind, content in members:
            target = folder.joinpath(*_parts(name, archive))
            if kind == "folder":
                target.mkdir(parents=True, exist_ok=True)
            elif content is None:
                raise UserError(
                    f"{archive} holds {kind} ({printable(name)}); a data set does not need one, so it is not unpacked."
                )
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                with content as source, target.open("wb") as file:
                    room -= files.copy(source, file, room)
                count += 1
            if room < 0 or count > MOST_FILES:
                raise UserError(f"{archive} would unpack to far more than a data set; it is not unpacked.")
    except download.BROKEN as problem:
        raise UserError(f"cannot unpack {archive}: {problem}.") from None
    return count


def _parts(name: str, archive: Path) -> tuple[str, ...]:
    """The parts of a member's path, after checking that it cannot lead out of the folder on any system."""
    path = PurePosixPath(name)
    strange = path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or ":" in name
    if strange or not name.strip("/"):
        raise UserError(
            f"{archive} holds the path {name!r}, which leads out of its folder; it is not unpacked."
        )
    return path.parts


def _of_tar(archive: Path) -> Iterator[Member]:
    with tarfile.open(archive) as opened:
        for info in opened:
            link = info.issym() or info.islnk()
            kind = "folder" if info.isdir() else "a link" if link else "a device or pipe"
            yield (info.name, "file", opened.extractfile(info)) if info.isreg() else (info.name, kind, None)
        while opened.fileobj.read(1 << 20):
            pass  # tarfile takes a garbled header for the end; the checksum comes last


def _of_zip(archive: Path) -> Iterator[Member]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            mode = stat.S_IFMT(info.external_attr >> 16)
            kind = "folder" if info.is_dir() else "a link" if mode == stat.S_IFLNK else "a device or pipe"
            plain = not info.is_dir() and mode in (0, stat.S_IFREG)
            yield (info.filename, "file", opened.open(info)) if plain else (info.filename, kind, None)
