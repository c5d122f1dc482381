"""Checking all of a data set: whether every file exists and can be read, and whether its cache is undamaged."""

from __future__ import annotations

from typing import Any

from .. import SPLITS, catalogue, get, load
from . import cache, decoded_cache
from .preparing import unusable


def verify(name: str, **options: Any) -> tuple[list[str], list[str]]:
    """What was checked, and what is wrong with it. Damaged cache entries are removed and will be made anew.

    A ``UserError`` if there is nothing to check, or if a set that is one file cannot be used.
    """
    part = get(name)
    part.fill(options, "data set")
    of_images = "cache" in part.options
    of_one_file = not of_images and not {"path", "of"}.isdisjoint(part.options)
    told: list[str] = []
    wrong: list[str] = []
    for split in SPLITS if of_images else ():
        files = catalogue(name, split, **options)
        told.append(
            f"{name} ({split}): {len(files):,} images of {len(files.class_names):,} classes in {files.folder}"
        )
        wrong += unusable(files.folder, files.files)
    if of_one_file:  # loading it checks all of it
        told += [load(name, split, **options).describe() for split in SPLITS]
    elif not of_images:
        told.append(f"{name} is made, not read from image files: only its cache can be verified")
    home = decoded_cache if of_images else cache
    for entry in home.entries(name):
        damaged = home.remove_if_damaged(entry)
        told.append(f"cache {entry}: {'damaged' if damaged else 'whole'}")
        if damaged:
            wrong.append(f"the cache entry {entry} was damaged; it has been removed and will be made anew.")
    return told, wrong
