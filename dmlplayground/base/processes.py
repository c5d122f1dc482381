"""Which process something belongs to, so that others can tell whether that process is still there."""

import hashlib
import os
import re
from pathlib import Path

#: A process in a file's name: where, which, and when it began.
MARK = re.compile(r"([0-9a-f]{8})-(\d+)-(\d*)")


def place() -> str:
    """Where process numbers are valid: this boot of this machine, and this container. Empty if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def born(pid: object) -> str:
    """When a process began, by its kernel's count; empty if there is none, or it is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def mark() -> str:
    """This process."""
    return f"{_digest(place())}-{os.getpid()}-{born(os.getpid())}"


def ended(mark: str) -> bool | None:
    """Whether the process with this mark has ended; None where that cannot be seen, as it is of another machine."""
    found = MARK.fullmatch(mark)
    if found is None or not place() or found[1] != _digest(place()):
        return None
    return born(found[2]) != found[3]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
