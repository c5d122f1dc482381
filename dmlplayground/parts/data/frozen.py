"""Frozen features of a data set's images: a pretrained network's, computed once."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...base import registry
from ...base.errors import UserError
from ...base.threads import ahead, cores
from ..transforms.shared.stored import Stored
from . import KIND, contents, require
from .shared import cache
from .shared.catalogue import Catalogue, Pixels
from .shared.dataset import Dataset

#: Raise it whenever the same images and weights give other features than before.
GENERATION = 1
BLOCK = 32  # images that the network sees at once


def settings(backbone: str, **_: Any) -> dict[str, Any]:
    """What a trial on these features does by default: its own network is only a head."""
    width = registry.kind("backbones").get(backbone).features
    return {"backbone": {"name": "identity", "features": width}, "transform": "plain"}


def _training_classes(of: str | Mapping[str, Any], **_: Any) -> int | None:
    name, options = registry.split(of)
    return require(name, **options)


@KIND.register(
    title="Frozen features of a data set's images",
    also=("frozen features",),
    settings=settings,
    training_classes=_training_classes,
)
def load(
    split: str,
    *,
    of: str | dict[str, Any],
    backbone: str = "resnet50_v1",
    pretrained: str = "imagenet",
    size: Pixels = 224,
) -> Dataset:
    """What a network computes from the images of another data set, without being trained further. A trial on these features
    trains a head and a loss in seconds; its own backbone is ``identity``.

    One pass over the images is enough for both splits and for all divisions of the classes. Its features are kept in the cache
    under the checksums of the images and the weights. Queries, gallery and classes are those of the data set.

    of: the data set, by its name or as a mapping with its options: {name: grocery, division: 1}.
    backbone: the network.
    pretrained: its weights: imagenet, none (they are drawn at random, the same ones each time), or a file.
    size: height and width in pixels that images are brought to. Drawings are drawn at this size, whatever ``of`` says.
    """
    name, options = registry.split(of)
    found = contents(name, split, options)
    if isinstance(found, Dataset) or found.pool is None:
        rows = _features(found, backbone, pretrained, size)
    else:
        rows = _features(found.pool, backbone, pretrained, size)[found.rows]
    return Dataset("frozen", split, rows, found.labels, found.class_names, found.queries, found.parents)


def _features(images: Catalogue | Dataset, backbone: str, pretrained: str, size: int) -> np.ndarray:
    """The features of all images (N, width), from the cache or computed now."""
    network = registry.kind("backbones").get(backbone)
    if network.preprocessing is None:
        raise UserError(f"data set frozen: the backbone {backbone} takes no images.")
    weights = network.weights_file(pretrained)
    shown, known = _shown(images, size)
    key = {
        "generation": GENERATION,
        **known,
        "size": size,
        "backbone": backbone,
        "weights": cache.digest(weights) if weights else "none",
    }

    def compute() -> cache.Arrays:
        from .shared import decoded_cache

        what = f"computing the {backbone} features of {len(images):,} images of {images.name}, once"
        print(what, file=sys.stderr)
        starts = range(0, len(images), BLOCK)
        blocks = ahead(lambda start: shown(slice(start, start + BLOCK)), starts, cores())
        return {
            "features": network.extractor(pretrained)(decoded_cache.progress(blocks, len(starts), "block"))
        }

    return cache.arrays("frozen", key, compute)["features"]


def _shown(images: Catalogue | Dataset, size: int) -> tuple[Callable[[slice], np.ndarray], dict[str, Any]]:
    """The images at this size, and what they are known by."""
    # Imported here, since listings load this file and Pillow is slow to load.
    from .shared import decoded_cache, decoding

    if isinstance(images, Dataset):  # drawn, or from a table: there are no files
        stored, arrays = Stored("squash", size), images.images
        if len(arrays.shape) == 2:
            raise UserError(f"data set frozen: the data set {images.name} holds features, not images.")
        return lambda rows: np.stack([stored.apply(one) for one in arrays[rows]]), {"content": images.digest}
    images = replace(images, size=size)
    return decoding.Live(images, Stored("none")).__getitem__, {
        "files": list(images.files),
        "content": decoded_cache.content(images),
        "boxes": None if images.boxes is None else images.boxes.tolist(),
        "drawn": decoding.library(images.files[0]),
    }
