"""Stanford Online Products."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from . import KIND
from .shared.catalogue import Catalogue, Entry, halves, lines, natural
from .shared.releases import Archive, Count, Layout, Release


def _official(folder: Path) -> list[Entry]:
    """The release's lists: a header, then ``image_id class_id super_class_id path``."""
    return [
        Entry(path, label, split)
        for split in ("train", "test")
        for _, label, _, path in map(str.split, lines(folder / f"Ebay_{split}.txt")[1:])
    ]


def _halves(entries: list[Entry]) -> list[Entry]:
    """Products in the order of their numbers, the first half (rounded down) for training."""
    products = natural({entry.label for entry in entries})
    training = set(products[: len(products) // 2])
    return [entry._replace(split="train" if entry.label in training else "test") for entry in entries]


def _by_directory(entries: list[Entry]) -> list[Entry]:
    """Products in the order of their directories, half (rounded up) for training. Files are ``<product>_<number>.JPG``."""
    files = natural(entry.file for entry in entries)
    found = [Entry(file, Path(file).name.partition("_")[0]) for file in files]
    return halves(found, list(dict.fromkeys(entry.label for entry in found)), 0)


RELEASE = Release(
    name="sop",
    title="Stanford Online Products: 22,634 products in 12 categories",
    layouts=(Layout("the authors' archive", ("Ebay_train.txt",), _official),),
    counts={"train": Count(59551, 11318), "test": Count(60502, 11316)},
    archives=(
        Archive(
            "Stanford_Online_Products.zip",
            "ftp://cs.stanford.edu/cs/cvgl/Stanford_Online_Products.zip",
            "b04fa78210e69fab050ce73939550e1cd0f96890bdd98ec9fee732c3b756ef48",
        ),
    ),
    advice=(
        "Stanford_Online_Products.zip is offered on the page of its paper (Song et al. 2016, Deep Metric "
        "Learning via Lifted Structured Feature Embedding)."
    ),
)
#: Two studies' code divides the same files otherwise. They published the numbers of classes only.
DIVISIONS: dict[str, Callable] = {"official": list, "halves": _halves, "directory": _by_directory}


@KIND.register(title=RELEASE.title, release=RELEASE)
def load(
    split: str, *, division: Literal["official", "halves", "directory"] = "official", **installed: Any
) -> Catalogue:
    """Stanford's products: 59,551 images of 11,318 for training, 60,502 of 11,316 others for test.

    division: official is by the lists of the release. halves is as the Reality Check divides: 11,317 products each, by
        their numbers, so that one of the official training products is tested on. directory is as the code of the first
        study divides: the first half of the products in the order of directories, so that whole categories are in one
        split. The code takes the order that the file system happens to give; here it is alphabetical.
    """
    return RELEASE.catalogue(split, divided=DIVISIONS[division], **installed)
