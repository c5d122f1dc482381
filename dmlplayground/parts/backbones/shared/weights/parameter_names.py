"""The names that other frameworks give to a network's parameters, and ours for the same."""

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


def recognise(arrays: Arrays) -> tuple[Arrays, Naming | None, list[str]]:
    """The network in these arrays, which may be a part of a larger one and have a prefix to its names: its arrays under our
    names, the naming they had (None: unknown), and the names of arrays that are not the network's."""
    for naming in NAMINGS:
        prefix = next((name[: -len(naming.mark)] for name in arrays if name.endswith(naming.mark)), None)
        if prefix is not None:
            own = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
            beside = [name for name in arrays if not name.startswith(prefix)]
            return naming.rename(own), naming, beside
    return arrays, None, []


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


def _keras_resnet(arrays: Arrays) -> Arrays:
    """``res2a_branch2b/kernel`` is ``features.4.0.body.3.weight`` in Gluon. What Gluon's layers lack is moved into their
    batch-norms, so that features stay the same: a bias is taken from the running mean, and the difference between the two
    small constants below the root (1e-3 and 1e-5) is added to the running variance."""
    kinds = {
        "kernel": "weight", "bias": "bias", "gamma": "gamma", "beta": "beta",
        "moving_mean": "running_mean", "moving_variance": "running_var",
    }  # fmt: skip
    renamed, biases = {}, {}
    for name, array in arrays.items():
        layer, _, kind = name.rpartition("/")
        if layer == "fc1000":
            renamed[f"output.{kinds[kind]}"] = array.T
            continue
        place = _place_in_gluon(layer)
        if kind == "bias" and not place.endswith(("body.0", "body.6")):
            before, _, number = place.rpartition(".")
            biases[f"{before}.{int(number) + 1}.running_mean"] = array
        else:
            turned = array.transpose(3, 2, 0, 1) if kind == "kernel" else array
            renamed[f"{place}.{kinds[kind]}"] = turned + (1e-3 - 1e-5) * (kind == "moving_variance")
    for name, bias in biases.items():
        renamed[name] = renamed[name] - bias
    return renamed


def _place_in_gluon(layer: str) -> str:
    """The path of Keras's layer: a stem, or stage, block and branch, each a convolution and its batch-norm."""
    normalises = layer.startswith("bn")
    found = re.fullmatch(r"(?:res|bn)([2-5])([a-f])_branch(1|2[abc])", layer)
    if found is None:
        return {"conv1": "features.0", "bn_conv1": "features.1"}[layer]
    stage, block, branch = int(found[1]) + 2, ord(found[2]) - ord("a"), found[3]
    inside, first = ("downsample", 0) if branch == "1" else ("body", 3 * "abc".index(branch[1]))
    return f"features.{stage}.{block}.{inside}.{first + normalises}"


NAMINGS = (
    Naming("MXNet's Inception-BN", "conv_1_weight", ("inception_bn", "inception_bn_caffe"), dict),
    Naming("PyTorch's BN-Inception", "conv1_7x7_s2.weight", ("inception_bn_caffe",), _bn_inception),
    Naming(
        "torchvision's ResNet", "layer1.0.conv1.weight", ("resnet50_v1b", "resnet18_v1b"), _gluon_batchnorm
    ),
    Naming("Keras's ResNet-50", "res2a_branch2a/kernel", ("resnet50_v1",), _keras_resnet),
    Naming(
        "PyTorch's EfficientNet-Lite",
        "_conv_stem.weight",
        ("efficientnet_lite0", "efficientnet_lite1", "efficientnet_lite2"),
        _efficientnet,
    ),
)
