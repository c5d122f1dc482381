"""Checking all of a data set: whether every file exists and can be read, and whether its cache is undamaged."""

from __future__ import annotations

from typing import Any

from . import SPLITS, cache, catalogue, decoded_cache, get
from .preparing import unusable


def verify(name: str, **options: Any) -> tuple[list[str], list[str]]:
    """What was checked, and what is wrong with it. Damaged cache entries are removed and will be made anew."""
    part = get(name)
    part.fill(options, "data set")
    of_files = "cache" in part.options
    told: list[str] = []
    wrong: list[str] = []
    for split in SPLITS if of_files else ():
        files = catalogue(name, split, **options)
        told.append(
            f"{name} ({split}): {len(files):,} images of {len(files.class_names):,} classes in {files.folder}"
        )
        wrong += unusable(files.folder, files.files)
    if not of_files:
        told.append(f"{name} is drawn, not read from image files: only its cache can be verified")
    home = decoded_cache if of_files else cache
    for entry in home.entries(name):
        damaged = home.remove_if_damaged(entry)
        told.append(f"cache {entry}: {'damaged' if damaged else 'whole'}")
        if damaged:
            wrong.append(f"the cache entry {entry} was damaged; it has been removed and will be made anew.")
    return told, wrong
