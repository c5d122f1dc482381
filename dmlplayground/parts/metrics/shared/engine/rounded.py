"""The fast side of the arithmetic: embeddings in float32, one matrix product a tile, and a bound on the rounding.

Rows are moved and scaled so that a product gives nearly the exact distance, with a proven bound on the difference.
Whatever the bound cannot decide, the exact distance does (``embeddings``); hence the order of neighbours depends on the
embeddings alone, not on blocks, threads or the BLAS.
"""

from typing import NamedTuple

import numpy as np

from .....base.errors import UserError
from .embeddings import SMALLEST, Embeddings


class Known(NamedTuple):
    """Of rows in a frame: ``bias(y) - x.y`` is ``gain * distance - shift(x)`` of a query x and a reference y, rounded."""

    norms: np.ndarray
    bias: np.ndarray
    shift: np.ndarray


class Coordinates:
    """Coordinates for float32 products: centred, so that rounding is small against differences, and scaled by
    a power of two to lengths of at most 1, so that nothing overflows. Bits stay 0 and 1: their products are
    exact. Float32 rows that would gain nothing (``plain``) stay as they are, and need no copy.
    """

    def __init__(self, *sets: Embeddings):
        first = sets[0]
        self.distance, self.dim = first.distance, first.dim
        self.exact, self.cosine = self.distance == "hamming", self.distance == "cosine"
        self.centre, self.factor = np.zeros(self.dim), 1.0
        self.reach = max(_longest(points, self.centre) for points in sets)
        if not np.isfinite(self.reach):
            raise UserError("embeddings are too large: their squares overflow.")
        if self.reach < SMALLEST and any(points.raw.any() for points in sets):
            raise UserError("embeddings are too small: their squares vanish.")
        self.plain = self._can_stay(sets)
        if not (self.exact or self.plain):
            self.centre = _mean(first)
            longest = max(_longest(points, self.centre) for points in sets)
            self.factor = 2.0 ** -np.ceil(np.log2(max(longest, SMALLEST))) if longest > 0 else 1.0
        self.gain = self.factor**2 / (1 if self.cosine else 2)

    def rows(self, points: Embeddings, which: np.ndarray | slice) -> np.ndarray:
        """Rows in this frame, float32."""
        if self.plain:
            return points.raw[which]
        which = np.arange(len(points))[which]
        rows = np.empty((len(which), self.dim), np.float32)
        for part in points.slices(len(which)):
            rows[part] = self._place(points, which[part])
        return rows

    def known(self, points: Embeddings, which: slice) -> Known:
        """Of rows so few that they can be converted to float64 at once."""
        rows = self.rows(points, which).astype(np.float64)
        squares = np.einsum("ij,ij->i", rows, rows)
        if not self.cosine:
            return Known(np.sqrt(squares), squares / 2, squares / 2)
        centre = self.centre * self.factor
        along = self._place(points, which) @ centre
        return Known(np.sqrt(squares), -along, self.factor**2 - centre @ centre - along)

    def _place(self, points: Embeddings, which: np.ndarray | slice) -> np.ndarray:
        """Rows in this frame before they are rounded, float64."""
        return (points.rows(which) - self.centre) * self.factor

    def slack(self, queries: Known, references: Known) -> float:
        """How far a value of the tile may be from ``gain * distance - shift``, whatever the order in which the
        product was summed: the bound of float32 rounding over dim + 8 operations, and float64's of the rest.
        """
        if self.exact:
            return 0.0
        query, reference = queries.norms.max(), references.norms.max()
        product = 2.0**-24 * (query * reference + np.abs(references.bias).max())
        reach = self.reach * self.factor
        rest = 2.0**-52 * reach * (query + reference + (reach if self.cosine else 0))
        return float(1.01 * (self.dim + 8) * (product + rest) + 1e-30)

    def _can_stay(self, sets: tuple[Embeddings, ...]) -> bool:
        if self.distance != "euclidean" or any(points.raw.dtype != np.float32 for points in sets):
            return False
        first, mean = sets[0], _mean(sets[0])
        square = sum(float(np.vdot(rows, rows)) for rows in map(first.rows, first.slices())) / len(first)
        return 2.0**-20 < self.reach < 2.0**20 and 2 * (mean @ mean) < square


class KeptRows:
    """All points in a frame, float32: as they are, or kept in one piece, or made on each visit."""

    def __init__(self, frame: Coordinates, points: Embeddings, memory: int):
        self._frame, self._points, self._kept = frame, points, points.raw if frame.plain else None
        if self._kept is None and self.fit(points, memory):
            self._kept = np.empty((len(points), points.dim), np.float32)
            for part in points.slices():
                self._kept[part] = frame.rows(points, part)

    @staticmethod
    def fit(points: Embeddings, memory: int) -> bool:
        """Whether the rows take no more than a third of the memory; tiles and centres need the rest."""
        return 4 * len(points) * points.dim <= memory // 3

    def __getitem__(self, which: np.ndarray | slice) -> np.ndarray:
        rows = self._frame.rows(self._points, which) if self._kept is None else self._kept[which]
        rows.flags.writeable = False  # as embeddings are: numba compiles every loop for each kind it meets
        return rows


def _mean(points: Embeddings) -> np.ndarray:
    return sum(points.rows(part).sum(axis=0) for part in points.slices()) / len(points)


def _longest(points: Embeddings, centre: np.ndarray) -> float:
    parts = (points.rows(part) - centre for part in points.slices())
    return float(np.sqrt(max(np.einsum("ij,ij->i", rows, rows).max() for rows in parts)))
