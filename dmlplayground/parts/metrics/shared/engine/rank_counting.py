"""Ranks of positives without selecting, sorting or storing neighbours.

A metric of retrieval needs, of all references, only how many lie closer than each positive. So the distances
of the positives are computed first, exactly; then tile after tile of products is compared with them and
counted. Time does not depend on K, nothing of size queries x references exists, and a positive that has sunk
below the depth that matters is forgotten at once. Equal distances rank by index in the gallery.

Where the queries are the gallery, the matrix of products is symmetric: each tile above its diagonal is counted for its
rows and for its columns, and the half below is never computed. Only where there are too many positives to keep them all
in the memory, queries are handled block by block, and every block with the whole gallery.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .....base import threads
from .....base.errors import UserError
from . import MEMORY, loops
from .embeddings import Embeddings, hamming_distances
from .ranks import Ranks
from .rounded import Coordinates, KeptRows, Known

PART = 2048  # queries or references of a tile
ALL = slice(None)
_NOTHING = np.empty((0, 0), np.float32)


def positive_ranks(
    queries: Embeddings,
    labels: np.ndarray,
    gallery: Embeddings | None = None,
    gallery_labels: np.ndarray | None = None,
    depth: int = 1,
    memory: int = MEMORY,
    some: slice = ALL,
) -> Iterator[tuple[np.ndarray, Ranks]]:
    """The ranks of all positives to ``depth``, and to R where that is deeper: (indices of queries, their
    ranks), block after block in an order of its own. Without a gallery every query searches all others.
    ``some`` are the queries that are asked.
    """
    pool = queries if gallery is None else gallery
    packed = queries.packed or pool.packed
    query_width, width = (points.dim if packed else points.width for points in (queries, pool))
    if (queries.distance, query_width) != (pool.distance, width):
        raise UserError(f"queries have {query_width} dimensions, the gallery has {width}.")
    positives = _Positives(labels, labels if gallery_labels is None else gallery_labels, gallery is None)
    plan = _Plan.within(memory, pool, positives, some)
    frame = Coordinates(pool) if gallery is None else Coordinates(pool, queries)
    references = _Side(frame, pool, memory)
    asking = references if gallery is None else _Side(frame, queries, memory)
    search = _Search(asking, references, positives, frame, plan)
    for rows in positives.blocks(plan, some):
        yield rows, search.ranks(rows, depth)


@dataclass(frozen=True)
class _Plan:
    """Sizes of blocks."""

    part: int  # queries or references of a tile
    positives: int  # queries x positives handled at once
    mirrored: bool  # whether the half of the products below the diagonal is left to the half above

    @classmethod
    def within(cls, memory: int, gallery: Embeddings, positives: "_Positives", some: slice = ALL) -> "_Plan":
        # Bytes of a row as stored, in float32, in a panel, of its products, and of a share of float64.
        row = 24 * gallery.dim + 192
        rows = memory // 8 // row
        if rows < 8:
            raise UserError(f"memory of {memory} bytes is too little for rows of {gallery.dim} numbers.")
        part = max(min(PART, rows // threads.arithmetic()), 8)
        at_once = memory // 4 // 80
        return cls(part, at_once, positives.own and some == ALL and positives.total <= at_once)

    def parts(self, start: int, stop: int) -> list[slice]:
        return [slice(first, min(first + self.part, stop)) for first in range(start, stop, self.part)]


class _Positives:
    """Which references are positives of which query."""

    def __init__(self, labels: np.ndarray, gallery_labels: np.ndarray, own: bool):
        found = np.unique(gallery_labels, return_inverse=True, return_counts=True)
        names, self.reference_class, self._sizes = found
        self.own = own
        self._members = np.argsort(self.reference_class, kind="stable")
        self._starts = np.cumsum(self._sizes) - self._sizes
        self.query_class = np.minimum(np.searchsorted(names, labels), len(names) - 1)
        known = names[self.query_class] == labels
        self._size = np.where(known, self._sizes[self.query_class], 0)
        self.relevant: np.ndarray = self._size - own
        self.total = int(self._size.sum())

    def blocks(self, plan: _Plan, some: slice) -> Iterator[np.ndarray]:
        """Queries in blocks that have so many positives together; all of them, if they can, in the order of the gallery."""
        before = np.cumsum(self._size) - self._size
        block = before[some] // max(plan.positives, int(self._size.max(initial=1)))
        yield from np.split(np.arange(len(before))[some], np.flatnonzero(np.diff(block)) + 1)

    def lists(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The positives of these queries, ascending, one query's after another's, and where each query's begin."""
        sizes = self._size[rows]
        shift = self._starts[self.query_class[rows]] - (np.cumsum(sizes) - sizes)
        members = self._members[np.repeat(shift, sizes) + np.arange(sizes.sum())]
        if self.own:
            members = members[members != np.repeat(rows, sizes)]
        return members, np.concatenate([[0], np.cumsum(self.relevant[rows])])


class _Side:
    """Points as one side of the products: their rows, and what is known of each."""

    def __init__(self, frame: Coordinates, points: Embeddings, memory: int):
        self.points = points
        self._frame, self.rows = frame, KeptRows(frame, points, memory)
        self._panels: dict[int, np.ndarray] = {}
        self._keeps_panels = KeptRows.fit(points, memory if frame.plain else memory // 2)
        parts = zip(*(frame.known(points, part) for part in points.slices()))
        self._known = [np.concatenate(each) for each in parts]

    def known(self, part: slice) -> Known:
        return Known(*(each[part] for each in self._known))

    def panels(self, part: slice) -> np.ndarray:
        """The rows as the loops read them for the columns of products: kept, if the memory allows it."""
        found = self._panels.get(part.start)
        if found is None:
            found = loops().panels(self.rows[part])
            if self._keeps_panels:
                self._panels[part.start] = found
        return found

    def exactly(self, part: slice) -> tuple[np.ndarray, np.ndarray]:
        """What exact distances are computed from; bits need none, because their products are exact."""
        if self._frame.exact:
            return _NOTHING, self.points.length[:0]
        return self.points.raw[part], self.points.length[part]


# Kept machine code names this class: whoever renames it renames ``inner_loops`` too, or numba stumbles over old code.
class Tally(NamedTuple):
    """What is known of the positives of some queries while closer references are counted: arrays that the loops fill.

    Those of query i stand from ``begin[i]`` to ``begin[i + 1]``, nearest first; ``alive[i]`` may be within ``depth[i]``.
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
    ) -> "Tally":
        value = (gain * distance).astype(np.float32)
        alive = np.diff(begin)
        limit = np.full(len(alive), -np.inf, np.float32)
        limit[alive > 0] = value[begin[1:][alive > 0] - 1]
        closer, found = np.zeros(len(index), np.int64), np.zeros(len(alive), np.int64)
        return cls(begin, distance, index, value, closer, depth, alive, found, limit)

    def ranks(self, relevant: np.ndarray) -> Ranks:
        before = np.concatenate([[0], np.cumsum(self.closer + 1)])
        sizes, starts = np.diff(self.begin), self.begin[:-1]
        ranks = before[1:] - np.repeat(before[starts], sizes)
        alive = np.arange(len(ranks)) < np.repeat(starts + self.alive, sizes)
        return Ranks(ranks[alive], self.alive, relevant, self.depth)


class Tile(NamedTuple):
    """Two sets of rows, x and y, and all that the loops need to know to count by their products.

    ``bias - x . y`` is the distance in the units of a tally, less the ``shift`` of x. Row i of x is query
    ``first_query + i``, row j of y is reference ``first_reference + j``. In a ``mirrored`` tile, where queries and
    references are the same, it is also the other way round.
    """

    x: np.ndarray
    y: np.ndarray  # as the loops read it: ``panels``
    bias: np.ndarray
    shift: np.ndarray
    slack: float  # and gain: ``rounded.Coordinates``
    gain: float
    exact: bool
    first_query: int
    first_reference: int
    mirrored: bool
    row_class: np.ndarray
    column_class: np.ndarray
    exact_x: np.ndarray  # what exact distances are computed from
    x_length: np.ndarray
    exact_y: np.ndarray
    y_length: np.ndarray
    cosine: bool


def _sort(begin: np.ndarray, distance: np.ndarray, index: np.ndarray) -> None:
    """Sort each list, which is in the order of its indices, by distance: all lists of one length at a time."""
    sizes = np.diff(begin)
    for size in np.unique(sizes):
        places = begin[:-1][sizes == size][:, None] + np.arange(size)
        order = np.argsort(distance[places], axis=1, kind="stable")
        nearest = np.take_along_axis(places, order, axis=1)
        distance[places], index[places] = distance[nearest], index[nearest]


def each_two(parts: list[slice]) -> Iterator[list[tuple[slice, slice]]]:
    """Every part with itself, then each two of them once, in lists of pairs that have no part in common: the numbers of
    such a list have the same sum (modulo the count of parts)."""
    yield [(part, part) for part in parts]
    for total in range(len(parts)):
        pairs = ((number, (total - number) % len(parts)) for number in range(len(parts)))
        yield [(parts[one], parts[other]) for one, other in pairs if one < other]


@dataclass
class _Search:
    _queries: _Side
    _references: _Side
    _positives: _Positives
    _frame: Coordinates
    _plan: _Plan

    def ranks(self, rows: np.ndarray, depth: int) -> Ranks:
        """The ranks of the positives of these queries, which are neighbours in their order."""
        relevant: np.ndarray = self._positives.relevant[rows]
        index, begin = self._positives.lists(rows)
        distance = self._distances(rows, index, begin)
        _sort(begin, distance, index)
        tally = Tally.of(begin, distance, index, np.maximum(relevant, depth), self._frame.gain)
        if relevant.any():
            self._count(int(rows[0]), int(rows[-1]) + 1, tally)
        return tally.ranks(relevant)

    def _distances(self, rows: np.ndarray, index: np.ndarray, begin: np.ndarray) -> np.ndarray:
        queries, gallery = self._queries.points, self._references.points
        if queries.distance == "hamming":
            return hamming_distances(queries, gallery, np.repeat(rows, np.diff(begin)), index)
        if self._positives.own and len(rows) == len(gallery):
            return loops().mutual_distances(gallery.raw, gallery.length, begin, index, self._frame.cosine)
        both = queries.raw, queries.length, rows, gallery.raw, gallery.length
        return loops().distances(*both, begin, index, self._frame.cosine)

    def _count(self, start: int, stop: int, tally: Tally) -> None:
        """Look at tile after tile, as long as they have a positive that matters."""

        def look(tile: tuple[slice, slice]) -> None:
            queries, references = tile
            mirrored = self._plan.mirrored and queries != references
            alive = tally.alive[queries.start - start : queries.stop - start].any()
            if alive or (mirrored and tally.alive[references].any()):
                loops().count_closer(self._tile(queries, references, queries.start - start, mirrored), tally)

        # Lists of tiles that count for different queries, so that several threads can look at them. In a symmetric
        # matrix those on the diagonal come first: what they tell of every query spares the others work.
        gallery, asking = self._plan.parts(0, len(self._references.points)), self._plan.parts(start, stop)
        each_one = ([(queries, references) for queries in asking] for references in gallery)
        for tiles in each_two(gallery) if self._plan.mirrored else each_one:
            threads.for_each(look, tiles)

    def _tile(self, queries: slice, references: slice, first_query: int, mirrored: bool) -> Tile:
        x, y = self._queries.known(queries), self._references.known(references)
        scale = (self._frame.slack(x, y), self._frame.gain, self._frame.exact)
        place = (first_query, references.start, mirrored)
        classes = self._positives.query_class[queries], self._positives.reference_class[references]
        exact = (*self._queries.exactly(queries), *self._references.exactly(references))
        rows, panels = self._queries.rows[queries], self._references.panels(references)
        return Tile(rows, panels, y.bias, x.shift, *scale, *place, *classes, *exact, self._frame.cosine)
