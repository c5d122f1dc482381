"""What a sweep shows on a terminal: a line for every trial that has ended, below them one for each that is running."""

import shutil
import sys
from collections.abc import Sequence
from typing import Any

from ..parts import metrics


class Display:
    """Lines that stay go to standard output. Lines that change go to standard error, if that is a terminal."""

    def __init__(self, quiet: bool = False):
        self.quiet = quiet
        self.live = not quiet and sys.stderr.isatty()
        self._height = 0

    def say(self, line: str) -> None:
        if not self.quiet:
            self.show([])
            print(line, flush=True)

    def show(self, lines: Sequence[str]) -> None:
        """Replace the lines that were shown last."""
        if not self.live:
            return
        width = shutil.get_terminal_size().columns - 1
        up = f"\x1b[{self._height}A" if self._height else ""
        sys.stderr.write(up + "\x1b[J" + "".join(f"{fitted(line, width)}\n" for line in lines))
        sys.stderr.flush()
        self._height = len(lines)


def fitted(line: str, width: int) -> str:
    """The line cut to ``width`` columns. What changes is at its end, so the middle of the trial's name gives way."""
    if len(line) <= width:
        return line
    head, tail = line[: width // 4], line[len(line) - (width - width // 4 - 1) :]
    return f"{head}…{tail}" if line.startswith("  ") else line[:width]


def clock(seconds: float) -> str:
    """``1:02:03``"""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def trial(name: str, entries: Sequence[dict[str, Any]], done: int, total: int, seconds: float) -> str:
    """A running trial in a line."""
    last = {key: value for entry in entries for key, value in entry.items()}  # of each key the latest
    loss = f"  loss {last['loss']:.4g}" if "loss" in last else ""
    score = f"  {metrics.first(last['metrics'])}" if "metrics" in last else ""
    return f"  {name}  epoch {done}/{total}{loss}{score}  {clock(seconds)}"
