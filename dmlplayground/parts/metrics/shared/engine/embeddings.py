"""Embeddings as the evaluation sees them: checked once, read a block at a time, never copied as a whole."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .....base.errors import UserError, unknown

DISTANCES = ("euclidean", "cosine", "hamming")
SMALLEST = 2.0**-500  # the squares of smaller lengths lose digits in float64, or vanish
STANDARDISED = 4096  # rows at a time
SLICE = 2**20  # numbers converted at a time: fits the cache, and keeps float64 copies small


def as_numpy(values: Any) -> np.ndarray:
    """Arrays of any framework, and lists, as NumPy arrays."""
    try:
        return values.asnumpy() if hasattr(values, "asnumpy") else np.asarray(values)
    except ValueError:
        raise UserError("embeddings and labels must be arrays, or lists of rows of one length.") from None


def as_numbers(*labels: Any) -> list:
    """Labels that are words, of queries and of a gallery, as numbers; others as they are."""
    given = [None if each is None else as_numpy(each) for each in labels]
    present = [each for each in given if each is not None]
    if not all(each.ndim == 1 and (each.dtype.kind == "U" or _are_words(each)) for each in present):
        return given
    words = np.unique(np.concatenate([each.astype(np.str_) for each in present]))
    return [None if each is None else np.searchsorted(words, each.astype(np.str_)) for each in given]


def _are_words(labels: np.ndarray) -> bool:
    return labels.dtype.kind == "O" and all(isinstance(each, str) for each in labels)


def as_labels(labels: Any, size: int, name: str) -> np.ndarray:
    """Checked labels: whole numbers of any type, one a row."""
    labels = as_numpy(labels)
    if labels.dtype.kind == "f" and np.all(labels == np.floor(labels)):
        # From here on such a type cannot tell a whole number from the next, nor can int64 hold all of them.
        limit = min(2 / float(np.finfo(labels.dtype).eps), 2.0**63)
        if not np.all(abs(labels) < limit):
            raise UserError(
                f"{name} of {labels.dtype} must be below {limit:.0f}, where whole numbers are exact; use integers."
            )
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "iub" or labels.shape != (size,):
        raise UserError(
            f"{name} must be {size} whole numbers or words, one a row, not {labels.dtype} of shape {labels.shape}."
        )
    return labels


class Embeddings:
    """Rows of numbers and the distance between them.

    "euclidean": squared differences, summed. "cosine": one minus the inner product of the rows at unit
    length; an all-zero row has similarity 0 to everything. "hamming": bits that differ; rows of uint8 are
    packed bits (as ``numpy.packbits`` makes them), any other rows are one number a bit, set where it is above
    zero. A row that is not finite is an error: it has no neighbours, and any score given to it would hide a
    broken model. ``name`` is what the error calls a row.
    """

    def __init__(self, values: Any, distance: str = "euclidean", name: str = "embedding"):
        if distance not in DISTANCES:
            raise unknown("distance", distance, DISTANCES)
        values = as_numpy(values)
        if values.ndim != 2 or 0 in values.shape or values.dtype.kind not in "fiub":
            raise UserError(f"embeddings are rows of numbers, not {values.dtype} of shape {values.shape}.")
        self.distance = distance
        for part in _slices(*values.shape):
            bad = ~np.isfinite(values[part]).all(axis=1)
            if bad.any():
                row = part.start + int(np.argmax(bad))
                raise UserError(f"{name} {row} holds a value that is not finite (NaN or infinity).")
        self.raw = (_pack(values) if distance == "hamming" else _as_floats(values)).view()
        # Always, as arrays on disk are: numba compiles every loop for each kind it meets.
        self.raw.flags.writeable = False
        self.dim = self.raw.shape[1] * 8 if distance == "hamming" else self.raw.shape[1]
        self.packed = distance == "hamming" and values.dtype == np.uint8
        self.width = self.dim if self.packed else values.shape[1]  # without the bits that fill the last byte
        self.length = np.ones(len(values))
        if distance == "cosine":
            lengths = np.concatenate([_norms(self.raw[rows].astype(np.float64)) for rows in self.slices()])
            if not np.isfinite(lengths).all():
                raise UserError("embeddings are too large: their lengths overflow.")
            self.length = np.where(lengths > 0, lengths, 1.0)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """In another process: arrays of the same kinds as here, so that no loop is compiled again."""
        self.__dict__.update(state, raw=state["raw"].view(), length=state["length"].copy())
        self.raw.flags.writeable = False

    def __len__(self) -> int:
        return len(self.raw)

    def slices(self, stop: int | None = None) -> Iterator[slice]:
        """Consecutive slices of rows, small enough to convert to float64 in the cache."""
        return _slices(len(self) if stop is None else stop, self.dim)

    def rows(self, which: np.ndarray | slice) -> np.ndarray:
        """Rows as the distance sees them, in float64: as they are, at unit length, or as bits."""
        raw = self.raw[which]
        if self.distance == "hamming":
            return np.unpackbits(raw, axis=1).astype(np.float64)
        return raw / self.length[which, None] if self.distance == "cosine" else raw.astype(np.float64)


def _slices(rows: int, width: int) -> Iterator[slice]:
    step = max(1, SLICE // width)
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def _as_floats(values: np.ndarray) -> np.ndarray:
    """Native float32 and float64 stay where they are (also on disk); other numbers are copied."""
    kind = np.float32 if np.can_cast(values.dtype, np.float32) else np.float64
    return np.asarray(np.ascontiguousarray(values, dtype=kind))


def _norms(rows: np.ndarray) -> np.ndarray:
    """The rows' lengths, also where their squares are too large or too small for float64."""
    with np.errstate(over="ignore", under="ignore"):
        lengths = np.linalg.norm(rows, axis=1)
        for row in np.flatnonzero((lengths < SMALLEST) | (lengths > 1 / SMALLEST)):
            largest = abs(rows[row]).max()
            if largest > 0:
                lengths[row] = largest * np.linalg.norm(rows[row] / largest)
    return lengths


def _pack(values: np.ndarray) -> np.ndarray:
    if values.dtype == np.uint8:
        return np.ascontiguousarray(values)
    return np.concatenate([np.packbits(values[part] > 0, axis=1) for part in _slices(*values.shape)])


def hamming_distances(one: Embeddings, other: Embeddings, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Differing bits of pairs of rows."""
    out = np.empty(len(rows))
    for part in one.slices(len(rows)):
        out[part] = _SET_BITS[one.raw[rows[part]] ^ other.raw[others[part]]].sum(axis=1)
    return out


def group_sums(points: Embeddings, groups: np.ndarray, count: int) -> np.ndarray:
    """The sum of the rows of each of ``count`` groups, in float64."""
    order = np.argsort(groups, kind="stable")
    sums = np.zeros((count, points.dim))
    for part in points.slices():
        present, starts = np.unique(groups[order[part]], return_index=True)
        sums[present] += np.add.reduceat(points.rows(order[part]), starts, axis=0)
    return sums


def principal_components(embeddings: np.ndarray, count: int) -> np.ndarray:
    """The rows by their first ``count`` principal components (fewer where they have fewer numbers), at unit length.

    Every number is standardised first: less its mean, over its standard deviation. Components are not whitened. Both are
    found from these very rows.
    """
    mean = embeddings.mean(axis=0, dtype=np.float64)
    spread = embeddings.std(axis=0, dtype=np.float64)
    scale = np.where(spread > 0, spread, 1)
    blocks = [slice(start, start + STANDARDISED) for start in range(0, len(embeddings), STANDARDISED)]

    def standardised(block: slice) -> np.ndarray:
        return (embeddings[block] - mean) / scale

    scatter = sum(rows.T @ rows for rows in map(standardised, blocks))
    directions = np.linalg.eigh(scatter)[1][:, ::-1][:, :count]
    reduced = np.concatenate([standardised(block) @ directions for block in blocks])
    lengths = np.maximum(np.linalg.norm(reduced, axis=1, keepdims=True), 1e-12)
    return (reduced / lengths).astype(np.float32)


_SET_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)
