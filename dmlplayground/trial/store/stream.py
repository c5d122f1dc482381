"""The stream of a trial's epochs: one line of JSON for each, written while the trial runs."""

import contextlib
import json
from pathlib import Path
from typing import Any

from ...base import files
from . import checks

FILE = "epochs.jsonl"


class Growing:
    """A file that is added to while its trial runs: made in the lock's folder, it stays open. If another process takes the
    trial over, ``locks`` replaces it by a copy, and later writes here go nowhere."""

    def __init__(self, path: Path, begins: bytes, through: Path):
        self.path = path
        with files.writing_to(path):
            self._file = (through / path.name).open("wb", buffering=0)
            self._file.write(begins)
            (through / path.name).replace(path)

    def write(self, content: bytes) -> None:
        with files.writing_to(self.path):
            self._file.write(content)

    def close(self) -> None:
        self._file.close()


def line(entry: dict[str, Any]) -> bytes:
    """What the stream holds of an epoch."""
    return (json.dumps(entry) + "\n").encode()


def read(folder: Path) -> list[dict[str, Any]]:
    """The entries so far. A half-written or damaged line is left out, since the stream only shows how far a trial is."""
    try:
        lines = (folder / FILE).read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    except FileNotFoundError:
        return []
    found = []
    for each in lines:
        with contextlib.suppress(ValueError, RecursionError):
            entry = json.loads(each)
            checks.epoch(entry)
            found += [entry] if each.endswith("\n") else []
    return found
