"""The rows of a set as operands of products."""

from __future__ import annotations

import numpy as np

from .points import Frame, Points
from .product import Product


class Operands:
    """Rows in a frame, float32: kept in one piece, which frees as one, or made on each visit."""

    def __init__(self, product: Product, frame: Frame, points: Points, memory: int):
        self._product, self._frame, self._points = product, frame, points
        self._kept = self._view = None
        if self.fit(points, memory):
            self._kept, self._view = product.empty((len(points), points.dim))
            for part in points.slices():
                self._view[part] = frame.rows(points, part)

    @staticmethod
    def fit(points: Points, memory: int) -> bool:
        """Whether the rows take no more than a third of the memory; tiles and centres need the rest."""
        return 4 * len(points) * points.dim <= memory // 3

    def rows(self, which: np.ndarray | slice) -> np.ndarray:
        return self._frame.rows(self._points, which) if self._view is None else self._view[which]

    def operand(self, which: np.ndarray | slice):
        if self._kept is not None and isinstance(which, slice):
            return self._kept[which]
        return self._product.array(self.rows(which))
