"""An index in one file: nothing but its end is read when it is opened, and later only what is looked at.

    the arrays one after another, each from a whole number of blocks on
    a CRC-32 of every block, then a JSON text that says where which array stands
    the length of these two, their SHA-256, and ``MAGIC``

A block is checked when something of it is first read. Since one SHA-256 covers all of the checksums, and the file takes its
place in one step, names and embeddings always belong together.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Union, overload

import numpy as np

from ..base import files
from ..base.errors import UserError

MAGIC = b"dmlindex"
BLOCK = 1 << 14  # bytes: few enough that a row costs little, enough that the checksums are small
END = struct.Struct("<Q32s8s")


def write(path: Path, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays of any shapes, and what JSON can say about them."""
    sums: list[int] = []
    places: dict[str, Any] = {}
    with files.replacing(path, "wb") as file:
        for name, array in arrays.items():
            places[name] = {"start": len(sums), "shape": array.shape, "dtype": array.dtype.str}
            content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            for start in range(0, len(content), BLOCK):
                block = content[start : start + BLOCK].tobytes().ljust(BLOCK, b"\0")
                sums.append(zlib.crc32(block))
                file.write(block)
        described = json.dumps({"about": about, "arrays": places, "blocks": len(sums)}).encode()
        end = np.array(sums, "<u4").tobytes() + described
        file.write(end)
        file.write(END.pack(len(end), hashlib.sha256(end).digest(), MAGIC))


class IndexFile:
    """The file, opened. What is damaged is a UserError as soon as it is looked at."""

    def __init__(self, path: Path):
        self.path = path
        try:
            with files.opened(path) as file:
                size = os.fstat(file.fileno()).st_size
                if size < END.size:
                    raise self._damaged("it is too short")
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as problem:
            raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
        length, digest, magic = END.unpack(self._map[size - END.size :])
        if magic != MAGIC:
            raise UserError(f"{path} is not an index, or it is cut: it does not end as an index does.")
        end = self._map[max(0, size - END.size - length) : size - END.size]
        if hashlib.sha256(end).digest() != digest:
            raise self._damaged("the checksum of its list of contents is wrong")
        text = end.rindex(b'{"about"')
        described = json.loads(end[text:])
        self._sums = np.frombuffer(end[:text], "<u4")
        if len(self._sums) * BLOCK + length + END.size != size:
            raise self._damaged("it is shorter or longer than it says")
        self.about: dict[str, Any] = described["about"]
        self._places: dict[str, Any] = described["arrays"]
        self._checked = np.zeros(len(self._sums), bool)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self._places[name]["shape"])

    def array(self, name: str) -> np.ndarray:
        """A whole array, mapped and not copied."""
        array = self._mapped(name)
        self._check(name, np.arange(-(-array.nbytes // BLOCK)))
        return array

    def rows(self, name: str, rows: np.ndarray) -> np.ndarray:
        """A copy of some rows of an array."""
        array = self._mapped(name)
        if len(rows):
            width = array.nbytes // len(array)
            first, last = rows * width // BLOCK, ((rows + 1) * width - 1) // BLOCK
            spans = (first + number for number in range(int((last - first).max()) + 1))
            self._check(name, np.unique(np.concatenate([np.minimum(span, last) for span in spans])))
        return array[rows]

    def text(self, name: str, first: int, last: int) -> bytes:
        """Some bytes of an array of bytes."""
        self._check(name, np.arange(first // BLOCK, -(-last // BLOCK)))
        return self._mapped(name)[first:last].tobytes()

    def check(self) -> None:
        """Read all of the file."""
        self._check_blocks(np.arange(len(self._sums)))

    def _mapped(self, name: str) -> np.ndarray:
        place = self._places[name]
        kind, shape = np.dtype(place["dtype"]), tuple(place["shape"])
        start, count = place["start"] * BLOCK, int(np.prod(shape))
        return np.frombuffer(self._map, kind, count, start if count else 0).reshape(shape)

    def _check(self, name: str, blocks: np.ndarray) -> None:
        self._check_blocks(self._places[name]["start"] + blocks)

    def _check_blocks(self, blocks: np.ndarray) -> None:
        with memoryview(self._map) as content:
            for block in blocks[~self._checked[blocks]].tolist():
                if zlib.crc32(content[block * BLOCK : (block + 1) * BLOCK]) != self._sums[block]:
                    raise self._damaged(f"the checksum of block {block} is wrong")
        self._checked[blocks] = True

    def _damaged(self, how: str) -> UserError:
        return UserError(f"the index {self.path} is damaged: {how}. Embed the images again.")


class StoredRows:
    """The rows of an array of such a file, each read when it is asked for."""

    def __init__(self, stored: IndexFile, name: str):
        self._stored, self._name = stored, name
        self.shape = stored.shape(name)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> np.ndarray:
        return self._stored.rows(self._name, np.arange(len(self))[key])

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self._stored.array(self._name), dtype)


class Texts(Sequence[str]):
    """Texts in such a file: their bytes one after another, and where each ends."""

    def __init__(self, stored: IndexFile, name: str):
        self._stored, self._name = stored, name
        self._ends = StoredRows(stored, f"{name} end")

    @staticmethod
    def arrays(name: str, texts: Sequence[str]) -> dict[str, np.ndarray]:
        coded = [text.encode("utf-8", "surrogateescape") for text in texts]
        ends = np.cumsum([0, *map(len, coded)], dtype=np.int64)
        return {name: np.frombuffer(b"".join(coded), np.uint8), f"{name} end": ends}

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: Union[int, slice]) -> Union[str, list[str]]:
        if isinstance(key, slice):
            return [self[row] for row in range(len(self))[key]]
        row = range(len(self))[key]
        first, last = self._ends[[row, row + 1]].tolist()
        return self._stored.text(self._name, first, last).decode("utf-8", "surrogateescape")

    def __iter__(self) -> Iterator[str]:
        ends = np.asarray(self._ends).tolist()
        whole = self._stored.array(self._name).tobytes()
        for first, last in zip(ends, ends[1:]):
            yield whole[first:last].decode("utf-8", "surrogateescape")
