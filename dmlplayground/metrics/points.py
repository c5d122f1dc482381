"""Embeddings as the evaluation sees them: checked once, read a block at a time, never copied as a whole.

``Points`` holds the exact side: rows in float64 and the distance that decides every comparison. ``Frame``
holds the fast side: the same rows in float32, moved and scaled so that one matrix product a tile gives nearly
the same numbers, with a proven bound on the difference. Whatever the bound cannot decide, the exact distance
does; hence the order of neighbours depends on the embeddings alone, not on blocks, threads or the BLAS.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import UserError, unknown

DISTANCES = ("euclidean", "cosine", "hamming")
SLICE = 2**20  # numbers converted at a time: fits the cache, and keeps float64 copies small


def as_labels(labels, size: int, name: str) -> np.ndarray:
    """Checked labels: any integers, one a row."""
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iub" or labels.shape != (size,):
        raise UserError(
            f"{name} must be {size} integers, one a row, not {labels.dtype} of shape {labels.shape}."
        )
    return labels


class Points:
    """Rows of numbers and the distance between them.

    "euclidean": squared differences, summed. "cosine": one minus the inner product of the rows at unit
    length; an all-zero row has similarity 0 to everything. "hamming": bits that differ; rows of uint8 are
    packed bits (as ``numpy.packbits`` makes them), any other rows are one number a bit, set where it is above
    zero. A row that is not finite is an error: it has no neighbours, and any score given to it would hide a
    broken model.
    """

    def __init__(self, values, distance: str = "euclidean"):
        if distance not in DISTANCES:
            raise unknown("distance", distance, DISTANCES)
        values = np.asarray(values)
        if values.ndim != 2 or 0 in values.shape or values.dtype.kind not in "fiub":
            raise UserError(
                f"embeddings must be rows of numbers, not {values.dtype} of shape {values.shape}."
            )
        self.distance = distance
        self._check_finite(values)
        self.raw = _pack(values) if distance == "hamming" else _as_floats(values)
        self.dim = self.raw.shape[1] * 8 if distance == "hamming" else self.raw.shape[1]
        self.length = self._lengths() if distance == "cosine" else np.ones(len(values))

    def __len__(self) -> int:
        return len(self.raw)

    def slices(self, stop: int | None = None):
        """Consecutive slices of rows, small enough to convert to float64 in the cache."""
        step = max(1, SLICE // self.dim)
        stop = len(self) if stop is None else stop
        return (slice(start, min(start + step, stop)) for start in range(0, stop, step))

    def rows(self, which) -> np.ndarray:
        """Rows as the distance sees them, in float64: as they are, at unit length, or as bits."""
        raw = self.raw[which]
        if self.distance == "hamming":
            return np.unpackbits(raw, axis=1).astype(np.float64)
        return raw / self.length[which, None]

    def _check_finite(self, values: np.ndarray) -> None:
        if values.dtype.kind != "f":
            return
        step = max(1, SLICE // values.shape[1])
        for start in range(0, len(values), step):
            bad = ~np.isfinite(values[start : start + step]).all(axis=1)
            if bad.any():
                row = start + int(np.argmax(bad))
                raise UserError(f"embedding {row} holds a value that is not finite (NaN or infinity).")

    def _lengths(self) -> np.ndarray:
        lengths = [np.linalg.norm(self.raw[rows].astype(np.float64), axis=1) for rows in self.slices()]
        lengths = np.concatenate(lengths)
        return np.where(lengths > 0, lengths, 1.0)


def _as_floats(values: np.ndarray) -> np.ndarray:
    """Native float32 and float64 stay where they are (also on disk); other numbers are copied."""
    kind = np.float32 if np.can_cast(values.dtype, np.float32) else np.float64
    return np.asarray(np.ascontiguousarray(values, dtype=kind))


def _pack(values: np.ndarray) -> np.ndarray:
    if values.dtype == np.uint8:
        return np.ascontiguousarray(values)
    step = max(1, SLICE // values.shape[1])
    parts = (values[start : start + step] > 0 for start in range(0, len(values), step))
    return np.concatenate([np.packbits(part, axis=1) for part in parts])


@dataclass(frozen=True)
class Block:
    """Rows in a frame. A tile of products of query rows x and reference rows y gives ``bias(y) - x.y``, which
    is ``gain * distance - shift(x)`` up to rounding."""

    rows: np.ndarray  # float32
    norms: np.ndarray
    bias: np.ndarray
    shift: np.ndarray


class Frame:
    """Coordinates for float32 products: centred, so that rounding is small against differences, and scaled by
    a power of two to lengths of at most 1, so that nothing overflows. Bits stay 0 and 1: their products are
    exact. Float32 rows that would gain nothing (``plain``) stay as they are, and need no copy.
    """

    def __init__(self, *sets: Points):
        first = sets[0]
        self.distance, self.dim = first.distance, first.dim
        self.exact = self.distance == "hamming"
        self.centre, self.factor = np.zeros(self.dim), 1.0
        self.reach = max(_longest(points, self.centre) for points in sets)
        if not np.isfinite(self.reach):
            raise UserError("embeddings are too large: their squares overflow.")
        self.plain = self._can_stay(sets)
        if not (self.exact or self.plain):
            self.centre = _mean(first)
            longest = max(_longest(points, self.centre) for points in sets)
            self.factor = 2.0 ** -np.ceil(np.log2(longest)) if longest > 0 else 1.0
        self.gain = self.factor**2 / (1 if self.distance == "cosine" else 2)

    def rows(self, points: Points, which: np.ndarray | slice) -> np.ndarray:
        """Rows in this frame, float32."""
        if self.plain:
            return points.raw[which]
        which = np.arange(len(points))[which]
        rows = np.empty((len(which), self.dim), np.float32)
        for part in points.slices(len(which)):
            rows[part] = self._place(points, which[part])
        return rows

    def block(self, points: Points, which: np.ndarray | slice) -> Block:
        rows = self.rows(points, which)
        squares = np.concatenate([np.einsum("ij,ij->i", x, x) for x in _float64_parts(points, rows)])
        if self.distance != "cosine":
            return Block(rows, np.sqrt(squares), squares / 2, squares / 2)
        centre = self.centre * self.factor
        which = np.arange(len(points))[which]
        along = np.concatenate(
            [self._place(points, which[part]) @ centre for part in points.slices(len(which))]
        )
        return Block(rows, np.sqrt(squares), -along, self.factor**2 - centre @ centre - along)

    def _place(self, points: Points, which: np.ndarray) -> np.ndarray:
        """Rows in this frame before they are rounded, float64."""
        return (points.rows(which) - self.centre) * self.factor

    def slack(self, queries: Block, references: Block) -> np.ndarray:
        """For each query: how far a value of the tile may be from ``gain * distance - shift``, whatever the
        order in which the product was summed: the bound of float32 rounding over dim + 8 operations, and
        float64's of the rest.
        """
        if self.exact:
            return np.zeros(len(queries.norms))
        longest, bias = references.norms.max(), np.abs(references.bias).max()
        product = 2.0**-24 * (queries.norms * longest + bias)
        reach = self.reach * self.factor
        rest = 2.0**-52 * reach * (queries.norms + longest + (reach if self.distance == "cosine" else 0))
        return 1.01 * (self.dim + 8) * (product + rest) + 1e-30

    def _can_stay(self, sets: tuple[Points, ...]) -> bool:
        if self.distance != "euclidean" or any(points.raw.dtype != np.float32 for points in sets):
            return False
        mean = _mean(sets[0])
        return 2.0**-20 < self.reach < 2.0**20 and 2 * (mean @ mean) < _mean_square(sets[0])


def hamming_distances(one: Points, other: Points, queries: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Differing bits of each of the ``queries`` and its own ``columns``, of which -1 is infinitely far."""
    out = np.full(columns.shape, np.inf)
    row, place = np.nonzero(columns >= 0)
    for part in one.slices(len(row)):
        i, m = row[part], place[part]
        out[i, m] = _SET_BITS[one.raw[queries[i]] ^ other.raw[columns[i, m]]].sum(axis=1)
    return out


_SET_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)


def _float64_parts(points: Points, rows: np.ndarray):
    return (rows[part].astype(np.float64) for part in points.slices(len(rows)))


def _mean(points: Points) -> np.ndarray:
    return sum(points.rows(part).sum(axis=0) for part in points.slices()) / len(points)


def _mean_square(points: Points) -> float:
    return sum(float(np.vdot(rows, rows)) for rows in map(points.rows, points.slices())) / len(points)


def _longest(points: Points, centre: np.ndarray) -> float:
    parts = (points.rows(part) - centre for part in points.slices())
    return float(np.sqrt(max(np.einsum("ij,ij->i", rows, rows).max() for rows in parts)))
