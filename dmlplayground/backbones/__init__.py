"""Backbones by name: networks from preprocessed images to features, each with the preprocessing it expects.

One file in ``zoo/`` registers one network or a family, and adding that file is all it takes:

    @register("conv4", title="Four convolutions", features=128, preprocessing=Preprocessing(64, ...))
    def build(*, width=32):
        '''What it is; shown by `dmlplayground backbones`.'''
        return Conv4(width)                       # a HybridBlock: (B, 3, H, W) float32 -> (B, features)

The function's keyword-only parameters are the backbone's options; every backbone has the option
``pretrained`` besides. ``gluon:NAME`` and ``gluoncv:NAME`` are the networks of those zoos, without a file of
their own.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..options import Option, fill_options, options_of
from ..registry import Registry
from .weights import Source

__all__ = ["Backbone", "Preprocessing", "create", "get", "names", "register", "weights_path"]


@dataclass(frozen=True)
class Preprocessing:
    """What stands between a uint8 RGB image and the network: channels in its order, ``(image - mean) / std``,
    channels first."""

    size: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float] = (1.0, 1.0, 1.0)
    channels: str = "rgb"  # or bgr


@dataclass(frozen=True)
class Backbone:
    """One network that can be built: what it is, what it expects, its options, where its weights are."""

    name: str
    title: str
    description: str
    features: int
    preprocessing: Preprocessing
    builder: Callable[..., Any] = field(repr=False)
    imagenet: Source | None = None

    @property
    def options(self) -> dict[str, Option]:
        return {**options_of(self.builder), "pretrained": Option(str, "none")}

    @property
    def configuration(self) -> Mapping[str, Any]:
        """What a trial with it changes by default: where there are ImageNet weights, it begins with them."""
        return {"backbone": {"pretrained": "imagenet"}} if self.imagenet else {}


_registry: Registry[Backbone] = Registry("backbone", "dmlplayground.backbones.zoo")


def register(
    name: str, *, title: str, features: int, preprocessing: Preprocessing, imagenet: Source | None = None
):
    """Decorator: the function below builds the network called ``name``."""

    def add(builder: Callable[..., Any]) -> Callable[..., Any]:
        description = inspect.getdoc(builder) or ""
        _registry.add(name, Backbone(name, title, description, features, preprocessing, builder, imagenet))
        return builder

    return add


def names() -> list[str]:
    return _registry.names()


def get(name: str) -> Backbone:
    library, colon, network = str(name).partition(":")
    return _of_a_zoo(library, network) if colon else _registry.get(name)


@cache
def _of_a_zoo(library: str, network: str) -> Backbone:
    from . import trunks

    return trunks.record(library, network)


def create(name: str, **options: Any):
    """The network itself: preprocessed images (B, 3, H, W) -> features (B, features).

    ``pretrained`` is ``none`` (random, the default here), ``imagenet`` or a file of weights.
    """
    from mxnet import init

    record = get(name)
    options = fill_options(record.options, options, where=f"backbone {name}")
    weights = weights_path(record, options.pop("pretrained"))
    if weights is None:
        return build(record, init.MSRAPrelu("in", slope=0.0), **options)
    from . import checkpoints

    network = build(record, init.Zero(), **options)
    arrays, naming, _ = checkpoints.recognise(checkpoints.read(weights))
    checkpoints.load(network, arrays, weights)
    if naming and ":" not in name and name not in naming.backbones:
        warnings.warn(
            f"{weights} fits {name}, but holds {naming.title}, whose poolings and preprocessing are those of "
            f"{naming.backbones[0]}.",
            stacklevel=2,
        )
    return network


def build(record: Backbone, initializer: Any = None, **options: Any):
    """The network, its weights drawn by the initializer; without one it has shapes but no weights yet."""
    from mxnet import nd

    network = record.builder(**options)
    if any(0 in parameter.shape for parameter in network.collect_params().values()):
        image = nd.zeros((1, 3, record.preprocessing.size, record.preprocessing.size))
        network.infer_shape(image)  # some layers learn from an image how large their input is
        network.hybridize(False)  # forgets the graph that this took
    if initializer is not None:
        network.initialize(initializer)
    return network


def weights_path(backbone: Backbone, pretrained: str) -> Path | None:
    """The file of the weights that ``pretrained`` asks for, downloaded if need be; None for ``none``."""
    if pretrained == "none":
        return None
    if pretrained != "imagenet":
        if not Path(pretrained).is_file():
            raise UserError(
                f"pretrained: {pretrained} is no file; give imagenet, none, or a file of weights."
            )
        return Path(pretrained)
    if backbone.imagenet is None:
        raise UserError(
            f"no ImageNet weights are known for {backbone.name}; give pretrained: FILE, or pretrained: none."
        )
    return backbone.imagenet.path()
