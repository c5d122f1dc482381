"""Backbones by name: networks from preprocessed images to features, each with the preprocessing it expects.

One file in this folder registers one network or a family, and adding that file is all it takes:

    @KIND.register(title="Four convolutions", features=128, parameters=241_184, preprocessing=Preprocessing(64, ...))
    def build(*, width: int = 32) -> Any:
        '''What it is; shown by `dmlplayground backbones NAME`.'''
        return Conv4(width)                       # a HybridBlock: (B, 3, H, W) float32 -> (B, features)

Its key is the file's name. The function imports MXNet itself, so that listing the networks needs none. Its
keyword-only parameters are the backbone's options; every backbone also has the option ``pretrained``.
``gluon:NAME`` and ``gluoncv:NAME`` are the networks of those model zoos; they need no file here.
"""

from __future__ import annotations

import warnings
from typing import Any

from ..graph.blocks import ready
from .shared.base import KIND, Backbone, Preprocessing
from .shared.weights.sources import Download, Homes, Package

__all__ = [
    "KIND", "Backbone", "Download", "Homes", "Package", "Preprocessing", "build", "create", "get", "homes",
    "names", "weights_path",
]  # fmt: skip

names, get = KIND.names, KIND.get
weights_path, homes = Backbone.weights_file, Backbone.homes


def create(name: str, **options: Any) -> Any:
    """The network itself, ready to use: preprocessed images (B, 3, H, W) -> features (B, features).

    ``pretrained`` is ``none`` (random, the default here), ``imagenet`` or a file of weights.

    >>> network = dml.backbones.create("conv4")
    >>> network(mx.nd.zeros((2, 3, 32, 32))).shape
    (2, 128)
    """
    record = get(name)
    options = record.fill(options, KIND.name)
    weights = weights_path(record, options.pop("pretrained"))
    from mxnet import init

    if weights is None:
        return ready(build(record, init.MSRAPrelu("in", slope=0.0), **options))
    from .shared.weights import formats, loading, parameter_names

    network = build(record, init.Zero(), **options)
    arrays, naming, _ = parameter_names.recognise(formats.read(weights))
    loading.load(network, arrays, weights)
    if naming and ":" not in name and name not in naming.backbones:
        warnings.warn(
            f"{weights} fits {name}, but holds {naming.title}, whose poolings and preprocessing are those of "
            f"{naming.backbones[0]}.",
            stacklevel=2,
        )
    return ready(network)


def build(record: Backbone, initializer: Any = None, **options: Any) -> Any:
    """The network with weights drawn by the initializer; without an initializer it has shapes but no weights yet.

    >>> network = dml.backbones.build(dml.backbones.get("conv4"), mx.init.Zero())
    >>> network(mx.nd.zeros((1, 3, 32, 32))).sum().asscalar()
    0.0
    """
    from mxnet import nd

    network = record.build(**options)
    if record.preprocessing and any(0 in parameter.shape for parameter in network.collect_params().values()):
        image = nd.zeros((1, 3, record.preprocessing.size, record.preprocessing.size))
        network.infer_shape(image)  # some layers find their input size from an image
        network.hybridize(False)  # drops the graph that this built
    if initializer is not None:
        network.initialize(initializer)
    return network
