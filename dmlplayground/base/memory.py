"""What the system says of memory, in bytes. Linux says it; where it is not said, nothing is known."""

from pathlib import Path


def available() -> int | None:
    """What the machine can give."""
    return _said("meminfo", "MemAvailable")


def own(process: int) -> int | None:
    """What a process holds that is its own, without the pages of files."""
    return _said(f"{process}/status", "RssAnon")


def peak() -> int | None:
    """The most that this process has held, or has since its peak was last reset."""
    return _said("self/status", "VmHWM")


def _said(file: str, name: str) -> int | None:
    try:
        lines = (Path("/proc") / file).read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:")), None)
