"""Weights on disk: read whatever framework wrote them, recognised by their names, loaded whole or not at all.

``read`` takes MXNet's ``.params``, ``.safetensors``, PyTorch's checkpoints and the weights of a trial of
ours; ``recognise`` gives the arrays the names our networks use; ``load`` puts them in, and names every
parameter that is missing, too many or of another shape.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import files
from ..errors import UserError
from . import torchfiles

Arrays = dict[str, np.ndarray]

_PARAMS_MAGIC = (0x112).to_bytes(8, "little")  # a list of NDArrays
_SAFETENSORS_DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip


# --- reading and writing ------------------------------------------------------------------------------------


def read(path: str | Path) -> Arrays:
    """The named arrays of a checkpoint, whatever framework wrote it. Nothing in the file is executed."""
    path = Path(path)
    try:
        with path.open("rb") as stream:
            start = stream.read(len(torchfiles.LEGACY_MAGIC))
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    if start.startswith(_PARAMS_MAGIC):
        return _read_params(path)
    if start[8:9] == b"{":
        return _read_safetensors(path)
    if zipfile.is_zipfile(path) and "header.json.npy" in zipfile.ZipFile(path).namelist():
        return _read_trial(path)
    if start == torchfiles.LEGACY_MAGIC or zipfile.is_zipfile(path):
        return torchfiles.read(path)
    raise UserError(
        f"{path} is none of the formats read here: MXNet .params, .safetensors, a PyTorch state dict."
    )


def _read_params(path: Path) -> Arrays:
    from mxnet import MXNetError, nd

    try:
        stored = nd.load(str(path))
    except MXNetError:
        stored = None
    if not isinstance(stored, dict) or not stored:
        raise UserError(f"{path} is a damaged .params file, or one without names.")
    return {
        name.partition(":")[2] if name[:4] in ("arg:", "aux:") else name: array.asnumpy()
        for name, array in stored.items()
    }


def _read_safetensors(path: Path) -> Arrays:
    """Eight bytes with the length of a JSON header, the header, and the arrays at the places it names."""
    content = memoryview(path.read_bytes())  # slices of it are not copies
    begin = 8 + int.from_bytes(content[:8], "little")
    try:
        header = json.loads(bytes(content[8:begin]))
        header.pop("__metadata__", None)
        return {name: _safetensor(entry, content[begin:]) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise UserError(f"{path} is not a .safetensors file, or is damaged: {problem}.") from None


def _safetensor(entry: Mapping[str, Any], body: memoryview) -> np.ndarray:
    first, last = entry["data_offsets"]
    part = body[first:last]
    if entry["dtype"] == "BF16":
        values = (np.frombuffer(part, "<u2").astype("<u4") << 16).view("<f4")
    else:
        values = np.frombuffer(part, _SAFETENSORS_DTYPES[entry["dtype"]])
    return values.reshape(entry["shape"])


def _read_trial(path: Path) -> Arrays:
    """The backbone's part of a trial's weights."""
    prefix = "network.backbone."
    _, arrays = files.read_arrays(path)
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


def write(path: str | Path, network) -> None:
    """The network's parameters as ``.params`` under the names that its published checkpoint has."""
    from mxnet import cpu, nd

    arrays = {}
    for name, parameter in published(network).items():
        kind = "aux" if name.endswith(("running_mean", "running_var", "moving_mean", "moving_var")) else "arg"
        arrays[f"{kind}:{name}"] = parameter.data(parameter.list_ctx()[0]).as_in_context(cpu())
    with files.replacing(path, "wb") as file:
        nd.save(file.name, arrays)


# --- names --------------------------------------------------------------------------------------------------


class Naming(NamedTuple):
    """A convention by which parameters are named elsewhere: how to tell it, and what its names are here."""

    title: str
    mark: str  # a name that every checkpoint of the kind has, perhaps after a prefix such as "module."
    backbones: tuple[str, ...]
    rename: Callable[[Arrays], Arrays]


class Recognised(NamedTuple):
    """Arrays under our names, the naming they had (None: no known one), and the names of what was beside
    them."""

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
    """``inception_3a_double_3x3_1_bn.gamma`` is ``bn_3a_double_3x3_0_gamma`` in the MXNet checkpoint."""
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
    Naming("PyTorch's EfficientNet-Lite", "_conv_stem.weight", ("efficientnet_lite0",), _efficientnet),
)


def published(network) -> dict[str, Any]:
    """The network's parameters by the names of its published checkpoint: those of MXNet's symbolic networks
    are the parameters' own (``conv_1_weight``), those of Gluon's are paths (``layer1.0.conv1.weight``)."""
    return by_name(network) if network.prefix == "" else by_path(network)


def by_path(network) -> dict[str, Any]:
    return network._collect_params_with_prefix()


def by_name(network) -> dict[str, Any]:
    return {name[len(network.prefix) :]: parameter for name, parameter in network.collect_params().items()}


# --- loading ------------------------------------------------------------------------------------------------


def load(network, arrays: Arrays, source: object) -> None:
    """Put the arrays into the network: all of its parameters, and no array left over but the classifier's."""
    own = by_path(network) if any("." in name for name in arrays) else by_name(network)
    left_out = getattr(network, "left_out", ())
    missing = [name for name in own if name not in arrays]
    extra = [name for name in arrays if name not in own and name not in left_out]
    if missing or extra:
        raise UserError(
            f"{source} does not fit this network. Missing: {_some(missing)}. Not part of it: {_some(extra)}."
        )
    for name, parameter in own.items():
        if parameter.shape != arrays[name].shape:
            raise UserError(
                f"{source}: {name} has the shape {arrays[name].shape}; this network needs {parameter.shape}."
            )
        if not np.isfinite(arrays[name]).all():
            raise UserError(f"{source}: {name} holds values that are not finite.")
    from mxnet import nd

    for name, parameter in own.items():
        parameter.set_data(nd.array(arrays[name].astype(np.float32)))


def _some(names: list[str]) -> str:
    if not names:
        return "nothing"
    shown = ", ".join(names[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown
