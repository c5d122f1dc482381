"""Ranks of positives without selecting, sorting or storing neighbours.

A metric of retrieval needs, of all references, only how many lie closer than each positive. So the distances
of the positives are computed first, exactly; then tile after tile of products is compared with them and
counted. Time does not depend on K, nothing of size queries x references exists, and a positive that has sunk
below the depth that matters is forgotten at once. Equal distances rank by index in the gallery.

Where the queries are the gallery, the matrix of products is symmetric: each tile above its diagonal is counted for its
rows and for its columns, and the half below is never computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...errors import UserError
from . import MEMORY
from .embeddings import Embeddings, hamming_distances
from .loops import loops
from .products import Product
from .ranks import Ranks
from .rounded import Frame, Operands

AHEAD = 2  # tiles: one is looked at, one computed
TILE = 2**21  # numbers in a tile that is counted for its rows alone
SPARSE = 1000  # references a positive, from which on counting for columns too is cheaper than products
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
    positives = _Positives(labels, labels if gallery_labels is None else gallery_labels, gallery is None)
    plan = _Plan.within(memory, pool, positives)
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
    mirrored: bool  # whether the half of the products below the diagonal is left to the half above

    @classmethod
    def within(cls, memory: int, gallery: Embeddings, positives: _Positives) -> _Plan:
        """Columns are dearer to count for than rows, which pays only where few references are near: where a tile's row
        seldom has one that is closer than a query's positives."""
        row = 24 * gallery.dim + 64  # a row as stored, in float32, as an operand, and a share of float64
        most = memory // 8 // row
        at_once = memory // 4 // 80
        relevant = positives.relevant
        mirrored = positives.own and relevant.sum() <= at_once and SPARSE * relevant.mean() < len(gallery)
        tile = min(TILE, memory // 8 // (4 * AHEAD))
        references = min(1024, most, int(tile**0.5)) if mirrored else min(4096, most, tile // 8)
        queries = references if mirrored else min(most, max(tile // max(references, 1), 8), 2048)
        if min(queries, references) < 8:
            raise UserError(f"memory of {memory} bytes is too little for rows of {gallery.dim} numbers.")
        return cls(queries, references, at_once, mirrored)


class _Positives:
    """Which references are positives of which query."""

    def __init__(self, labels: np.ndarray, gallery_labels: np.ndarray, own: bool):
        names, self.reference_class, self._sizes = np.unique(
            gallery_labels, return_inverse=True, return_counts=True
        )
        self.own = own
        self._members = np.argsort(self.reference_class, kind="stable")
        self._starts = np.cumsum(self._sizes) - self._sizes
        self.query_class = np.minimum(np.searchsorted(names, labels), len(names) - 1)
        known = names[self.query_class] == labels
        self._size = np.where(known, self._sizes[self.query_class], 0)
        self.relevant: np.ndarray = self._size - own

    def blocks(self, plan: _Plan) -> Iterator[np.ndarray]:
        """Queries in blocks that have so many positives together; all of them, if they can, in the order of the gallery."""
        before = np.cumsum(self._size) - self._size
        block = before // max(plan.positives, int(self._size.max(initial=1)))
        yield from np.split(np.arange(len(block)), np.flatnonzero(np.diff(block)) + 1)

    def lists(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The positives of these queries, ascending, one query's after another's, and where each query's begin."""
        sizes = self._size[rows]
        without = rows if self.own else np.full(len(rows), -1)
        members = loops().others(self._members, self._starts[self.query_class[rows]], sizes, without)
        return members, np.concatenate([[0], np.cumsum(self.relevant[rows])])


class _References:
    """The gallery, block by block, as one side of the products."""

    def __init__(self, frame: Frame, gallery: Embeddings, plan: _Plan, memory: int):
        self.frame, self.gallery, self.plan = frame, gallery, plan
        self.product = Product(plan.queries * min(plan.references, len(gallery)), buffers=AHEAD)
        self._operands = Operands(self.product, frame, gallery, memory)
        starts = range(0, len(gallery), plan.references)
        self.parts = [slice(start, min(start + plan.references, len(gallery))) for start in starts]
        blocks = (frame.block(gallery, part) for part in self.parts)
        self.blocks = [replace(block, rows=_NOTHING) for block in blocks]
        self._biases = [self.product.array(block.bias) for block in self.blocks]

    def tile(self, data, number: int) -> Callable[[], np.ndarray]:
        """Begin the products of these query rows with a part of the gallery."""
        return self.product.start(data, self._operands.operand(self.parts[number]), self._biases[number])

    def negative(self, part: slice):
        """A part of the gallery as query rows."""
        return self.product.array(-self._operands.rows(part))


class Hunt(NamedTuple):
    """What is known of the positives of some queries while closer references are counted: arrays that the loops fill.

    Those of query i stand at ``begin[i]`` to ``begin[i + 1]``, nearest first; ``alive[i]`` of them can still be within
    ``depth[i]``.
    """

    begin: np.ndarray
    distance: np.ndarray  # exact, float64
    reference: np.ndarray  # its index in the gallery
    value: np.ndarray  # the distance in a tile's units, float32
    closer: np.ndarray  # how many references of other classes lie between this positive and the one before
    depth: np.ndarray
    alive: np.ndarray
    found: np.ndarray  # how many are counted of those that are alive
    limit: np.ndarray  # the value of the farthest positive that is alive; minus infinity if none is

    @classmethod
    def of(
        cls, begin: np.ndarray, distance: np.ndarray, index: np.ndarray, depth: np.ndarray, gain: float
    ) -> Hunt:
        value = (gain * distance).astype(np.float32)
        alive = np.diff(begin)
        limit = np.full(len(alive), -np.inf, np.float32)
        limit[alive > 0] = value[begin[1:][alive > 0] - 1]
        closer, found = np.zeros(len(index), np.int64), np.zeros(len(alive), np.int64)
        return cls(begin, distance, index, value, closer, depth, alive, found, limit)

    def ranks(self, relevant: np.ndarray) -> Ranks:
        return Ranks(loops().ranks(self.begin, self.closer, self.alive), self.alive, relevant, self.depth)


class Tile(NamedTuple):
    """A tile of products and all that the loops need to know of its rows and columns.

    Row i is query ``first_query + i``, column j is reference ``first_reference + j``. In a ``mirrored`` tile, where
    queries and references are the same, columns are queries and rows are references, too.
    """

    values: np.ndarray
    first_query: int
    first_reference: int
    mirrored: bool
    row_class: np.ndarray
    column_class: np.ndarray
    shift: np.ndarray  # of each row, slack and gain: ``rounded.Frame``
    slack: float
    gain: float
    exact: bool
    x: np.ndarray  # what exact distances are computed from: rows,
    x_length: np.ndarray
    y: np.ndarray  # and columns
    y_length: np.ndarray
    cosine: bool


class _Search:
    def __init__(self, queries: Embeddings, positives: _Positives, references: _References):
        self._queries, self._positives, self._references = queries, positives, references
        self._cosine = queries.distance == "cosine"

    def ranks(self, rows: np.ndarray, depth: int) -> Ranks:
        """The ranks of the positives of these queries, which are neighbours in their order."""
        relevant: np.ndarray = self._positives.relevant[rows]
        hunt = self._begin(rows, np.maximum(relevant, depth))
        if relevant.any():
            self._count(rows, hunt)
        return hunt.ranks(relevant)

    def _begin(self, rows: np.ndarray, depth: np.ndarray) -> Hunt:
        """The positives by exact distance and index, nothing counted yet."""
        queries, gallery = self._queries, self._references.gallery
        index, begin = self._positives.lists(rows)
        if queries.distance == "hamming":
            distance = hamming_distances(queries, gallery, np.repeat(rows, np.diff(begin)), index)
        else:
            distance = self._distances(rows, index, begin)
        loops().sort_lists(begin, distance, index)
        return Hunt.of(begin, distance, index, depth, self._references.frame.gain)

    def _distances(self, rows: np.ndarray, index: np.ndarray, begin: np.ndarray) -> np.ndarray:
        queries, gallery = self._queries, self._references.gallery
        if self._positives.own and len(rows) == len(gallery):
            return loops().mutual_distances(gallery.raw, gallery.length, begin, index, self._cosine)
        both = queries.raw, queries.length, rows, gallery.raw, gallery.length
        return loops().distances(*both, begin, index, self._cosine)

    def _count(self, rows: np.ndarray, hunt: Hunt) -> None:
        """Look at tile after tile, until no positive is left that matters."""
        frame = self._references.frame
        waiting: list[tuple] = []
        for tile in self._tiles(rows, hunt):
            waiting.append(tile)
            if len(waiting) == AHEAD:
                self._look(*waiting.pop(0), hunt=hunt, rows=rows, frame=frame)
        for tile in waiting:
            self._look(*tile, hunt=hunt, rows=rows, frame=frame)

    def _tiles(self, rows: np.ndarray, hunt: Hunt) -> Iterator[tuple]:
        """Every tile whose rows or columns can still matter; while one is looked at, the next is on its way.

        Those on the diagonal of a symmetric matrix come first: what they tell of every query spares the others work.
        """
        references, plan = self._references, self._references.plan
        for some, block, data, numbers in self._mirrored() if plan.mirrored else self._full(rows):
            for number in numbers:
                part = references.parts[number]
                mirrored = plan.mirrored and part.start > some.start
                if hunt.alive[some].any() or (mirrored and hunt.alive[part].any()):
                    yield (
                        some,
                        part,
                        block,
                        references.blocks[number],
                        references.tile(data, number),
                        mirrored,
                    )

    def _full(self, rows: np.ndarray) -> Iterator[tuple]:
        """Queries, block by block, with all parts of the gallery."""
        references = self._references
        for start in range(0, len(rows), references.plan.queries):
            some = slice(start, min(start + references.plan.queries, len(rows)))
            block = references.frame.block(self._queries, rows[some])
            yield some, block, references.product.array(-block.rows), range(len(references.parts))

    def _mirrored(self) -> Iterator[tuple]:
        """Parts of the gallery as queries, each with itself; then each with those after it."""
        references = self._references
        count = len(references.parts)
        for later in (False, True):
            for number, (part, block) in enumerate(zip(references.parts, references.blocks)):
                numbers = range(number + 1, count) if later else [number]
                yield part, block, references.negative(part), numbers

    def _look(self, some, part, block, reference, finish, mirrored, *, hunt, rows, frame) -> None:
        """Count what a tile shows for its rows, and for its columns if it is ``mirrored``."""
        positives, slack = self._positives, float(frame.slack(block, reference).max())
        row_class, column_class = positives.query_class[rows[some]], positives.reference_class[part]
        x = self._exact_rows(self._queries, slice(rows[some.start], rows[some.stop - 1] + 1))
        y = self._exact_rows(self._references.gallery, part)
        place = (some.start, part.start, mirrored, row_class, column_class)
        scale = (block.shift, slack, frame.gain, frame.exact)
        loops().count_closer(Tile(finish(), *place, *scale, *x, *y, self._cosine), hunt)

    def _exact_rows(self, points: Embeddings, which: slice) -> tuple[np.ndarray, np.ndarray]:
        """What exact distances are computed from; bits need none, because their products are exact."""
        if self._references.frame.exact:
            return _NOTHING, points.length[:0]
        return points.raw[which], points.length[which]
