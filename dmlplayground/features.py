"""Features of a data set by a network that stays as it is: the file that the data set ``features`` reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import backbones, data, files, seeds, transforms
from .data import loader
from .errors import UserError

BATCH = 64


def write(
    target: Path, dataset: str, backbone: str, pretrained: str, options: Mapping[str, Any]
) -> tuple[int, int]:
    """Write the features of both splits of a data set to a ``.npz``; gives how many there are, and how wide.

    Images are prepared as the data set's own transform prepares test images.
    """
    from mxnet.gluon import nn

    from .backbones.engines import extract
    from .backbones.heads import Embedder

    if target.suffix != ".npz":
        raise UserError(f"features are written to a .npz, not to {target}.")
    transform = transforms.create(data.get(dataset).configuration.get("transform", "paper"))
    record = backbones.get(backbone)
    if record.preprocessing is None:
        raise UserError(f"the backbone {backbone} takes no images.")
    _seed()
    nothing = nn.HybridSequential()  # in the place of a head
    network = Embedder(backbones.create(backbone, pretrained=pretrained), record.preprocessing, nothing)
    for constant in (network.mean, network.scale):
        constant.initialize()
    network.hybridize(static_alloc=True)
    parts: dict[str, list] = {"features": [], "labels": [], "split": []}
    for split in data.SPLITS:
        loaded = data.load(dataset, split, stored=transform.stored_for_test, **options)
        transform.check(loaded.images)
        blocks = loader.test_batches(loaded, transform, batch_size=BATCH)
        parts["features"].append(extract(network, map(_array, blocks), record.features))
        parts["labels"] += [loaded.class_names[label] for label in loaded.labels]
        parts["split"] += _roles(loaded)
    features = np.concatenate(parts["features"]).astype(np.float32)
    with files.replacing(target, "wb") as file:
        np.savez(file, features=features, labels=np.array(parts["labels"]), split=np.array(parts["split"]))
    return features.shape


def _seed() -> None:
    """A network with ``pretrained: none`` is the same each time."""
    import mxnet as mx

    mx.random.seed(seeds.integer(0, "features"))


def _array(block: np.ndarray) -> Any:
    from mxnet import nd

    return nd.array(block, dtype=block.dtype)


def _roles(loaded: data.Dataset) -> list[str]:
    if loaded.queries is None:
        return [loaded.split] * len(loaded)
    return ["query" if query else "gallery" for query in loaded.queries]
