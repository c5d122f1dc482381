"""Pairs and triplets of a batch as a static graph holds them, and how one becomes the other.

A batch of four rows with the labels 0, 0, 1, 1 has these pairs (a row for each anchor, a column for each reference):

    positive  0 1 0 0    negative  0 0 1 1    Row 0 has the positive 1 and the negatives 2 and 3: the triplets (0, 1, 2) and
              1 0 0 0              0 0 1 1    (0, 1, 3). A miner that keeps the first alone sets the weight of the other pair,
              0 0 0 1              1 1 0 0    (0, 3), to zero. Nothing is taken out, so the shapes stay.
              0 0 1 0              1 1 0 0

*Anchors* are the rows of the batch, (B, E). *References* are what they are compared with, (R, E): the same rows,
or a memory of earlier ones.

* ``Pairs``: two (B, R) matrices, how often each positive and each negative pair counts.
* ``Triplets``: (anchor, positive, negative). For a (B, R) matrix M, such as one of distances, ``near(M)`` is M at (anchor,
  positive) and ``far(M)`` is M at (anchor, negative). Their weights are ``near_weights`` and ``far_weights``. A formula with
  both entries of a triplet in one term reads ``gaps``, or ``hinge``, which is faster.
* They are stored as two masks (``AllTriplets``), as these and bounds (``Band``), as places (``Listed``), or as weights
  (``Cube``).
"""

import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...graph import pairwise, random_draws, rows


class Hinge(NamedTuple):
    """Of [near - far + margin]+ over triplets: the sum, how many are above zero, how many there are; each (1,)."""

    sum: Any
    active: Any
    count: Any


@dataclass(eq=False)
class Pairs:
    """All or some pairs of an anchor and a reference; see the module."""

    F: Any
    anchors: Any
    references: Any
    positive: Any  # (B, R): how often each pair of one class counts; never a row with its own copy
    negative: Any  # (B, R)
    own: Any  # (B, R): 1 where the reference is the row itself
    precision: float  # of the numbers' type: 1.2e-7 for float32

    @property
    def dtype(self) -> str:
        return "float32" if self.precision > 1e-9 else "float64"

    def similarities(self):
        """Inner products of anchors and references, (B, R)."""
        return self.F.dot(self.anchors, self.references, transpose_b=True)

    def distances(self):
        """|a - r|, (B, R), with a slope of zero where it is zero."""
        return pairwise.distances_between(self.F, self.anchors, self.references, self.precision)

    def unrounded_distances(self):
        """As ``distances``, but in a batch equal rows, and a row and itself, may be apart by rounding."""
        if self.references is self.anchors:
            return pairwise.distances(self.F, self.anchors)
        return self.distances()

    def squared_distances(self):
        return pairwise.squares_between(self.F, self.anchors, self.references, self.precision)

    def keep(self, positive, negative) -> "Pairs":
        """The same anchors and references with other weights."""
        return replace(self, positive=positive, negative=negative)

    def triplets(self) -> "AllTriplets":
        """Every (a, p, n) that shares an anchor."""
        return AllTriplets(self)

    def complete_rows(self):
        """(B, 1): 1 for an anchor that has both a positive and a negative pair."""
        F = self.F
        return F.BlockGrad((rows.row_sums(F, self.positive) > 0) * (rows.row_sums(F, self.negative) > 0))

    def row_weights(self):
        """(B,): how often each row occurs in pairs, over the most frequent one's; 1 for all where there are none."""
        return _shares(self.F, self, rows.row_sums(self.F, self.positive + self.negative))

    def indices(self) -> tuple[np.ndarray, ...]:
        """(a1, p, a2, n) as NumPy arrays."""
        positive, negative = (matrix.asnumpy() for matrix in (self.positive, self.negative))
        return (*_repeated(positive), *_repeated(negative))


def all_pairs(F, embeddings, labels, dtype: str) -> Pairs:
    same, own = pairwise.same_class(F, labels), pairwise.itself(F, labels)
    return Pairs(F, embeddings, embeddings, same - own, 1 - same, own, float(np.finfo(dtype).eps))


def as_read(pairs: Pairs, found: "Pairs | Triplets", reads: str):
    """Pairs or triplets in the form that the loss reads, with the embeddings' gradient."""
    if reads == "rows":
        return found.row_weights()
    if reads == "pairs":
        found = found if isinstance(found, Pairs) else found.pairs()
        return pairs.keep(found.positive, found.negative)
    return (found.triplets() if isinstance(found, Pairs) else found).on(pairs)


def _repeated(counts: np.ndarray) -> tuple[np.ndarray, ...]:
    """The entries of a matrix of counts, each as often as it counts."""
    found = np.nonzero(counts)
    times = counts[found].astype(int)
    return tuple(np.repeat(place, times) for place in found)


def _shares(F, found: Pairs, as_anchors):
    """How often each row occurs, ``as_anchors``, (B, 1), and as the other row of these pairs, over the most frequent: (B,)."""
    occurrences = as_anchors + rows.row_sums(F, F.transpose(found.positive + found.negative))
    most = F.max(occurrences, axis=0, keepdims=True)
    none = most == 0
    return rows.flat(F, F.broadcast_div(F.broadcast_add(occurrences, none), F.broadcast_add(most, none)))


class Triplets:
    """(anchor, positive, negative) with a weight each; see the module."""

    near_weights: Any
    far_weights: Any

    def __init__(self, pairs: Pairs):
        self.F = pairs.F
        self.every_pair = pairs  # every pair there is, in a triplet or not; its anchors and references

    def on(self, pairs: Pairs) -> "Triplets":
        """The same triplets of other embeddings of the batch."""
        other = copy.copy(self)
        other.every_pair = pairs
        return other

    def near(self, matrix):
        """The terms' entries at (anchor, positive), in the shape of ``near_weights``."""
        return matrix

    def far(self, matrix):
        """The terms' entries at (anchor, negative), in the shape of ``far_weights``."""
        return matrix

    def of_anchors(self, column):
        """A (B, 1) column with one value an anchor, in a shape that broadcasts with the terms."""
        return column

    def count(self):
        """How many triplets there are, (1,)."""
        return rows.sum_of(self.F, self.near_weights)

    def hinge(self, near, far, margin, like_distance=False) -> Hinge:
        """[near_ap - far_an + margin]+ over all triplets, ``near`` and ``far`` being (B, R).

        ``like_distance`` says that, for each anchor, both rise with the distance of unit rows, as those of ``unit_rows``
        do; a band in closed form needs that. Without it the band is listed, in memory of (B, R, R).
        """
        F = self.F
        gaps, weights = self.gaps(near, far)
        terms, active = rows.above(F, gaps + margin, weights)
        return Hinge(F.reshape(F.sum(terms), shape=(1,)), rows.sum_of(F, self.counted(active)), self.count())

    def counted(self, terms):
        """Numbers of terms in the form whose sum is exact."""
        return terms

    def gaps(self, near, far):
        """near_ap - far_an of every triplet, and in the same shape how often each counts; ``near`` and ``far`` are (B, R).

        Unless triplets are listed one by one, the shape is (B, R, R); a sum of hinges needs less memory by ``hinge``.
        """
        raise NotImplementedError

    def pairs(self) -> Pairs:
        """Positive and negative pairs, each as often as it is in a triplet; a repeated one weighs more in a mean."""
        return self.every_pair.keep(self.near_weights, self.far_weights)

    def drawn(self) -> "Listed":
        """Triplets one by one: those that are listed anyway, or else one for each positive pair, its negative drawn evenly."""
        raise NotImplementedError

    def row_weights(self):
        """(B,): how often each row occurs in triplets, over the most frequent one's; 1 for all where there are none."""
        found = self.pairs()
        return _shares(self.F, found, rows.row_sums(self.F, found.positive))

    def indices(self) -> tuple[np.ndarray, ...]:
        """(a, p, n) as NumPy arrays."""
        raise NotImplementedError


class AllTriplets(Triplets):
    """Every (a, p, n) of the positive and negative pairs that share an anchor, in memory of a few (B, R)."""

    def __init__(self, pairs: Pairs):
        super().__init__(pairs)
        F = self.F
        self.positive = pairs.positive > 0
        self.negative = pairs.negative > 0
        self.near_weights = F.broadcast_mul(self.positive, rows.row_sums(F, self.negative))
        self.far_weights = F.broadcast_mul(self.negative, rows.row_sums(F, self.positive))

    def hinge(self, near, far, margin, like_distance=False) -> Hinge:
        F = self.F
        of_positives, of_negatives = self.active(F.BlockGrad(near) + margin, F.BlockGrad(far))
        active = rows.sum_of(F, of_positives)
        value = rows.total(F, near, of_positives) - rows.total(F, far, of_negatives)
        return Hinge(F.broadcast_add(value, margin * active), active, self.count())

    def gaps(self, near, far):
        return self.cube().gaps(near, far)

    def cube(self) -> "Cube":
        F = self.F
        every = F.broadcast_mul(F.expand_dims(self.positive, 2), F.expand_dims(self.negative, 1))
        return Cube(self.every_pair, every)

    def active(self, near, far):
        """In how many triplets with near_ap > far_an is each positive, and each negative pair."""
        return below(self.F, near, far, self.positive, self.negative, self.every_pair.precision)

    def drawn(self) -> "Listed":
        evenly = self.F.softmax(rows.hidden(self.F, self.negative), axis=1)
        return Listed(self.every_pair, None, random_draws.draw_each(self.F, evenly), self.near_weights > 0)

    def indices(self) -> tuple[np.ndarray, ...]:
        positive, negative = self.positive.asnumpy() > 0, self.negative.asnumpy() > 0
        return np.nonzero(positive[:, :, None] & negative[:, None, :])


class Band(AllTriplets):
    """The triplets of ``AllTriplets`` with low < D_an - D_ap <= high; ``low`` may be None. D are the miner's distances."""

    def __init__(self, pairs: Pairs, distances, low, high):
        super().__init__(pairs)
        self.distances = distances
        self.low, self.high = low, high
        most, least = self._within(high), (0, 0) if low is None else self._within(low)
        self.most, self.least = most, least
        self.near_weights, self.far_weights = most[0] - least[0], most[1] - least[1]

    def _within(self, bound):
        """For every positive, and for every negative pair, the number of triplets with D_an <= D_ap + bound."""
        near, precision = self.distances + bound, self.every_pair.precision
        return below(self.F, near, self.distances, self.positive, self.negative, precision, equals=True)

    def hinge(self, near, far, margin, like_distance=False) -> Hinge:
        if like_distance:
            return super().hinge(near, far, margin)
        return self.cube().hinge(near, far, margin)

    def active(self, near, far):
        # Both conditions hold for the nearest negatives of a positive, so for as many as the stricter lets in.
        found = super().active(near, far)
        return [self.F.relu(self.F.minimum(a, b) - c) for a, b, c in zip(found, self.most, self.least)]

    def cube(self) -> "Cube":
        F = self.F
        gaps = F.broadcast_sub(F.expand_dims(self.distances, 1), F.expand_dims(self.distances, 2))
        kept = gaps <= self.high
        if self.low is not None:
            kept = kept * (gaps > self.low)
        return Cube(self.every_pair, kept * super().cube().weights)

    def drawn(self) -> "Listed":
        return self.cube().drawn()

    def indices(self) -> tuple[np.ndarray, ...]:
        return self.cube().indices()


class Cube(Triplets):
    """Any triplets, as their weights (B, R, R): the one form whose memory grows with the cube of the batch."""

    def __init__(self, pairs: Pairs, weights):
        super().__init__(pairs)
        self.weights = weights
        # Whole numbers, so sums as products with ones are as exact as any, and they take far less time.
        self.near_weights = self.counted(weights)
        ones = self.F.ones_like(self.F.slice_axis(weights, axis=1, begin=0, end=1))
        self.far_weights = self.F.reshape(self.F.batch_dot(ones, weights), shape=(0, -1))

    def counted(self, terms):
        """How often each positive pair is in a triplet, (B, R, R) -> (B, R)."""
        counts = rows.row_sums(self.F, self.F.reshape(terms, shape=(-3, 0)))
        return self.F.reshape_like(counts, self.every_pair.positive)

    def gaps(self, near, far):
        return self.F.broadcast_sub(self.F.expand_dims(near, 2), self.F.expand_dims(far, 1)), self.weights

    def drawn(self) -> "Listed":
        F = self.F
        cumulative = F.cumsum(self.weights, axis=2)
        numbers = F.random.uniform_like(self.near_weights) * self.near_weights * (1 - 1e-6)
        column = self.counted(F.broadcast_lesser_equal(cumulative, F.expand_dims(numbers, 2)))
        return Listed(self.every_pair, None, _places(self.every_pair, column), self.near_weights > 0)

    def indices(self) -> tuple[np.ndarray, ...]:
        return np.nonzero(self.weights.asnumpy())


class Listed(Triplets):
    """Triplets one by one: the places of (a, p) and of (a, n) in the flattened (B, R) matrix.

    ``positives`` may be None: then every entry of the (B, R) matrix stands for the positive pair that it is.
    """

    def __init__(self, pairs: Pairs, positives, negatives, weights, anchors=None):
        super().__init__(pairs)
        self.positives = positives
        self.negatives = negatives
        self.anchors = anchors  # (T, 1), or None where the terms of an anchor are in its row
        self.weights = self.near_weights = self.far_weights = weights

    @classmethod
    def each_anchor(cls, pairs: Pairs, positive, negative, exists) -> "Listed":
        """One triplet an anchor: the columns of its positive and its negative, (B, 1), and whether it has one at all."""
        near, far = (_places(pairs, column) for column in (positive, negative))
        return cls(pairs, near, far, exists)

    def drawn(self) -> "Listed":
        return self

    def near(self, matrix):
        return matrix if self.positives is None else rows.lookup(self.F, matrix, self.positives)

    def far(self, matrix):
        return rows.lookup(self.F, matrix, self.negatives)

    def of_anchors(self, column):
        return column if self.anchors is None else rows.lookup(self.F, column, self.anchors)

    def gaps(self, near, far):
        return self.near(near) - self.far(far), self.weights

    def pairs(self) -> Pairs:
        positive = self.weights if self.positives is None else self._occurring(self.positives)
        return self.every_pair.keep(positive, self._occurring(self.negatives))

    def _occurring(self, places):
        return occurrences(self.F, places, self.weights, self.every_pair.positive, self.every_pair.dtype)

    def indices(self) -> tuple[np.ndarray, ...]:
        weights = self.weights.asnumpy().ravel()
        shape = self.every_pair.positive.shape
        chosen = np.flatnonzero(weights)
        near = chosen if self.positives is None else self.positives.asnumpy().ravel().astype(int)[chosen]
        far = self.negatives.asnumpy().ravel().astype(int)[chosen]
        anchors, positives = np.unravel_index(near, shape)
        return anchors, positives, np.unravel_index(far, shape)[1]


def _places(pairs, columns):
    """Where columns of the rows of a (B, R) matrix stand in the flattened one; one beyond the last counts as the last."""
    F = pairs.F
    last = rows.width(F, pairs.positive) - 1
    return F.broadcast_add(rows.row_starts(F, pairs.positive), F.broadcast_minimum(columns, last))


def below(F, near, far, positive, negative, precision, equals=False):
    """Of every row: for each positive the number of negatives with far < near, for each negative the number of
    positives with near > far, as two (B, R) matrices; zero elsewhere.

    One sort of each row does it: what a positive passes on its way up are the negatives below it. Values that are equal
    but for rounding count only with ``equals``.
    """
    # Among equals positives come first, so that no negative of the same value is below them; or else last.
    step = F.abs(near) * (2 * precision) + 1e-30
    moved = near + step if equals else near - step
    beyond = ((positive + negative) == 0) * 1e30  # what is neither goes to the end
    keys = positive * moved + negative * far + beyond
    order = F.argsort(keys, axis=1, dtype="int32")
    starts = rows.row_starts(F, order)
    places = F.broadcast_add(order, starts)
    sorted_negative, sorted_positive = rows.lookup(F, negative, places), rows.lookup(F, positive, places)
    passed = F.cumsum(sorted_negative, axis=1) * sorted_positive
    positives = F.cumsum(sorted_positive, axis=1)
    above = F.broadcast_sub(F.slice_axis(positives, axis=1, begin=-1, end=None), positives) * sorted_negative

    def unsorted(values):
        found = F.contrib.index_copy(rows.flat(F, values), rows.flat(F, places), rows.flat(F, values))
        return F.BlockGrad(F.reshape_like(found, values))

    return unsorted(passed), unsorted(above)


def occurrences(F, places, weights, like, dtype):
    """How often each place of the flattened ``like`` occurs among ``places``, in its shape; those of weight 0 do not count."""
    count = F.contrib.arange_like(like)  # (B, R), the places themselves
    beyond = F.max(count) + 1
    kept = rows.flat(F, F.broadcast_mul(1 - weights, beyond) + F.cast(places, dtype) * weights)
    ranked = F.sort(kept, axis=0)
    return rank(F, ranked, count + 1) - rank(F, ranked, count)


_HALVINGS = 24


def rank(F, ranked, values):
    """How many of the rising numbers ``ranked``, (T,), are below each of ``values``. Found by halving."""
    found = F.zeros_like(values) - 1
    last = F.slice_axis(F.contrib.arange_like(ranked, axis=0), axis=0, begin=-1, end=None)
    for halving in reversed(range(_HALVINGS)):
        probe = found + 2**halving
        inside = F.broadcast_lesser_equal(probe, last)
        number = F.take(ranked, F.broadcast_minimum(probe, last))
        found = found + 2**halving * (inside * (number < values))
    return found + 1
