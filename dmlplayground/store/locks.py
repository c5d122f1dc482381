"""Locks: which process trains a trial, agreed through files in the trial's folder, on one machine or on many.

A lock is a file, ``lock-1``, that only one process can create. Its owner moves the file's time stamp every few
seconds. Others never compare it with a clock, as clocks jump and disagree: they watch it change. One that stands
still for ``STALE`` seconds belongs to the dead; on the owner's own machine a process that is gone is known at once.
A dead lock is not removed, which two could do at a time, but succeeded by ``lock-2``, which again only one process
can create. An owner that finds a successor has been given up, perhaps asleep for a while, and stops.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Optional, TextIO

from ..errors import UserError

BEAT = 5.0  # seconds between two moves of a stamp
STALE = 60.0  # seconds without one until the owner counts as dead
FREE = {"free": True}  # in the place of an owner: of a lock that succeeds a dead one, for anyone to succeed


class Busy(UserError):
    """The trial is another process's."""


@dataclass(frozen=True)
class Lock:
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
        """Whether its owner is known to be no more."""
        return self.owner == FREE or (self.here and _born(self.owner["pid"]) != self.owner["born"])

    def describe(self) -> str:
        return f"process {self.owner.get('pid', '?')} on {self.owner.get('host', '?')}"


def current(folder: Path) -> Optional[Lock]:
    """The lock that counts, if there is one."""
    for path in sorted(_paths(folder), key=_number, reverse=True):
        with contextlib.suppress(FileNotFoundError), path.open(encoding="utf-8") as file:
            # Of the opened file: a network file system may show an old stamp of one that is not.
            return Lock(path, _read(file), os.fstat(file.fileno()).st_mtime_ns)
    return None


State = Literal["free", "busy", "unsure"]


@dataclass(frozen=True)
class _Sight:
    lock: Lock
    since: float  # when its stamp was first seen, by this process's clock
    moving: bool


class Watch:
    """What one process has seen of others' locks."""

    def __init__(self) -> None:
        self.seen: dict[Path, _Sight] = {}

    def look(self, folder: Path) -> State:
        """Whether the trial may be started; unsure where it takes time to tell. What has died meanwhile is given up."""
        lock, now = current(folder), time.monotonic()
        if lock is None or lock.gone:
            return "free"
        last = self.seen.get(folder)
        if last is None or last.lock.path != lock.path or last.lock.owner != lock.owner:
            last = self.seen[folder] = _Sight(lock, now, moving=lock.here)
        elif last.lock.stamp != lock.stamp:
            last = self.seen[folder] = _Sight(lock, now, moving=True)
        elif now - last.since >= STALE:
            _create(folder, lock.number + 1, FREE)
            return "free"
        return "busy" if last.moving else "unsure"


@contextlib.contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Within this the trial is this process's alone. Raises Busy where it is another's, or has been taken over."""
    keeper = _Keeper(_acquire(folder))
    keeper.start()
    try:
        yield
    except KeyboardInterrupt:
        if keeper.lost:
            raise Busy(f"{folder.name} was given up for dead, and another process goes on with it.") from None
        raise
    finally:
        keeper.stop()


def _acquire(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UserError(f"cannot write to {folder}: {problem.strerror or problem}.") from None
    watch = Watch()
    while True:
        state, lock = watch.look(folder), current(folder)
        if state == "busy" and lock:
            raise Busy(f"{folder.name} is being trained by {lock.describe()}.")
        if state == "free" and (lock is None or lock.gone):
            path = _create(folder, lock.number + 1 if lock else 1, _identity())
            if path and _predecessor(path) == (lock and lock.owner):
                _remove(folder, before=_number(path))
                return path
            if path:  # while this process looked, others came and went: what it succeeded is not what it saw
                path.unlink(missing_ok=True)
        elif state == "unsure":
            time.sleep(BEAT / 5)


class _Keeper(threading.Thread):
    """Moves the stamp of a lock until it is stopped, or finds a later lock: then it interrupts the training."""

    def __init__(self, path: Path):
        super().__init__(daemon=True)
        self.path = path
        self.lost = False
        self._done = threading.Event()
        self._holder = threading.get_ident()

    def run(self) -> None:
        stamp = self.path.stat().st_mtime_ns
        while not self._done.wait(BEAT):
            stamp += 10**9
            if not self._beat(stamp):
                self.lost = True
                self._interrupt(ctypes.py_object(KeyboardInterrupt))
                return

    def _beat(self, stamp: int) -> bool:
        try:
            os.utime(self.path, ns=(stamp, stamp))  # needs no room on the disk
            return max(map(_number, _paths(self.path.parent)), default=0) == _number(self.path)
        except FileNotFoundError:
            return False
        except OSError:
            return True  # trouble of the file system: the trial will hear of it when it writes

    def _interrupt(self, exception: Optional[ctypes.py_object]) -> None:
        """Raise in the thread that trains; not by a signal, which reaches the main thread alone and may be ignored."""
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._holder), exception)

    def stop(self) -> None:
        self._done.set()
        self.join()
        if self.lost:
            self._interrupt(None)  # should it not have been raised yet, it is too late
        self.path.unlink(missing_ok=True)


# --- files and processes ------------------------------------------------------------------------------------------


def _paths(folder: Path) -> list[Path]:
    return [path for path in folder.glob("lock-*") if path.name.removeprefix("lock-").isdecimal()]


def _number(path: Path) -> int:
    return int(path.name.removeprefix("lock-"))


def _read(file: TextIO) -> dict[str, Any]:
    """The owner; of a lock that is being written this moment, nothing."""
    with contextlib.suppress(ValueError):
        return json.load(file)
    return {}


def _create(folder: Path, number: int, owner: dict[str, Any]) -> Optional[Path]:
    """The new lock, or None where another process was first."""
    path = folder / f"lock-{number}"
    try:
        with path.open("x", encoding="utf-8") as file:
            json.dump(owner, file)
    except FileExistsError:
        return None
    return path


def _predecessor(path: Path) -> Optional[dict[str, Any]]:
    """The owner of the lock that counts besides this new one, if there is another."""
    others = [other for other in _paths(path.parent) if other != path]
    for other in sorted(others, key=_number, reverse=True):
        with contextlib.suppress(FileNotFoundError), other.open(encoding="utf-8") as file:
            return _read(file)
    return None


def _remove(folder: Path, before: int) -> None:
    for path in _paths(folder):
        if _number(path) < before:
            path.unlink(missing_ok=True)


def _identity() -> dict[str, Any]:
    pid = os.getpid()
    return {
        "host": socket.gethostname(),
        "pid": pid,
        "place": _place(),
        "born": _born(pid),
        "token": uuid.uuid4().hex,
    }


def _place() -> str:
    """What process numbers mean anything in: this boot of this machine, this container. Empty where it cannot be told."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip() + str(
            Path("/proc/self/ns/pid").readlink()
        )
    except OSError:
        return ""


def _born(pid: int) -> str:
    """When a process began, in its kernel's count; empty where there is none, or what is left of one."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
