"""A backbone used as it is: features of images, without a head and without training."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ....base import seeds
from ....base.errors import UserError
from ... import backbones


def extractor(backbone: str, pretrained: str) -> Callable[[Iterator[np.ndarray]], np.ndarray]:
    """A function from blocks (B, H, W, 3) of uint8 images to features (N, width)."""
    import mxnet as mx
    from mxnet.gluon import nn

    from .engines import extract
    from .heads import Embedder

    record = backbones.get(backbone)
    if record.preprocessing is None:
        raise UserError(f"the backbone {backbone} takes no images.")
    mx.random.seed(seeds.integer(0, "features"))  # a network with ``pretrained: none`` is the same each time
    no_head = nn.HybridSequential()
    network = Embedder(backbones.create(backbone, pretrained=pretrained), record.preprocessing, no_head)
    for constant in (network.mean, network.scale):
        constant.initialize()
    network.hybridize(static_alloc=True)

    def features(blocks: Iterator[np.ndarray]) -> np.ndarray:
        arrays = (mx.nd.array(block, dtype=block.dtype) for block in blocks)
        return extract(network, arrays, record.features)

    return features
