"""Ranks of positives without selecting, sorting or storing neighbours.

A metric of retrieval needs, of all references, only how many lie closer than each positive. So the distances
of the positives are computed first, exactly; then tile after tile of products is compared with them and
counted. Time does not depend on K, nothing of size queries x references exists, and a positive that has sunk
below the depth that matters is forgotten at once. Equal distances rank by index in the gallery.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...errors import UserError
from . import MEMORY
from .embeddings import Embeddings, hamming_distances
from .loops import loops
from .products import Product
from .ranks import Ranks
from .rounded import Block, Frame, Operands

AHEAD = 2  # tiles: one is looked at, one computed
_NOTHING = np.empty((0, 0), np.float32)


def positive_ranks(
    queries: Embeddings,
    labels: np.ndarray,
    gallery: Embeddings | None = None,
    gallery_labels: np.ndarray | None = None,
    depth: int = 1,
    memory: int = MEMORY,
) -> Iterator[tuple[np.ndarray, Ranks]]:
    """The ranks of all positives to ``depth``, and to R where that is deeper: (indices of queries, their
    ranks), block after block in an order of its own. Without a gallery every query searches all others.
    """
    pool = queries if gallery is None else gallery
    if (queries.distance, queries.dim) != (pool.distance, pool.dim):
        raise UserError(f"queries have {queries.dim} dimensions, the gallery has {pool.dim}.")
    plan = _Plan.within(memory, pool)
    positives = _Positives(labels, labels if gallery_labels is None else gallery_labels, gallery is None)
    frame = Frame(pool) if gallery is None else Frame(pool, queries)
    search = _Search(queries, positives, _References(frame, pool, plan, memory))
    for rows in positives.blocks(plan):
        yield rows, search.ranks(rows, depth)


@dataclass(frozen=True)
class _Plan:
    """Sizes of blocks: tiles are small enough to be still in the cache when they are looked at."""

    queries: int
    references: int
    positives: int  # queries x positives handled at once

    @classmethod
    def within(cls, memory: int, gallery: Embeddings) -> _Plan:
        dim, kept = gallery.dim, Operands.fit(gallery, memory)
        row = 24 * dim + 64  # a row as stored, in float32, as an operand, and a share of float64
        columns = min(1024, memory // 8 // row)
        rows = min(2048 if kept else 4096, memory // 8 // row, memory // 8 // (4 * AHEAD * max(columns, 1)))
        if min(rows, columns) < 8:
            raise UserError(f"memory of {memory} bytes is too little for rows of {dim} numbers.")
        return cls(rows, columns, memory // 8 // 80)


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
    """The gallery, block by block, as one side of the products."""

    def __init__(self, frame: Frame, gallery: Embeddings, plan: _Plan, memory: int):
        self.frame, self.gallery = frame, gallery
        self.product = Product(plan.queries * min(plan.references, len(gallery)), buffers=AHEAD)
        self._operands = Operands(self.product, frame, gallery, memory)
        starts = range(0, len(gallery), plan.references)
        self._parts = [slice(start, min(start + plan.references, len(gallery))) for start in starts]
        self._blocks = [self._block(part) for part in self._parts]

    def __iter__(self):
        for part, (block, bias) in zip(self._parts, self._blocks):
            yield part, block, bias, self._operands.operand(part)

    def _block(self, part: slice):
        block = self.frame.block(self.gallery, part)
        without_rows = replace(block, rows=_NOTHING)
        return without_rows, self.product.array(block.bias)


class _Search:
    def __init__(self, queries: Embeddings, positives: _Positives, references: _References):
        self._queries, self._positives, self._references = queries, positives, references
        self._cosine = queries.distance == "cosine"

    def ranks(self, rows: np.ndarray, depth: int) -> Ranks:
        """The ranks of the positives of these queries."""
        relevant: np.ndarray = self._positives.relevant[rows]
        depths = np.maximum(relevant, depth)
        alive = relevant.copy()
        closer = np.zeros((len(rows), max(int(relevant.max()), 1)), np.int64)
        if relevant.any():
            self._count(rows, *self._sorted_positives(rows), alive, closer, depths)
        ranks = np.cumsum(closer, axis=1) + 1
        listed = np.arange(closer.shape[1]) < alive[:, None]
        return Ranks(ranks[listed], alive, relevant, depths)

    def _sorted_positives(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Exact distances of the positives and their indices, nearest first, nobody last."""
        queries, gallery, table = self._queries, self._references.gallery, self._positives.table(rows)
        if queries.distance == "hamming":
            distance = hamming_distances(queries, gallery, rows, table)
        else:
            both = (queries.raw[rows], queries.length[rows], gallery.raw, gallery.length)
            distance = loops().distances(*both, table, self._cosine)
        order = np.argsort(distance, axis=1, kind="stable")
        return np.take_along_axis(distance, order, 1), np.take_along_axis(table, order, 1)

    def _count(self, rows, distance, index, alive, closer, depths) -> None:
        """Fill ``closer`` tile by tile, until no positive is left that matters."""
        frame = self._references.frame
        block = frame.block(self._queries, rows)
        data = self._references.product.array(-block.rows)
        own = rows if self._positives.own else np.full(len(rows), -1)
        x = self._exact_rows(self._queries, rows)
        for part, reference, tile in self._tiles(data):
            y = self._exact_rows(self._references.gallery, part)
            scale = (block.shift, frame.slack(block, reference), frame.gain, frame.exact)
            loops().count_closer(
                tile, part.start, own, distance, index, alive, closer, depths, *scale, *x, *y, self._cosine
            )
            if not alive.any():
                break

    def _tiles(self, data) -> Iterator[tuple[slice, Block, np.ndarray]]:
        """The products with the gallery, block by block; while one is looked at, the next is on its way."""
        waiting: list[tuple[slice, Block, Callable[[], np.ndarray]]] = []
        for part, reference, bias, weight in self._references:
            waiting.append((part, reference, self._references.product.start(data, weight, bias)))
            if len(waiting) == AHEAD:
                part, reference, finish = waiting.pop(0)
                yield part, reference, finish()
        for part, reference, finish in waiting:
            yield part, reference, finish()

    def _exact_rows(self, points: Embeddings, which: np.ndarray | slice) -> tuple[np.ndarray, np.ndarray]:
        """What exact distances are computed from; bits need none, because their products are exact."""
        if self._references.frame.exact:
            return _NOTHING, points.length[:0]
        return points.raw[which], points.length[which]
