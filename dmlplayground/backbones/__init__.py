"""Backbones by name: networks from preprocessed images to feature vectors, each with the preprocessing it expects.

One file in ``zoo/`` registers one network or a family, and adding that file is all it takes:

    @register("conv4", title="Four convolutions", features=128, preprocessing=Preprocessing(mean=(127.5,) * 3, ...))
    def build(*, width=32):
        '''What it is; shown by `dmlplayground backbones`.'''
        return Conv4(width)                       # a HybridBlock: (B, 3, H, W) float32 -> (B, features)

The function's keyword-only parameters are the backbone's options.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..registry import Registry
from ..typed import Option, fill_options, options_of

__all__ = ["Backbone", "Preprocessing", "create", "get", "names", "register"]


@dataclass(frozen=True)
class Preprocessing:
    """What stands between a uint8 RGB image and the network: ``(image - mean) / std``, channels first."""

    size: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Backbone:
    """One network that can be built: what it is, what it expects, and its options."""

    name: str
    title: str
    description: str
    features: int
    preprocessing: Preprocessing
    builder: Callable[..., Any] = field(repr=False)
    configuration: Mapping[str, Any] = field(default_factory=dict)  # what a trial with it changes by default

    @property
    def options(self) -> dict[str, Option]:
        return options_of(self.builder)


_registry: Registry[Backbone] = Registry("backbone", "dmlplayground.backbones.zoo")


def register(name: str, *, title: str, features: int, preprocessing: Preprocessing, **configuration: Any):
    """Decorator: the function below builds the network called ``name``."""

    def add(builder: Callable[..., Any]) -> Callable[..., Any]:
        description = inspect.getdoc(builder) or ""
        _registry.add(name, Backbone(name, title, description, features, preprocessing, builder, configuration))
        return builder

    return add


def names() -> list[str]:
    return _registry.names()


def get(name: str) -> Backbone:
    return _registry.get(name)


def create(name: str, **options: Any):
    """The network itself, initialised: preprocessed images (B, 3, H, W) -> features (B, features)."""
    from mxnet import nd

    record = get(name)
    network = record.builder(**fill_options(record.options, options, where=f"backbone {name}"))
    parameters = network.collect_params().values()
    if any(parameter._data is None and not parameter._deferred_init for parameter in parameters):
        network.initialize()
    if any(parameter._deferred_init for parameter in parameters):
        size = record.preprocessing.size
        network(nd.zeros((1, 3, size, size)))  # layers learn the size of their input when they first see one
    return network
