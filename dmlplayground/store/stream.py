"""The stream of a trial's epochs: a line of JSON each, written while it runs, for whoever follows it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import files
from . import checks

FILE = "epochs.jsonl"


class Stream:
    """The stream of a trial that begins, or that goes on after the epochs it has.

    The file is a new one and stays open: should another process take the trial over, it begins a new one in its turn,
    and what is still written here goes where nobody looks.
    """

    def __init__(self, folder: Path, epochs: Iterable[dict[str, Any]], through: Path):
        self.path = folder / FILE
        with files.replacing(self.path, through=through) as file:
            file.writelines(json.dumps(entry) + "\n" for entry in epochs)
        with files.writing_to(self.path):
            self._file = self.path.open("a", encoding="utf-8")

    def add(self, entry: dict[str, Any]) -> None:
        with files.writing_to(self.path):
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()

    def close(self) -> None:
        self._file.close()


def read(folder: Path) -> list[dict[str, Any]]:
    """The entries so far. A line that is half written, or damaged, is left out: the stream only tells how far a trial is."""
    try:
        lines = (folder / FILE).read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    except FileNotFoundError:
        return []
    entries = (_entry(line) for line in lines if line.endswith("\n"))
    return [entry for entry in entries if entry is not None]


def _entry(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
        checks.epoch(entry)
    except (ValueError, RecursionError):
        return None
    return entry
