"""Locks: they decide which process trains a trial, through files in the trial's folder, on one machine or on many.

A lock is a file, ``lock-1``, that only one process can create. Its owner moves the file's time stamp every few
seconds. Others never compare it with a clock, as clocks jump and disagree: they watch it change. If it stands still
for ``STALE`` seconds, its owner counts as dead; on the owner's own machine, a process that has ended is noticed at
once. A dead lock is not removed, which two could do at a time, but succeeded by ``lock-2``, which again only one
process can create. An owner that finds a successor has been given up, perhaps asleep for a while, and stops.

Until it has found that, it must not write. So whatever it writes is made in ``lock-1.<token>``, a folder of its own beside
the lock, and moved from there into its place: the first thing that a successor does is to take this folder away, and
from that moment nothing of the former owner's arrives. Files that grow, which the former owner may have open, it replaces
by copies.

It is our own because those of libraries hold on one machine, or as long as a file system's locks do: on a folder shared
by many machines neither tells a slow owner from a dead one, nor keeps away the writes of one that wakes up again.
"""

import contextlib
import ctypes
import json
import os
import shutil
import socket
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

from ...base import files
from ...base.errors import UserError
from ...base.processes import born as _born
from ...base.processes import place as _place
from . import checks, stream

BEAT = 5.0  # seconds between two moves of a stamp
STALE = 60.0  # seconds without a move until the owner counts as dead
GROWING = (stream.FILE, "events.out.tfevents.*")  # files that their owner keeps open while a trial runs
FREE = {"free": True}  # in place of an owner, in a lock that only ends a dead one; anyone may succeed it


class Busy(UserError):
    """Another process holds the trial."""


class Lost(BaseException):
    """The lock went to another process. This is no error of the trial, so it is none that a trial could catch."""


class Lock(NamedTuple):
    path: Path
    owner: dict[str, Any]
    stamp: int

    @property
    def number(self) -> int:
        return _number(self.path)

    @property
    def here(self) -> bool:
        """Whether its owner is a process of this machine, so that its end can be seen."""
        return self.owner.get("place") == _place() != ""

    @property
    def gone(self) -> bool:
        """Whether its owner is known to be gone."""
        return self.owner == FREE or (self.here and _born(self.owner.get("pid")) != self.owner.get("born"))

    def give_up(self) -> None:
        """End it by a later one that anyone may succeed."""
        _create(self.path.parent, self.number + 1, FREE)

    def describe(self) -> str:
        return f"process {self.owner.get('pid', '?')} on {self.owner.get('host', '?')}"


def current(folder: Path, besides: Path | None = None) -> Lock | None:
    """The lock that counts, if there is one, not counting ``besides``."""
    others = [path for path in _paths(folder) if path != besides]
    for path in sorted(others, key=_number, reverse=True):
        with contextlib.suppress(FileNotFoundError), path.open(encoding="utf-8") as file:
            # Of the opened file: a network file system may show an old stamp of one that is not.
            return Lock(path, _read(file), os.fstat(file.fileno()).st_mtime_ns)
    return None


def alive(folder: Path) -> bool:
    """Whether a process is training the trial, as far as can be known at once."""
    lock = current(folder)
    return lock is not None and not lock.gone


State = Literal["free", "busy", "unsure"]


class _Sight(NamedTuple):
    lock: Lock
    since: float  # when its stamp was first seen, by this process's clock
    moving: bool


class Watch:
    """What one process has seen of others' locks."""

    def __init__(self) -> None:
        self.seen: dict[Path, _Sight] = {}

    def look(self, folder: Path) -> State:
        """Whether the trial may be started; 'unsure' if that takes time to find out. Locks that have died are given up."""
        lock = current(folder)
        if lock is None or lock.gone:
            return "free"
        if self._stale(folder, lock):
            lock.give_up()
            return "free"
        return "busy" if self.seen[folder].moving else "unsure"

    def alive(self, folder: Path) -> bool:
        """Whether a process is training the trial, as far as can be known by now. Nothing is written."""
        lock = current(folder)
        return lock is not None and not lock.gone and not self._stale(folder, lock)

    def _stale(self, folder: Path, lock: Lock) -> bool:
        """Whether the lock has stood still for too long."""
        last, now = self.seen.get(folder), time.monotonic()
        if last is None or last.lock.path != lock.path or last.lock.owner != lock.owner:
            self.seen[folder] = _Sight(lock, now, moving=lock.here)
        elif last.lock.stamp != lock.stamp:
            self.seen[folder] = _Sight(lock, now, moving=True)
        else:
            return now - last.since >= STALE
        return False


class Held(NamedTuple):
    """The folder of a trial while its lock is this process's."""

    folder: Path
    lock: Path
    parts: Path  # where files are made; no other owner's is called so

    def check(self) -> None:
        """Raise Lost if another process has taken the trial over."""
        if not self.parts.is_dir():
            raise Lost

    @contextlib.contextmanager
    def writing(self) -> Iterator[Path]:
        """The folder to make files in, for a block that writes them: so nothing arrives once the lock is lost."""
        self.check()
        try:
            yield self.parts
        except files.CannotWrite:
            self.check()  # the usual reason
            raise


@contextlib.contextmanager
def hold(folder: Path) -> Iterator[Held]:
    """Hold the trial for this process alone. Raises Busy if another process holds it or takes it over."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        held = _acquire(folder)
        keeper = _Keeper(held)
        keeper.start()
        try:
            try:
                yield held
            finally:
                keeper.stop()  # its Lost may come at this very moment, on top of one that the trial met itself
        except Lost:
            raise Busy(f"{folder.name} was taken for dead, and another process continues with it.") from None
        finally:
            if _take_away(held.parts):
                held.lock.unlink(missing_ok=True)
    finally:
        for path in made:
            with contextlib.suppress(OSError):  # it is not empty, as a rule
                path.rmdir()


def _acquire(folder: Path) -> Held:
    with files.writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
    watch, owner, said = Watch(), _identity(), False
    while True:
        state, lock = watch.look(folder), current(folder)
        if state == "busy" and lock:
            raise Busy(f"{folder.name} is being trained by {lock.describe()}.")
        if state == "free" and (lock is None or lock.gone):
            path = _create(folder, lock.number + 1 if lock else 1, owner)
            before = current(folder, besides=path)
            if path and (before and before.owner) != (lock and lock.owner):
                path.unlink(missing_ok=True)  # others came and went while this process looked
            elif path and (held := _settle(path, owner)):
                return held
        elif state == "unsure":
            if not said:
                print(_unsure(folder), file=sys.stderr, flush=True)
                said = True
            time.sleep(BEAT / 5)


def _unsure(folder: Path) -> str:
    lock = current(folder)
    who = lock.describe() if lock and lock.owner else "nobody that it names"
    wait = f"waiting up to {STALE:.0f} s to see whether that process is alive"
    return f"{folder.name} is locked by {who}: {wait}"


def _settle(path: Path, owner: dict[str, Any]) -> Held | None:
    """Put what earlier owners left out of reach, and make this owner's folder. None if this process, asleep, is too late."""
    folder = path.parent
    held = Held(folder, path, folder / f"{path.name}.{owner['token']}")
    with files.writing_to(folder):
        for parts in folder.glob("lock-*.*"):
            _take_away(parts)
        for earlier in _paths(folder):
            if _number(earlier) < _number(path):
                earlier.unlink(missing_ok=True)
        held.parts.mkdir()
    counting = current(folder)
    if counting is not None and counting.owner == owner:
        _renew(held)
        return held
    _take_away(held.parts)
    return None


def _renew(held: Held) -> None:
    """Replace growing files by copies, since an earlier owner that wakes up may still have the originals open."""
    for path in (path for pattern in GROWING for path in held.folder.glob(pattern)):
        with files.writing_to(path):
            shutil.copy2(path, held.parts / path.name)
            (held.parts / path.name).replace(path)


def _take_away(parts: Path) -> bool:
    """Remove a folder of parts, at once for anyone still writing there. Returns whether it was there."""
    gone = parts.with_name(f"{parts.name}.gone")
    try:
        parts.rename(gone)
    except FileNotFoundError:
        return False
    shutil.rmtree(gone, ignore_errors=True)
    return True


class _Keeper(threading.Thread):
    """Moves the stamp of a lock until it is stopped, or finds a later lock: then it ends the work by Lost."""

    def __init__(self, held: Held):
        super().__init__(daemon=True)
        self.held, self.path = held, held.lock
        self.stamp = self.path.stat().st_mtime_ns
        self.lost = False
        self._done = threading.Event()
        self._holder = threading.get_ident()

    def run(self) -> None:
        while not self._done.wait(BEAT):
            self.stamp += 10**9
            if not self._beat():
                self.lost = True
                self._interrupt(ctypes.py_object(Lost))
                return

    def _beat(self) -> bool:
        """Move the stamp. Returns whether the trial is still ours."""
        if not self.held.parts.is_dir():
            return False
        try:
            os.utime(self.path, ns=(self.stamp, self.stamp))  # needs no room on the disk
            return max(map(_number, _paths(self.path.parent)), default=0) == _number(self.path)
        except FileNotFoundError:
            return False
        except OSError:
            return True  # a problem of the file system: the trial will meet it when it writes

    def _interrupt(self, exception: ctypes.py_object | None) -> None:
        """Raise in the thread that trains; not by a signal, which reaches the main thread alone and may be ignored."""
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._holder), exception)

    def stop(self) -> None:
        self._done.set()
        self.join()
        if self.lost:
            self._interrupt(None)  # if it has not been raised yet, it is too late


# --- files and processes ------------------------------------------------------------------------------------------


def _paths(folder: Path) -> list[Path]:
    return [path for path in folder.glob("lock-*") if path.name.removeprefix("lock-").isdecimal()]


def _number(path: Path) -> int:
    return int(path.name.removeprefix("lock-"))


def _read(file: TextIO) -> dict[str, Any]:
    """The owner; empty if the lock is just being written, or damaged."""
    try:
        owner = json.load(file)
        checks.seal(owner)
    except (ValueError, RecursionError):
        return {}
    return {key: value for key, value in owner.items() if key != checks.CHECKSUM}


def _create(folder: Path, number: int, owner: dict[str, Any]) -> Path | None:
    """The new lock, or None if another process was first."""
    path = folder / f"lock-{number}"
    with files.writing_to(path):
        try:
            file = path.open("x", encoding="utf-8")
        except FileExistsError:
            return None
        try:
            with file:
                json.dump(checks.sealed(owner), file)
        except BaseException:  # such as a full disk: an empty lock would hold others up
            path.unlink(missing_ok=True)
            raise
    return path


def _identity() -> dict[str, Any]:
    pid, token = os.getpid(), uuid.uuid4().hex
    return {"host": socket.gethostname(), "pid": pid, "place": _place(), "born": _born(pid), "token": token}
