"""Converting weights from elsewhere, and checking that weights are what they should be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .....base import seeds
from .....base.errors import UserError
from .....base.files import digest
from ... import build, create, get, weights_path
from . import formats, loading, parameter_names

TOLERANCE = 1e-4  # of the largest feature: float32, and two ways of ordering the same sums


@dataclass(frozen=True)
class Converted:
    backbone: str
    naming: str
    parameters: int
    left_out: list[str]


def convert(source: Path, target: Path, backbone: str | None = None) -> Converted:
    """Write the weights in ``source``, in any format and naming known here, as ``.params`` of a backbone."""
    arrays, naming, beside = parameter_names.recognise(formats.read(source))
    candidates = (backbone,) if backbone else naming.backbones if naming else ()
    if not candidates:
        known = ", ".join(naming.title for naming in parameter_names.NAMINGS)
        raise UserError(
            f"{source} has none of the parameter names known here ({known}); say which --backbone it is for."
        )
    name, network = _first_that_fits(candidates, arrays, source)
    formats.write(target, network)
    kept = {*loading.by_path(network), *loading.by_name(network)}
    return Converted(
        backbone=name,
        naming=naming.title if naming else "our own names",
        parameters=count(network),
        left_out=sorted(beside + [name for name in arrays if name not in kept]),
    )


def _first_that_fits(candidates, arrays: formats.Arrays, source: Path) -> tuple[str, Any]:
    from mxnet import init

    problems = []
    for name in candidates:
        network = build(get(name), init.Zero())
        try:
            loading.load(network, arrays, source)
            return name, network
        except UserError as problem:
            problems.append(f"{name}: {problem}")
    raise UserError("\n".join(problems))


def count(network) -> int:
    """Numbers that are learned."""
    parameters = network.collect_params().values()
    return sum(int(np.prod(parameter.shape)) for parameter in parameters if parameter.grad_req != "null")


@dataclass(frozen=True)
class Verified:
    path: Path
    sha256: str
    parameters: int
    features: tuple[float, float]  # least and greatest, of images of noise
    difference: dict[str, float] | None  # from the symbol's features, in evaluation and training


def verify(backbone: str, pretrained: str, symbol: Path | None = None) -> Verified:
    """Load all weights, and look at the features of a few noise images.

    With the ``symbol`` (the JSON of MXNet's graph) the features must be those of the graph, in both modes.
    """
    record = get(backbone)
    path = weights_path(record, pretrained)
    if path is None:
        raise UserError("there is nothing to verify in pretrained: none; give imagenet or a file.")
    network = create(backbone, pretrained=str(path))
    images = _noise(record.preprocessing)
    features = _features(network, images, training=False)
    if not np.isfinite(features).all():
        raise UserError(f"{path}: the features of a noise image are not finite.")
    difference = None
    if symbol is not None:
        graph = _graph(symbol, parameter_names.recognise(formats.read(path)).arrays)
        difference = {
            mode: _difference(network, graph, images, mode == "training")
            for mode in ("evaluation", "training")
        }
    extent = (float(features.min()), float(features.max()))
    return Verified(path, digest(path), count(network), extent, difference)


def _noise(preprocessing) -> np.ndarray:
    """A few preprocessed images whose pixels are independent and uniform."""
    size = (2, 3, preprocessing.size, preprocessing.size)
    pixels = seeds.generator(0, "images of noise").integers(0, 256, size)
    mean, std = (np.reshape(value, (1, 3, 1, 1)) for value in (preprocessing.mean, preprocessing.std))
    return ((pixels - mean) / std).astype(np.float32)


def _features(network, images: np.ndarray, training: bool) -> np.ndarray:
    from mxnet import autograd, nd

    with autograd.train_mode() if training else autograd.predict_mode():
        return network(nd.array(images)).asnumpy()


def _graph(symbol: Path, arrays: formats.Arrays):
    """The published graph up to its last flattening, with these parameters."""
    from mxnet import MXNetError, gluon, nd, sym

    try:
        internals = sym.load(str(symbol)).get_internals()
    except MXNetError as problem:
        raise UserError(f"cannot read the graph {symbol}: {str(problem).splitlines()[0]}") from None
    outputs = [name for name in internals.list_outputs() if "flatten" in name and name.endswith("_output")]
    if not outputs:
        raise UserError(f"the graph {symbol} has no flattened features.")
    graph = gluon.SymbolBlock(internals[outputs[-1]], sym.var("data", dtype="float32"))
    for name, parameter in graph.collect_params().items():
        if name not in arrays:
            raise UserError(f"the graph {symbol} has a parameter {name} that is missing from the weights.")
        parameter.shape = arrays[name].shape
        parameter.initialize()
        parameter.set_data(nd.array(arrays[name]))
    return graph


def _difference(network, graph, images: np.ndarray, training: bool) -> float:
    ours, theirs = (_features(each, images, training) for each in (network, graph))
    difference = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    if difference > TOLERANCE:
        mode = "training" if training else "evaluation"
        raise UserError(f"in {mode} the features differ from the graph's by {difference:.1e} of the largest.")
    return difference
