"""Writing files so that a crash leaves the old one or the new one, never half: beside the target, then renamed."""

from __future__ import annotations

import contextlib
import errno
import glob
import json
import os
import stat
import tempfile
import time
import zipfile
from collections.abc import Container, Iterator
from pathlib import Path
from typing import IO, Any, Optional

import numpy as np

from . import signals
from .errors import UserError

PART = ".part"  # how the name of a file ends that is being written
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
ABANDONED = 3600  # seconds after which such a file is one whose writer was killed


class CannotWrite(UserError):
    """The disk is full, the folder read-only or the like: trouble of the place, not of what was to be written."""


@contextlib.contextmanager
def writing_to(path: str | Path, only: Optional[Container[int]] = None) -> Iterator[None]:
    """Trouble with writing in this block becomes one clear line about ``path``; ``only`` trouble of these numbers."""
    try:
        yield
    except OSError as problem:
        if only is not None and problem.errno not in only:
            raise
        raise CannotWrite(f"cannot write {path}: {problem.strerror or problem}.") from None


@contextlib.contextmanager
def replacing(path: str | Path, mode: str = "w", through: Optional[Path] = None) -> Iterator[IO]:
    """Open a file that takes the place of ``path`` when the block ends well, and vanishes when it does not.

    Until then it is in the folder ``through``, on the same disk; beside ``path`` where nothing is given.
    """
    path = Path(path)
    with writing_to(path):
        file = _open_part(path, mode, through)
    part = Path(file.name)
    try:
        with writing_to(path, only=FULL):
            yield file
        with writing_to(path):
            file.flush()
            os.fsync(file.fileno())
            part.chmod(0o666 & ~_umask())  # a temporary file is private; this one need not be
            part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    finally:
        with contextlib.suppress(OSError):  # what could not be written has been told
            file.close()


def _open_part(path: Path, mode: str, through: Optional[Path]) -> IO:
    if through is None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear_away(path)
    encoding = None if "b" in mode else "utf-8"
    name = {"dir": through or path.parent, "prefix": f".{path.name}.", "suffix": PART}
    return tempfile.NamedTemporaryFile(mode, delete=False, encoding=encoding, **name)  # type: ignore[call-overload]


def _clear_away(path: Path) -> None:
    """Remove what killed writers of this file have left beside it."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*{PART}"):
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > ABANDONED:
                part.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_json(path: str | Path, content: Any, through: Optional[Path] = None) -> None:
    with signals.deferred(), replacing(path, through=through) as file:
        json.dump(content, file, indent=1, allow_nan=False)
        file.write("\n")


LARGEST = 1 << 30  # bytes of a file that is read whole


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to read from. A pipe or a device, which might never end, is an ``OSError``; so is a path that no file can
    have."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # to open a pipe would wait as well
    except ValueError:
        raise OSError(errno.EINVAL, "its name holds a NUL character") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a file")
        yield file


def read_bytes(path: str | Path) -> bytes:
    """All that is in a file, if that is not absurdly much; else an ``OSError``."""
    with opened(path) as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise OSError(errno.EFBIG, f"it is larger than {LARGEST >> 20:,} MB")
    return content


def read_json(path: str | Path) -> Any:
    try:
        return json.loads(read_bytes(path))
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    except (ValueError, RecursionError) as problem:
        raise UserError(f"{path} is not valid JSON: {problem}.") from None


_NAMES, _HEADER = "names.json", "header.json"


def write_arrays(
    path: str | Path, header: Any, arrays: dict[str, np.ndarray], through: Optional[Path] = None
) -> None:
    """Named arrays with a JSON header in one file (NumPy's .npz; nothing in it is ever executed).

    The format has a checksum of each of them, which reading compares, but none of its table of contents: so the names are
    kept as well, in the first place.
    """
    named = {_NAMES: _as_array(list(arrays)), _HEADER: _as_array(header), **arrays}
    # Not np.savez, whose archive stays open on a full disk and complains once more when it is collected.
    with (
        signals.deferred(),
        replacing(path, "wb", through) as file,
        zipfile.ZipFile(file, "w") as archive,
    ):
        for name, array in named.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def _as_array(content: Any) -> np.ndarray:
    return np.frombuffer(json.dumps(content).encode(), np.uint8)


def read_arrays(path: str | Path) -> tuple[Any, dict[str, np.ndarray]]:
    """The header and the arrays that ``write_arrays`` put there; a UserError where any of it is damaged."""
    try:
        with opened(path) as file:
            if file.read(2) != b"PK":
                raise ValueError("it does not begin as an archive does")
            file.seek(0)
            with np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
        header = json.loads(arrays.pop(_HEADER).tobytes())
        names = arrays.pop(_NAMES, None)
        if names is not None and json.loads(names.tobytes()) != list(arrays):
            raise ValueError("some of what it held is missing")
        return header, arrays
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    except Exception as problem:  # a damaged archive raises whatever its damage leads to
        raise UserError(f"{path} is not one of our files, or is damaged: {problem}.") from None
