"""Checking all of a data set: whether every file exists and can be read, and whether its cache is undamaged."""

from typing import Any

from .. import SPLITS, catalogue, get, load
from . import cache, decoded_cache
from .preparing import unusable
from .releases import checksum


def verify(name: str, **options: Any) -> tuple[list[str], list[str]]:
    """What was checked, and what is wrong with it; a ``UserError`` if there is nothing to check, or if a set that is one file
    cannot be used. Damaged cache entries are removed and will be made anew."""
    part = get(name)
    part.fill(options, "data set")
    of_images = "cache" in part.options
    of_one_file = not of_images and not {"path", "of"}.isdisjoint(part.options)
    lines, wrong = [], []
    release, published = part.release, None  # whether all images are those whose checksum is known
    if release and release.content and not options.get("partial"):
        folder = release.locate(options.get("root", ""))
        published = checksum(folder, release.entries(folder, partial=True)) == release.content
    if published:
        lines.append(f"{name}: the content of all images is the published one")
    elif published is False:
        wrong.append(f"the images of {name} are not all those that were published.")
    for split in SPLITS if of_images else ():
        files = catalogue(name, split, **options)
        held = f"{len(files):,} images of {len(files.class_names):,} classes"
        lines.append(f"{name} ({split}): {held} in {files.folder}")
        wrong += [] if published else unusable(files.folder, files.files)
    if of_one_file:  # loading it checks all of it
        lines += [load(name, split, **options).describe() for split in SPLITS]
    elif not of_images:
        lines.append(f"{name} is made, not read from image files: only its cache can be verified")
    home = decoded_cache if of_images else cache
    for entry in home.entries(name):
        damaged = home.remove_if_damaged(entry)
        lines.append(f"cache {entry}: {'damaged' if damaged else 'whole'}")
        if damaged:
            wrong.append(f"the cache entry {entry} was damaged; it has been removed and will be made anew.")
    return lines, wrong
