"""In-Shop Clothes of DeepFashion: queries and a gallery."""

from pathlib import Path
from typing import Any

from . import KIND
from .shared.catalogue import Catalogue, Entry, lines
from .shared.releases import Archive, Count, Layout, Release

PARTITION = "list_eval_partition.txt"


def _read(folder: Path) -> list[Entry]:
    """The list's first line is a count, the second a header; then ``image_name item_id status``."""
    path = folder / PARTITION
    rows = map(str.split, lines(path if path.exists() else folder / "Eval" / PARTITION)[2:])
    return [Entry(file, item, status) for file, item, status in rows]


RELEASE = Release(
    name="inshop",
    title="In-Shop Clothes Retrieval (DeepFashion): 7,982 garments",
    layouts=(Layout("its authors' folders", (PARTITION, f"Eval/{PARTITION}"), _read),),
    counts={"train": Count(25882, 3997), "query": Count(14218, 3985), "gallery": Count(12612, 3985)},
    archives=(Archive("img.zip"), Archive(PARTITION)),
    advice=(
        "Its authors ask for an agreement, and then give img.zip and list_eval_partition.txt on the page of "
        "the In-Shop Clothes Retrieval Benchmark of DeepFashion."
    ),
)


@KIND.register(title=RELEASE.title, release=RELEASE)
def load(split: str, **installed: Any) -> Catalogue:
    """Clothes of DeepFashion: 25,882 images of 3,997 garments for training; for test 14,218 queries that
    search a gallery of 12,612, of 3,985 other garments."""
    return RELEASE.catalogue(split, **installed)
