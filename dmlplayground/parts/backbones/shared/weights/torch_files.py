"""Tensors of a PyTorch file as NumPy arrays, without PyTorch (which takes 750 MB) and without executing anything in the
file. Such a file is a pickle, and a pickle can call any function. This reader knows the few names that a state dict
needs, builds arrays from them, and refuses all others. Both of PyTorch's formats are read: the zip archive (since 1.6)
and the stream of pickles before it. Most networks here start from such files."""

import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from .....base.errors import UserError

# The pickled number that the older format begins with.
LEGACY_MAGIC = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
BFLOAT16 = "bfloat16"
_DTYPES = {
    "DoubleStorage": "<f8", "FloatStorage": "<f4", "HalfStorage": "<f2", "BFloat16Storage": BFLOAT16,
    "LongStorage": "<i8", "IntStorage": "<i4", "ShortStorage": "<i2", "CharStorage": "|i1",
    "ByteStorage": "|u1", "BoolStorage": "|b1",
}  # fmt: skip


@dataclass
class _Storage:
    """The numbers that tensors are cut from, once they have been read."""

    dtype: str
    values: Any = None


class _Tensor(NamedTuple):
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def array(self) -> np.ndarray:
        values = self.storage.values
        begin, *steps = (values.itemsize * places for places in (self.offset, *self.strides))
        try:
            tensor: Any = np.ndarray(self.shape, values.dtype, values, begin, tuple(steps))
        except ValueError:
            tensor = None
        if tensor is None or tensor.size > len(values):  # a stride of 0 would fill any memory
            raise ValueError("a tensor lies outside its storage")
        return tensor.copy()


def _rebuild_tensor(storage: _Storage, offset: int, shape: Any, strides: Any, *_: Any) -> _Tensor:
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


_KNOWN: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch", "Size"): tuple,
    ("torch._utils", "_rebuild_tensor"): _rebuild_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
    ("torch._utils", "_rebuild_parameter"): lambda tensor, *_: tensor,
    **{("torch", name): dtype for name, dtype in _DTYPES.items()},
}


def numbers(content: bytes | memoryview, dtype: str) -> np.ndarray:
    """Stored numbers; those in bfloat16 are the upper halves of float32."""
    if dtype == BFLOAT16:
        return (np.frombuffer(content, "<u2").astype("<u4") << 16).view("<f4")
    return np.frombuffer(content, dtype)


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: IO[bytes]):
        super().__init__(stream)
        self.storages: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _KNOWN[module, name]
        except KeyError:
            raise UserError(
                f"holds more than tensors: it would call {module}.{name}, which is refused. "
                "Save the state dict alone (torch.save(model.state_dict(), FILE))."
            ) from None

    def persistent_load(self, identity: Any) -> _Storage:
        kind, dtype, key = identity[:3]
        if kind != "storage" or dtype not in _DTYPES.values():
            raise ValueError(f"a reference to {kind!r}")
        return self.storages.setdefault(key, _Storage(dtype))


def read(path: str | Path) -> dict[str, np.ndarray]:
    """The tensors of a state dict (at the top, or inside a saved training state), by name."""
    try:
        content = _read_archive(path) if zipfile.is_zipfile(path) else _read_stream(path)
        return {name: tensor.array() for name, tensor in _state_dict(content).items()}
    except UserError as problem:
        raise UserError(f"{path} {problem}") from None
    except Exception as problem:  # a damaged pickle can raise anything
        raise UserError(f"{path} is not a PyTorch file of weights, or is damaged: {problem}.") from None


def _read_archive(path: str | Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        pickled = next((name for name in archive.namelist() if name.endswith("data.pkl")), None)
        if pickled is None:
            raise UserError("is a zip archive, but not one of PyTorch's.")
        folder = pickled[: -len("data.pkl")]
        if folder + "byteorder" in archive.namelist() and archive.read(folder + "byteorder") != b"little":
            raise UserError("was written on a big-endian machine, which is not supported.")
        with archive.open(pickled) as stream:
            unpickler = _Unpickler(stream)
            content = unpickler.load()
        for key, storage in unpickler.storages.items():
            storage.values = numbers(archive.read(f"{folder}data/{key}"), storage.dtype)
    return content


def _read_stream(path: str | Path) -> Any:
    with Path(path).open("rb") as stream:
        for _ in ("magic", "the version of the format", "sizes of the writer's integers"):
            _Unpickler(stream).load()
        unpickler = _Unpickler(stream)
        content = unpickler.load()
        for key in _Unpickler(stream).load():  # after the pickle: of each storage its length and its numbers
            storage = unpickler.storages[key]
            size = 2 if storage.dtype == BFLOAT16 else np.dtype(storage.dtype).itemsize
            content_of = stream.read(int.from_bytes(stream.read(8), "little") * size)
            storage.values = numbers(content_of, storage.dtype)
    return content


def _state_dict(content: Any) -> dict[str, _Tensor]:
    """The mapping from names to tensors, at the top or one level down (in ``{"state_dict": ...}``)."""
    inside = [content, *content.values()] if isinstance(content, Mapping) else []
    for mapping in (one for one in inside if isinstance(one, Mapping)):
        if tensors := {name: value for name, value in mapping.items() if isinstance(value, _Tensor)}:
            return tensors
    raise UserError("holds no named tensors.")
