"""Ranks of positives without selecting, sorting or storing neighbours.

A metric of retrieval needs, of all references, only how many lie closer than each positive. So the distances
of the positives are computed first, exactly; then tile after tile of products is compared with them and
counted. Time does not depend on K, nothing of size queries x references exists, and a positive that has sunk
below the depth that matters is forgotten at once. Equal distances rank by index in the gallery.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import UserError
from .kernels import kernels
from .memory import Memory, as_bytes
from .points import Block, Frame, Points, hamming_distances
from .product import Product
from .retrieval import Ranks

_NOTHING = np.empty((0, 0), np.float32)


def positive_ranks(
    queries: Points,
    labels: np.ndarray,
    gallery: Points | None = None,
    gallery_labels: np.ndarray | None = None,
    depth: int = 1,
    memory: Memory = "512MB",
) -> Iterator[tuple[np.ndarray, Ranks]]:
    """The ranks of all positives to ``depth``, and to R where that is deeper: (indices of queries, their
    ranks), block after block in an order of its own. Without a gallery every query searches all others.
    """
    pool = queries if gallery is None else gallery
    if (queries.distance, queries.dim) != (pool.distance, pool.dim):
        raise UserError(f"queries have {queries.dim} dimensions, the gallery has {pool.dim}.")
    positives = _Positives(labels, labels if gallery_labels is None else gallery_labels, gallery is None)
    plan = _Plan.within(as_bytes(memory), len(pool), pool.dim)
    frame = Frame(pool) if gallery is None else Frame(pool, queries)
    references = _References(frame, pool, plan)
    for rows in positives.blocks(plan):
        yield rows, _ranks(queries, pool, rows, positives, references, depth)


@dataclass(frozen=True)
class _Plan:
    """Sizes of blocks. Tiles are about square, so that packing operands is cheap beside multiplying them."""

    queries: int
    references: int
    positives: int  # queries x positives handled at once
    keep: bool  # whether all references stay in memory as operands

    @classmethod
    def within(cls, memory: int, references: int, dim: int) -> _Plan:
        keep = 4 * references * dim <= memory // 2
        row = 24 * dim + 64  # a row as stored, in float32, as an operand, and a share of float64
        columns = min(4096, memory // 8 // row)
        rows = min(1024 if keep else 4096, memory // 8 // row, memory // 8 // (4 * max(columns, 1)))
        if min(rows, columns) < 8:
            raise UserError(f"memory of {memory} bytes is too little for rows of {dim} numbers.")
        return cls(rows, columns, memory // 8 // 80, keep)


class _Positives:
    """Which references are positives of which query."""

    def __init__(self, labels: np.ndarray, gallery_labels: np.ndarray, own: bool):
        names, classes, self._sizes = np.unique(gallery_labels, return_inverse=True, return_counts=True)
        self.own = own
        self._members = np.argsort(classes, kind="stable")
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._class = np.minimum(np.searchsorted(names, labels), len(names) - 1)
        known = names[self._class] == labels
        self._size = np.where(known, self._sizes[self._class], 0)
        self.relevant: np.ndarray = self._size - own

    def blocks(self, plan: _Plan) -> Iterator[np.ndarray]:
        """Queries in blocks of similar R, so that tables of one row a query waste little."""
        order = np.lexsort((self._class, self._size))
        while len(order):
            sizes = np.maximum(self._size[order[: plan.queries]], 1)
            count = max(1, int(np.count_nonzero(sizes * np.arange(1, len(sizes) + 1) <= plan.positives)))
            yield order[:count]
            order = order[count:]

    def table(self, rows: np.ndarray) -> np.ndarray:
        """A row a query: indices of its positives, ascending, and -1 for nobody."""
        places = np.arange(self._size[rows].max())
        inside = places < self._size[rows][:, None]
        table = self._members[np.where(inside, self._starts[self._class[rows]][:, None] + places, 0)]
        inside &= ~(self.own & (table == rows[:, None]))
        return np.where(inside, table, -1)


class _References:
    """The gallery as operands of products, block by block; kept, or made anew on each visit to save
    memory."""

    def __init__(self, frame: Frame, gallery: Points, plan: _Plan):
        self.frame, self.gallery, self._keep = frame, gallery, plan.keep
        self.product = Product(plan.queries * min(plan.references, len(gallery)))
        starts = range(0, len(gallery), plan.references)
        self._parts = [slice(start, min(start + plan.references, len(gallery))) for start in starts]
        self._blocks = [self._prepare(part) for part in self._parts]

    def __iter__(self):
        for part, (block, bias, weight) in zip(self._parts, self._blocks):
            if weight is None:
                weight = self.product.array(self.frame.rows(self.gallery, part))
            yield part, block, bias, weight

    def _prepare(self, part: slice):
        block = self.frame.block(self.gallery, part)
        weight = self.product.array(block.rows) if self._keep else None
        slim = Block(_NOTHING, block.norms, block.bias, block.shift)
        return slim, self.product.array(block.bias), weight


def _ranks(
    queries: Points,
    gallery: Points,
    rows: np.ndarray,
    positives: _Positives,
    references: _References,
    depth: int,
) -> Ranks:
    relevant: np.ndarray = positives.relevant[rows]
    depths = np.maximum(relevant, depth)
    closer = np.zeros((len(rows), max(int(relevant.max()), 1)), np.int64)
    alive = relevant.copy()
    if relevant.any():
        distance, index = _sorted_distances(queries, gallery, rows, positives.table(rows))
        _count_closer(
            queries, gallery, rows, references, positives.own, distance, index, alive, closer, depths
        )
    ranks = np.cumsum(closer, axis=1) + 1
    listed = np.arange(closer.shape[1]) < alive[:, None]
    return Ranks(ranks[listed], alive, relevant, depths)


def _sorted_distances(
    queries: Points, gallery: Points, rows: np.ndarray, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Exact distances of the positives and their indices, nearest first, nobody last."""
    if queries.distance == "hamming":
        distance = hamming_distances(queries, gallery, rows, columns)
    else:
        distance = kernels().distances(
            queries.raw[rows],
            queries.length[rows],
            gallery.raw,
            gallery.length,
            columns,
            queries.distance == "cosine",
        )
    order = np.argsort(distance, axis=1, kind="stable")
    return np.take_along_axis(distance, order, 1), np.take_along_axis(columns, order, 1)


def _count_closer(queries, gallery, rows, references, own, distance, index, alive, closer, depths) -> None:
    frame, product = references.frame, references.product
    block = frame.block(queries, rows)
    data = product.array(-block.rows)
    exact = (_NOTHING, queries.length[:0])
    x = exact if frame.exact else (queries.raw[rows], queries.length[rows])
    selves = rows if own else np.full(len(rows), -1)
    for part, reference, bias, weight in references:
        tile = product(data, weight, bias)
        y = exact if frame.exact else (gallery.raw[part], gallery.length[part])
        slack = frame.slack(block, reference)
        cosine = frame.distance == "cosine"
        numbers = (distance, index, alive, closer, depths, block.shift, slack, frame.gain, frame.exact)
        kernels().count_closer(tile, part.start, selves, *numbers, *x, *y, cosine)
        if not alive.any():
            break
