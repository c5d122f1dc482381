"""Images decoded once: a catalogue's images as one memory-mapped file in the cache.

An entry is named by the content it was made from (names and bytes of the files, boxes) and by how they are stored;
files whose size and time have not changed are not read again for that. Its index holds all of this, and every image
has a checksum. It is complete or absent. If several processes want the same entry, one makes it and the others wait.
"""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ....base import files as written
from ....base.errors import UserError, printable
from ....base.threads import ahead, cores
from ...transforms.shared.stored import Stored
from . import cache, decoding
from .catalogue import Catalogue
from .images import CHECKSUMS, PIXELS, SIZES, Images, Packed, select

INDEX = "index.json"
#: Raise it whenever the same file gives other pixels than before.
GENERATION = 1
#: A disk is not filled to the last byte.
SPARE = 64 << 20
ADVICE = "set DMLPLAYGROUND_CACHE to a writable folder, or decode images each time with the data set's option cache: none"
NAMED = 5  # broken files named in a message


def images(catalogue: Catalogue, stored: Stored) -> Images:
    """The catalogue's images as they are stored, from the cache, or decoded into it now."""
    if catalogue.pool is not None:
        return select(images(catalogue.pool, stored), catalogue.rows)
    index = {  # all that the pixels depend on, as plain values
        "name": catalogue.name,
        "split": catalogue.split,
        "generation": GENERATION,
        "library": decoding.library(catalogue.files[0]),
        **({} if catalogue.size is None else {"size": catalogue.size}),
        "stored": vars(stored),
        "files": list(catalogue.files),
        "content": content(catalogue),
        "boxes": None if catalogue.boxes is None else catalogue.boxes.tolist(),
    }
    entry = folder() / f"{catalogue.name}-{catalogue.split}-{cache.short_digest(index)}"
    found = _open(entry)
    if found is None:
        with written.alone(entry, ADVICE):
            found = _open(entry)  # another process may have made it meanwhile
            return found or _made(entry, index, catalogue, stored)
    return found


def folder() -> Path:
    return cache.folder() / "images"


def entries(name: str) -> Iterator[Path]:
    """The cache's entries of the data set called ``name``."""
    for path in sorted(folder().glob(f"{name}-*-*/{INDEX}")):
        with contextlib.suppress(OSError, ValueError):
            if json.loads(path.read_text(encoding="utf-8"))["name"] == name:
                yield path.parent


def remove_if_damaged(entry: Path) -> bool:
    """Whether any image of the entry was damaged. If so, the entry has been removed and will be made anew."""
    with contextlib.suppress(UserError):  # for the wrong checksum of an image
        if found := _open(entry):
            for row in range(len(found)):
                found.image(row)
            return False
    shutil.rmtree(entry, ignore_errors=True)
    return True


def content(catalogue: Catalogue) -> str:
    """A digest of the bytes of all files, remembered by their names, sizes and times."""

    def digest(row: int) -> bytes:
        path = catalogue.path(row)
        try:
            return hashlib.blake2b(path.read_bytes(), digest_size=16).digest()
        except OSError as problem:
            raise UserError(f"cannot read {printable(path)}: {problem.strerror or problem}.") from None

    def of_all() -> str:
        total = hashlib.blake2b(digest_size=16)
        for one in progress(ahead(digest, range(len(catalogue)), cores()), len(catalogue)):
            total.update(one)
        return total.hexdigest()

    return cache.remembered(f"{catalogue.name}-{catalogue.split}", _looks(catalogue), of_all)


def _looks(catalogue: Catalogue) -> list[tuple[str, int, int]]:
    """Name, size and time of every file."""
    found, missing, folder = [], [], str(catalogue.folder)
    for name in catalogue.files:
        try:
            # Path takes ten times as long, and a large data set has many files.
            status = os.stat(os.path.join(folder, name))  # noqa: PTH116, PTH118
            found.append((name, status.st_size, status.st_mtime_ns))
        except OSError:
            missing.append(name)
    if missing:
        raise UserError(
            f"{len(missing)} of the {len(catalogue)} images of {catalogue.name} ({catalogue.split}) are not "
            f"in {catalogue.folder}, such as {printable(missing[0])}; dmlplayground data verify {catalogue.name} names "
            "them all."
        )
    return found


def _open(entry: Path) -> Packed | None:
    try:
        return Packed(entry)
    except (OSError, ValueError, EOFError, IndexError):
        return None


def _made(entry: Path, index: dict[str, Any], catalogue: Catalogue, stored: Stored) -> Packed:
    shutil.rmtree(entry, ignore_errors=True)  # if it was damaged
    sizes = _sizes(catalogue, stored)
    ends = np.cumsum(sizes.prod(axis=1, dtype=np.int64) * 3)
    total, free = int(ends[-1]), shutil.disk_usage(entry.parent).free
    if total + SPARE > free:
        raise UserError(
            f"the decoded images take {_bytes(total)}, and {entry.parent} has {_bytes(free)} free: set "
            "DMLPLAYGROUND_CACHE to a folder with more room, or decode images each time with the data "
            "set's option cache: none."
        )
    print(
        f"decoding {len(catalogue):,} images of {catalogue.name} ({catalogue.split}), {stored.describe()}, "
        f"once: {_bytes(total)} in {entry}",
        file=sys.stderr,
    )
    try:
        with written.filling(entry) as beside:
            checksums = _decode(beside / PIXELS, catalogue, stored, sizes, ends)
            np.save(beside / SIZES, sizes)
            np.save(beside / CHECKSUMS, checksums)
            (beside / INDEX).write_text(json.dumps(index), encoding="utf-8")
    except OSError as problem:
        raise UserError(f"cannot write the cache {entry}: {problem.strerror or problem}.") from None
    return Packed(entry)


def _sizes(catalogue: Catalogue, stored: Stored) -> np.ndarray:
    """(N, 2) heights and widths, from the files' headers, if they are needed."""
    fixed = stored.fixed(catalogue.size)
    if fixed is not None:
        return np.full((len(catalogue), 2), fixed, np.int32)

    def one(row: int) -> tuple[int, int]:
        try:
            return stored.shape(*decoding.size(catalogue.path(row), catalogue.box(row)))
        except decoding.Unreadable:
            return 0, 0  # reported with all others when it is decoded

    return np.array(list(ahead(one, range(len(catalogue)), cores())), np.int32)


def _decode(
    path: Path, catalogue: Catalogue, stored: Stored, sizes: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """Write all images into one .npy file; returns their checksums."""
    checksums, problems = np.zeros(len(catalogue), np.uint32), []
    live = decoding.Live(catalogue, stored)
    with path.open("wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": (int(ends[-1]),)}
        np.lib.format.write_array_header_1_0(file, header)
        file.flush()
        begin = file.tell()
        file.truncate(begin + int(ends[-1]))

        def one(row: int) -> None:
            try:
                image = np.ascontiguousarray(live.image(row))
            except UserError as problem:
                problems.append(str(problem))
                return
            if image.shape[:2] != tuple(sizes[row]):
                problems.append(f"{printable(catalogue.path(row))} has another size than its header states.")
                return
            checksums[row] = zlib.crc32(image.data)
            if os.pwrite(file.fileno(), image.data, begin + int(ends[row]) - image.nbytes) < image.nbytes:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        for _ in progress(ahead(one, range(len(catalogue)), cores()), len(catalogue)):
            pass
        os.fsync(file.fileno())
    if problems:
        raise UserError(summary(f"{len(problems)} of {len(catalogue)} images cannot be used", problems))
    return checksums


def progress(items: Iterator, total: int, unit: str = "image") -> Iterator:
    """A bar with the time left, on standard error where that is a terminal."""
    from tqdm import tqdm  # imported here, since listings load this file

    return tqdm(items, total=total, unit=unit, delay=1, disable=None)


def summary(what: str, problems: list[str]) -> str:
    rest = f" (and {len(problems) - NAMED} more)" if len(problems) > NAMED else ""
    return f"{what}: " + " ".join(sorted(problems)[:NAMED]) + rest


def _bytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
