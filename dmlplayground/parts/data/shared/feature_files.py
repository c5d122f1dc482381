"""Writing the file that the data set ``features`` reads: a network's features of another data set's images."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ....base import array_files
from ....base.errors import UserError
from ... import data, transforms
from . import loader

BATCH = 64
Extract = Callable[[Iterator[np.ndarray]], np.ndarray]  # blocks of images to rows of features


def write(target: Path, dataset: str, options: Mapping[str, Any], extract: Extract) -> tuple[int, int]:
    """Write the features of both splits of a data set to a ``.npz``, of images that are prepared as its own transform
    prepares test images. Gives how many rows there are, and how wide."""
    check_ending(target)
    transform = transforms.create(data.get(dataset).configuration.get("transform", "paper"))
    parts: dict[str, list] = {"features": [], "labels": [], "split": []}
    for split in data.SPLITS:
        loaded = data.load(dataset, split, stored=transform.stored_for_test, **options)
        transform.check(loaded.images)
        parts["features"].append(extract(loader.test_batches(loaded, transform, batch_size=BATCH)))
        parts["labels"] += [loaded.class_names[label] for label in loaded.labels]
        if loaded.queries is None or split == "train":
            parts["split"] += [split] * len(loaded)
        else:
            parts["split"] += ["query" if query else "gallery" for query in loaded.queries]
    features = np.concatenate(parts["features"]).astype(np.float32)
    arrays = {"features": features, "labels": np.array(parts["labels"]), "split": np.array(parts["split"])}
    array_files.write_plain(target, arrays)
    return features.shape


def check_ending(target: Path) -> None:
    """Refuse a file that no features can be written to."""
    if target.suffix != ".npz":
        raise UserError(f"features are written to a .npz, not to {target}.")
