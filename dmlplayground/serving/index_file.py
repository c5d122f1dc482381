"""The files that an index is kept in: our own, and those for other programs.

Of an ``.index`` nothing but its end is read when it is opened, and later only what is looked at:

    the arrays one after another, each from a whole number of blocks on
    a CRC-32 of every block, then a JSON text that says where which array stands
    the length of these two, their SHA-256, and ``MAGIC``

A block is checked when something of it is first read. Since one SHA-256 covers all of the checksums, and the file takes its
place in one step, names and embeddings always belong together.
"""

import hashlib
import itertools
import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..base import array_files, files, optional
from ..base.errors import UserError, warn
from .neighbours import Codes

MAGIC = b"dmlindex"
BLOCK = 1 << 14  # bytes: few enough that a row costs little, enough that the checksums are small
END = struct.Struct("<Q32s8s")
#: What a .parquet calls it.
ABOUT = {"weights": b"dmlplayground weights", "model": b"model", "distance": b"distance"}


@dataclass(frozen=True)
class Rows:
    """What an index knows of each image."""

    embeddings: Any  # (N, E) float32
    names: Sequence[str]
    classes: Sequence[str]
    digests: Sequence[str]  # of its content: SHA-256, in hexadecimal

    def __add__(self, other: "Rows") -> "Rows":
        texts = ((*one, *two) for one, two in zip(self.texts().values(), other.texts().values()))
        return Rows(np.concatenate([self.numbers(), other.numbers()]), *texts)

    def take(self, kept: Sequence[int]) -> "Rows":
        texts = (list(each) for each in self.texts().values())
        embeddings = np.asarray(self.embeddings)[np.asarray(kept, np.int64)]
        return Rows(embeddings, *(tuple(each[row] for row in kept) for each in texts))

    def texts(self) -> dict[str, Sequence[str]]:
        return {"names": self.names, "classes": self.classes, "digests": self.digests}

    def numbers(self) -> np.ndarray:
        return np.asarray(self.embeddings, np.float32)

    def check(self, path: Path) -> None:
        lengths = {len(self.embeddings), *map(len, self.texts().values())}
        if self.embeddings.ndim != 2 or len(lengths) > 1:
            raise UserError(f"{path} has {len(self.embeddings)} rows, and names {len(self.names)} files.")
        if not np.isfinite(self.embeddings).all():
            raise UserError(f"{path} holds numbers that are not finite: nothing can be searched in it.")


class Saved(NamedTuple):
    """What a file holds. ``about``: the model, its weights and the distance, as far as they are known."""

    rows: Rows
    about: Mapping[str, str]
    file: "IndexFile | None" = None  # that the rows are still in


# --- our own --------------------------------------------------------------------------------------------------


def write_index(path: Path, rows: Rows, about: Mapping[str, str], codes: Codes | None) -> list[Path]:
    arrays = {"embeddings": rows.numbers()}
    for kind, texts in rows.texts().items():
        coded = [text.encode("utf-8", "surrogateescape") for text in texts]
        arrays[kind] = np.frombuffer(b"".join(coded), np.uint8)
        arrays[f"{kind} end"] = np.cumsum([0, *map(len, coded)], dtype=np.int64)
    if codes is not None:
        arrays.update({f"code {name}": array for name, array in codes._asdict().items()})
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
    return [path]


def read_index(path: Path) -> Saved:
    file = IndexFile(path)
    texts = (Texts(file, kind) for kind in ("names", "classes", "digests"))
    return Saved(Rows(StoredRows(file, "embeddings"), *texts), file.about, file)


class IndexFile:
    """The file, opened. What is damaged is a UserError as soon as it is looked at."""

    def __init__(self, path: Path):
        self.path = path
        try:
            with files.opened(path) as file:
                size = os.fstat(file.fileno()).st_size
                if size < END.size:
                    raise self._damaged("it is too short")
                self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as problem:
            raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
        length, digest, magic = END.unpack(self.map[size - END.size :])
        if magic != MAGIC:
            raise UserError(f"{path} is not an index, or it is cut: it does not end as an index does.")
        end = self.map[max(0, size - END.size - length) : size - END.size]
        if hashlib.sha256(end).digest() != digest:
            raise self._damaged("the checksum of its list of contents is wrong")
        text = end.rindex(b'{"about"')
        described = json.loads(end[text:])
        self._sums = np.frombuffer(end[:text], "<u4")
        if len(self._sums) * BLOCK + length + END.size != size:
            raise self._damaged("it is shorter or longer than it says")
        self.about: dict[str, Any] = described["about"]
        self.places: dict[str, Any] = described["arrays"]
        self._checked = np.zeros(len(self._sums), bool)

    def codes(self) -> Codes | None:
        """The rows in eight bits, if they are there."""
        if "code bytes" not in self.places:
            return None
        return Codes(*(np.asarray(StoredRows(self, f"code {name}")) for name in Codes._fields))

    def check(self, blocks: Any = ...) -> None:
        """Read these blocks, or all of them, unless that has been done."""
        blocks = np.arange(len(self._sums))[blocks]
        with memoryview(self.map) as content:
            for block in blocks[~self._checked[blocks]].tolist():
                if zlib.crc32(content[block * BLOCK : (block + 1) * BLOCK]) != self._sums[block]:
                    raise self._damaged(f"the checksum of block {block} is wrong")
        self._checked[blocks] = True

    def _damaged(self, how: str) -> UserError:
        return UserError(f"the index {self.path} is damaged: {how}. Embed the images again.")


class StoredRows:
    """An array of such a file, mapped; what is asked for is checked."""

    def __init__(self, file: IndexFile, name: str):
        place = file.places[name]
        self.shape, self._file, self._first = tuple(place["shape"]), file, place["start"]
        count = int(np.prod(self.shape))
        whole = np.frombuffer(file.map, place["dtype"], count, self._first * BLOCK if count else 0)
        self._mapped = whole.reshape(self.shape)

    def __len__(self) -> int:
        return len(self._mapped)

    def __getitem__(self, key: Any) -> np.ndarray:
        """A copy of the rows of a slice, or of those with these numbers."""
        rows = np.arange(*key.indices(len(self))) if isinstance(key, slice) else np.asarray(key, np.int64)
        if len(rows):
            width = self._mapped.nbytes // len(self)
            first, last = rows * width // BLOCK, ((rows + 1) * width - 1) // BLOCK
            spans = (first + number for number in range(int((last - first).max()) + 1))
            found = np.unique(np.concatenate([np.minimum(span, last) for span in spans]))
            self._file.check(self._first + found)
        return self._mapped[rows]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        self._file.check(slice(self._first, self._first - (-self._mapped.nbytes // BLOCK)))
        return np.asarray(self._mapped, dtype)


class Texts(Sequence[str]):
    """Texts in such a file: their bytes one after another, and where each ends."""

    def __init__(self, file: IndexFile, name: str):
        self._bytes, self._ends = StoredRows(file, name), StoredRows(file, f"{name} end")

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, row: Any) -> Any:
        row = range(len(self))[row]
        first, last = self._ends[[row, row + 1]].tolist()
        return self._bytes[first:last].tobytes().decode("utf-8", "surrogateescape")

    def __iter__(self) -> Iterator[str]:
        ends, whole = np.asarray(self._ends).tolist(), np.asarray(self._bytes).tobytes()
        for first, last in itertools.pairwise(ends):
            yield whole[first:last].decode("utf-8", "surrogateescape")


# --- for other programs -----------------------------------------------------------------------------------------


def write_npy(path: Path, rows: Rows, about: Mapping[str, str], _: Codes | None) -> list[Path]:
    manifest, names = path.with_suffix(".json"), {"files": list(rows.names)}
    described = {**about, **names, "classes": list(rows.classes), "digests": list(rows.digests)}
    embeddings = rows.numbers()
    described["sha256"] = _checksum(embeddings, described)
    with files.replacing_all() as begin:
        np.save(begin(path, "wb"), embeddings, allow_pickle=False)
        files.dump_json(described, begin(manifest))
    return [path, manifest]


def _checksum(embeddings: np.ndarray, described: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in described.items() if name != "sha256"}
    whole = hashlib.sha256(np.ascontiguousarray(embeddings).tobytes())
    whole.update(json.dumps(rest, sort_keys=True).encode())
    return whole.hexdigest()


def read_npy(path: Path) -> Saved:
    manifest = files.read_json(path.with_suffix(".json"))
    try:
        embeddings = np.asarray(np.load(path, allow_pickle=False), np.float32)
        names = tuple(map(str, manifest["files"]))
        classes = tuple(manifest.get("classes", [""] * len(names)))
        rows = Rows(embeddings, names, classes, tuple(manifest.get("digests", names)))
        checksum = manifest.get("sha256")
    except array_files.DAMAGE as problem:
        raise UserError(f"{path} and its .json are not an index written by 'embed': {problem}.") from None
    rows.check(path)
    if checksum is None:
        warn(f"{path} has no checksum, so damage would not be noticed: embed the images again to an .index.")
    elif checksum != _checksum(embeddings, manifest):
        raise UserError(
            f"{path} and its .json do not belong together, or one is damaged: embed the images again."
        )
    return Saved(rows, {name: str(manifest[name]) for name in ABOUT if name in manifest})


def write_parquet(path: Path, rows: Rows, about: Mapping[str, str], _: Codes | None) -> list[Path]:
    pyarrow, parquet = optional.load("pyarrow"), optional.load("pyarrow.parquet")
    columns = {"file": list(rows.names), "class": list(rows.classes), "digest": list(rows.digests)}
    flat = pyarrow.array(rows.numbers().ravel())
    embeddings = pyarrow.FixedSizeListArray.from_arrays(flat, rows.embeddings.shape[1])
    told = {key: about[name] for name, key in ABOUT.items()}
    table = pyarrow.table({**columns, "embedding": embeddings}).replace_schema_metadata(told)
    with files.replacing(path, "wb") as file:
        parquet.write_table(table, file, write_page_checksum=True)
    return [path]


def read_parquet(path: Path) -> Saved:
    pyarrow, parquet = optional.load("pyarrow"), optional.load("pyarrow.parquet")
    try:
        table = parquet.read_table(path, page_checksum_verification=True)
        columns = [tuple(table.column(name).to_pylist()) for name in ("file", "class", "digest")]
        column = table.column("embedding").combine_chunks()
        embeddings = np.asarray(column.flatten(), np.float32).reshape(len(column), -1)
    except (OSError, KeyError, ValueError, pyarrow.ArrowException) as problem:
        raise UserError(f"{path} is not an index written by 'embed': {problem}.") from None
    rows, told = Rows(embeddings, *columns), table.schema.metadata or {}
    rows.check(path)
    return Saved(rows, {name: told[key].decode() for name, key in ABOUT.items() if key in told})


#: How each form is read, and how it is written.
FORMS = {
    ".index": (read_index, write_index),
    ".npy": (read_npy, write_npy),
    ".parquet": (read_parquet, write_parquet),
}


def check_ending(path: Path) -> None:
    if path.suffix not in FORMS:
        raise UserError(f"an index is an .index, a .npy or a .parquet, not {path}.")


def read(path: Path) -> Saved:
    check_ending(path)
    return FORMS[path.suffix][0](path)
