"""Arrays that are computed once and then memory-mapped from disk: a folder of ``.npy`` files with their checksums."""

import contextlib
import hashlib
import json
import shutil
import warnings
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ....base import files
from ....base.resources import cache as folder

Arrays = dict[str, np.ndarray]


def arrays(name: str, key: Mapping[str, Any], make: Callable[[], Arrays]) -> Arrays:
    """The arrays that ``make`` returns, read-only, from the cache if it has an entry with this name and key, which holds
    all that they depend on, as plain values. If it cannot be written, they stay in memory, and one warning says so."""
    entry = folder() / f"{name}-{short_digest(key)}"
    with contextlib.ExitStack() as stack:
        if (found := _read(entry)) is None:
            with contextlib.suppress(files.CannotWrite):  # then every process makes them
                stack.enter_context(files.alone(entry, ""))
            found = _read(entry) or _made(entry, make)  # another process may have made them meanwhile
        return found


def short_digest(key: Any) -> str:
    """What names an entry: a digest of everything that it depends on, as plain values."""
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]


def _made(entry: Path, make: Callable[[], Arrays]) -> Arrays:
    made = make()
    for array in made.values():
        array.setflags(write=False)
    try:
        with files.filling(entry) as beside:
            for name, array in made.items():
                np.save(beside / f"{name}.npy", array, allow_pickle=False)
            checksums = {name: _checksum(array) for name, array in made.items()}
            (beside / CHECKSUMS).write_text(json.dumps(checksums), encoding="utf-8")
            checked = (entry / CHECKSUMS).exists()  # old entries have no checksums
            if remove_if_damaged(entry) and checked:
                warnings.warn(f"the cache {entry} was damaged; it has been made anew.", stacklevel=3)
    except OSError as error:
        _say_once(
            f"cannot write to the cache {folder()} ({error.strerror or error}): data sets stay in memory and are "
            "made anew by every process. Set DMLPLAYGROUND_CACHE to a folder that can be written."
        )
    return _read(entry) or made


def content(name: str, key: Mapping[str, Any], make: Callable[[], Any]) -> Any:
    """Plain values that ``make`` returns, kept as ``arrays`` are."""

    def made() -> Arrays:
        return {"json": np.frombuffer(json.dumps(make()).encode(), np.uint8).copy()}

    return json.loads(arrays(name, key, made)["json"].tobytes())


def remembered(name: str, looks: Any, compute: Callable[[], str]) -> str:
    """What ``compute`` says of the content of files, remembered by their names, sizes and times (``looks``)."""
    known = folder() / CONTENTS / f"{name}-{short_digest(looks)}.json"
    with contextlib.suppress(OSError, ValueError, KeyError):
        return json.loads(known.read_text(encoding="utf-8"))["content"]
    content = compute()
    with contextlib.suppress(files.CannotWrite):  # then they are read again next time
        files.write_json(known, {"content": content})
    return content


def look(path: Path) -> tuple[str, int, int]:
    """What changes where a file does: its name, size and time."""
    status = path.stat()
    return str(path.resolve()), status.st_size, status.st_mtime_ns


def digest(path: Path) -> str:
    """The SHA-256 of a large file."""
    return remembered("file", look(path), lambda: files.digest(path))


def entries(name: str) -> list[Path]:
    """The entries that hold arrays of this name."""
    return sorted(path.parent for path in folder().glob(f"{name}-*/{CHECKSUMS}"))


def remove_if_damaged(entry: Path) -> bool:
    """Whether the entry was damaged. If so, it has been removed and will be made anew."""
    damaged = _read(entry) is None
    if damaged:
        shutil.rmtree(entry, ignore_errors=True)
    return damaged


CHECKSUMS = "checksums.json"
CONTENTS = "contents"  # beside the entries: digests of data sets


def _read(entry: Path) -> Arrays | None:
    """The entry's arrays, memory-mapped. None if there is no entry, or it is damaged."""
    try:
        checksums = json.loads((entry / CHECKSUMS).read_text(encoding="utf-8"))
        paths = {name: entry / f"{name}.npy" for name in checksums}
        found = {name: np.load(path, mmap_mode="r", allow_pickle=False) for name, path in paths.items()}
        return found if checksums == {name: _checksum(array) for name, array in found.items()} else None
    except (OSError, ValueError, EOFError, AttributeError):
        return None


def _checksum(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data)


@cache
def _say_once(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=3)
