"""The names that other frameworks give to a network's parameters, and ours for the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .formats import Arrays


class Naming(NamedTuple):
    """A naming of parameters used elsewhere: how to recognise it, and how its names translate to ours."""

    title: str
    mark: str  # a name that every such file has, perhaps after a prefix such as "module."
    backbones: tuple[str, ...]
    rename: Callable[[Arrays], Arrays]


class Recognised(NamedTuple):
    """Arrays under our names, the naming they had (None: unknown), and the names of arrays that are not the network's."""

    arrays: Arrays
    naming: Naming | None
    beside: list[str]


def recognise(arrays: Arrays) -> Recognised:
    """The network in these arrays, which may be a part of a larger one and have a prefix to its names."""
    for naming in NAMINGS:
        prefix = next((name[: -len(naming.mark)] for name in arrays if name.endswith(naming.mark)), None)
        if prefix is not None:
            own = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
            beside = [name for name in arrays if not name.startswith(prefix)]
            return Recognised(naming.rename(own), naming, beside)
    return Recognised(arrays, None, [])


def _gluon_batchnorm(arrays: Arrays) -> Arrays:
    """PyTorch's names of a batch-norm's parameters, weight and bias, as Gluon's, gamma and beta."""
    renamed = {}
    for name, array in arrays.items():
        layer, _, kind = name.rpartition(".")
        if f"{layer}.running_mean" in arrays:
            kind = {"weight": "gamma", "bias": "beta"}.get(kind, kind)
        if kind != "num_batches_tracked":
            renamed[f"{layer}.{kind}"] = array
    return renamed


def _bn_inception(arrays: Arrays) -> Arrays:
    """``inception_3a_double_3x3_1_bn.gamma`` is ``bn_3a_double_3x3_0_gamma`` in the MXNet file."""
    # The published file keeps some vectors as matrices of one row.
    arrays = {
        name: array[0] if array.ndim == 2 and array.shape[0] == 1 else array for name, array in arrays.items()
    }
    stems = {"conv1_7x7_s2": "1", "conv2_3x3_reduce": "2_red", "conv2_3x3": "2"}
    renamed = {}
    for name, array in _gluon_batchnorm(arrays).items():
        layer, _, kind = name.rpartition(".")
        if layer in ("last_linear", "fc"):
            renamed[f"fc1_{kind}"] = array
            continue
        unit = layer[: -len("_bn")] if layer.endswith("_bn") else layer
        place = stems.get(unit) or unit.replace("inception_", "").replace("pool_proj", "proj")
        place = re.sub(r"double_3x3_([12])$", lambda found: f"double_3x3_{int(found[1]) - 1}", place)
        renamed[f"{'conv' if unit == layer else 'bn'}_{place}_{kind.replace('running', 'moving')}"] = array
    return renamed


def _efficientnet(arrays: Arrays) -> Arrays:
    """``_blocks.0._bn1.gamma`` is ``blocks.0.bn1.gamma`` here."""
    renamed = _gluon_batchnorm(arrays)
    return {".".join(part.lstrip("_") for part in name.split(".")): array for name, array in renamed.items()}


NAMINGS = (
    Naming("MXNet's Inception-BN", "conv_1_weight", ("inception_bn", "inception_bn_caffe"), dict),
    Naming("PyTorch's BN-Inception", "conv1_7x7_s2.weight", ("inception_bn_caffe",), _bn_inception),
    Naming(
        "torchvision's ResNet", "layer1.0.conv1.weight", ("resnet50_v1b", "resnet18_v1b"), _gluon_batchnorm
    ),
    Naming(
        "PyTorch's EfficientNet-Lite",
        "_conv_stem.weight",
        ("efficientnet_lite0", "efficientnet_lite1", "efficientnet_lite2"),
        _efficientnet,
    ),
)
