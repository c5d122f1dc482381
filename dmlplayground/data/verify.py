"""Looking at all of a data set: whether every file is there and can be read, and whether its cache is
undamaged."""

from __future__ import annotations

import shutil
from typing import Any

from ..errors import UserError
from . import SPLITS, catalogue, decoded, get
from .releases import unusable


def verify(name: str, **options: Any) -> tuple[list[str], list[str]]:
    """What was looked at, and what is wrong with it. Damaged cache entries are removed: they will be made
    anew."""
    if "cache" not in get(name).options:
        raise UserError(
            f"the data set {name} is made, not read from image files: there is nothing to verify."
        )
    told: list[str] = []
    wrong: list[str] = []
    for split in SPLITS:
        files = catalogue(name, split, **options)
        told.append(
            f"{name} ({split}): {len(files):,} images of {len(files.class_names):,} classes in {files.folder}"
        )
        wrong += unusable(files.folder, files.files)
    for entry in decoded.entries(name):
        damaged = decoded.damaged(entry)
        told.append(f"cache {entry}: {'damaged' if damaged else 'whole'}")
        if damaged:
            shutil.rmtree(entry, ignore_errors=True)
            wrong.append(f"the cache entry {entry} was damaged; it is removed and will be made anew.")
    return told, wrong
