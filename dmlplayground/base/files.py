"""Files that are written beside their place and then renamed, so that a crash leaves the old or the new one whole."""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import IO, Any

from . import processes, signals
from .errors import UserError

PART = ".part"  # the ending of a file that is being written
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_HALF = re.compile(rf"\..+\.({processes.MARK.pattern})\.\w+\.part")
ABANDONED = 3600  # seconds without a change after which a writer that cannot be seen must have been killed


class CannotWrite(UserError):
    """Errors such as a full disk or a read-only folder: the place is at fault, not the content."""


@contextlib.contextmanager
def writing_to(path: str | Path, only: Container[int] | None = None) -> Iterator[None]:
    """Errors of writing in this block (with ``only``, those with these numbers) become one clear line about ``path``."""
    try:
        yield
    except OSError as problem:
        if only is not None and problem.errno not in only:
            raise
        raise CannotWrite(f"cannot write {path}: {problem.strerror or problem}.") from None


@contextlib.contextmanager
def replacing(path: str | Path, mode: str = "w", through: Path | None = None) -> Iterator[IO]:
    """Open a file that replaces ``path`` if the block succeeds, and is removed if it fails. Until then it is in the
    folder ``through``, on the same disk, or beside ``path``."""
    path = Path(path)
    with writing_to(path):
        if through is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            _clear_away(path.parent)
        encoding = None if "b" in mode else "utf-8"
        name: dict[str, Any] = {"dir": through or path.parent, "prefix": _prefix(path), "suffix": PART}
        file = tempfile.NamedTemporaryFile(mode, delete=False, encoding=encoding, **name)  # noqa: SIM115
    part = Path(file.name)
    try:
        with writing_to(path, only=FULL):
            yield file
        with writing_to(path):
            file.flush()
            os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            part.chmod(0o666 & ~mask)  # a temporary file is private; this one need not be
            part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    finally:
        with contextlib.suppress(OSError):  # the error has been reported already
            file.close()


@contextlib.contextmanager
def replacing_all() -> Iterator[Callable[..., IO]]:
    """Gives what opens several files as ``replacing`` does; they take their places when all are written, or none does."""
    begun: list[tuple[str | Path, IO]] = []

    def written() -> None:
        for path, file in begun:
            with writing_to(path):
                file.flush()

    with contextlib.ExitStack() as stack:

        def begin(path: str | Path, mode: str = "w") -> IO:
            written()
            file = stack.enter_context(replacing(path, mode))
            begun.append((path, file))
            return file

        yield begin
        written()


def _prefix(path: Path) -> str:
    """Of what is made beside a path by this process; no name may be longer than 255 bytes."""
    return f".{path.name[:40]}.{processes.mark()}."


def abandoned(folder: Path) -> Iterator[Path]:
    """What killed processes have left half written in a folder: files and folders. What another machine's process writes
    counts as abandoned after an hour without a change."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            found = _HALF.fullmatch(entry.name)
            if found is None or (over := processes.ended(found[1])) is False:
                continue
            path, before = Path(entry.path), time.time() - ABANDONED
            if over or all(one.lstat().st_mtime < before for one in (path, *path.rglob("*"))):
                yield path


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that it holds, if that is possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _clear_away(folder: Path) -> None:
    for left in list(abandoned(folder)):
        remove(left)


@contextlib.contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """A new folder to fill, which becomes ``folder`` if the block succeeds, and is removed if it fails. If several
    processes fill the same folder, the first to finish wins, and the work of the others is discarded."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _clear_away(folder.parent)
    beside = folder.with_name(f"{_prefix(folder)}{secrets.token_hex(8)}{PART}")
    beside.mkdir()
    try:
        yield beside
        beside.rename(folder)
    except OSError as problem:
        if problem.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@contextlib.contextmanager
def alone(path: Path, advice: str) -> Iterator[None]:
    """One process of this machine at a time enters this block, by a lock beside ``path``; ``advice`` ends the message if
    nothing can be written there. (Trials have other locks: ``store.locks`` also works on shared folders.)"""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f".{path.name}.lock").open("w")
    except OSError as problem:
        raise CannotWrite(f"cannot write to {path.parent} ({problem.strerror}): {advice}.") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another process that is making {path}", file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            pass  # a file system without locks: every process makes it
        yield


def free_lock(lock: Path) -> bool:
    """Whether nobody is in a block that ``alone`` keeps to one, by its lock."""
    try:
        with lock.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def write_json(path: str | Path, content: Any, through: Path | None = None) -> None:
    with signals.deferred(), replacing(path, through=through) as file:
        dump_json(content, file)


def dump_json(content: Any, file: IO[str]) -> None:
    json.dump(content, file, indent=1, allow_nan=False)
    file.write("\n")


def expanded(path: str | Path) -> Path:
    """The path, in which ``~`` and ``~name`` stand for somebody's home."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise UserError(f"{path}: there is no such user, or no home is known.") from None


def copy(source: IO[bytes], target: IO[bytes], most: int) -> int:
    """Copy, and return the number of bytes; it stops once there are more than ``most``: stated sizes may be wrong."""
    copied = 0
    while copied <= most and (chunk := source.read(1 << 20)):
        target.write(chunk)
        copied += len(chunk)
    return copied


LARGEST = 1 << 30  # the most bytes of a file that is read whole


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to read. A pipe or a device, which might never end, is an ``OSError``, and so is an impossible path."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # opening a pipe would wait as well
    except ValueError:
        raise OSError(errno.EINVAL, "its name holds a NUL character") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a file")
        yield file


def read_bytes(path: str | Path) -> bytes:
    """The content of a file; an ``OSError`` if it is absurdly large."""
    with opened(path) as file:
        if os.fstat(file.fileno()).st_size > LARGEST:
            raise OSError(errno.EFBIG, f"it is larger than {LARGEST >> 20:,} MB")
        return file.read()


def read_json(path: str | Path) -> Any:
    try:
        return json.loads(read_bytes(path))
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    except (ValueError, RecursionError) as problem:
        raise UserError(f"{path} is not valid JSON: {problem}.") from None


_ALGORITHMS = {8: "sha256", 32: "md5", 40: "sha1", 64: "sha256"}  # by the length of a checksum


def digest(path: Path, algorithm: str = "sha256") -> str:
    """The file's SHA-256, SHA-1 or MD5."""
    found = hashlib.new(algorithm)
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            found.update(chunk)
    return found.hexdigest()


def agrees(path: Path, checksum: str) -> bool:
    """Whether the file has this checksum: a SHA-256, the first eight digits of one, a SHA-1 or an MD5, by its length."""
    return digest(path, _ALGORITHMS[len(checksum)]).startswith(checksum)
