"""What tests of sweeps share: a trial that takes a moment, the command that sweeps, and what came of it."""

from __future__ import annotations

import sys
from pathlib import Path

from dmlplayground import records

GLYPHS = {"name": "glyphs", "classes": 16, "images_per_class": 9, "size": 24, "strength": 0.3}
SMALL = {"data": GLYPHS, "embed_dim": 8, "batch_size": 12}


def command(file: Path, store: Path, *more: str) -> list[str]:
    """Sweep the experiment of this file, two trials at a time."""
    sweep = [sys.executable, "-m", "dmlplayground", "sweep", str(file)]
    return [*sweep, "--store", str(store), "--workers", "2", *more]


def numbers(store: Path) -> dict[str, list[dict]]:
    """The epochs of every trial without their times; all are finished."""
    found = {}
    for record in records.load_store(store):
        assert record.status == "finished", record.error
        found[record.id] = [{k: v for k, v in entry.items() if "seconds" not in k} for entry in record.epochs]
    return found
