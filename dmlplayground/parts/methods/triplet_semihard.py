from functools import partial

import numpy as np

from ..graph import pair_blocks, rows
from .shared import CLASS_BLOCKS, KIND, LENGTH, Loss, scaled, usual_settings

_BLOCKS = 6


@KIND.register(
    title="Triplet, semi-hard",
    year=2015,
    paper="Schroff et al.: FaceNet: A Unified Embedding for Face Recognition and Clustering, CVPR 2015",
    sampler={"name": "shuffled"},
    head={"bias": True, "normalize": False},
    defaults=usual_settings.PASSES,
    ranges={
        "method.margin": scaled(0.1, 2.0, "of unit embeddings 0.2 (FaceNet), of others 1 (the study)"),
        **LENGTH,
        **CLASS_BLOCKS,
    },
)
class TripletSemihard(Loss):
    """Every positive pair with the closest negative that is farther off than the positive.

    With squared distances D_ij = |x_i - x_j|^2 and, over all ordered pairs (a, p) of different rows of one
    class,

        n(a, p) = the closest negative with D_an > D_ap, strictly; if there is none, the farthest negative,
        L = mean over pairs (a, p) of  [margin + D_ap - D_an]+.

    Pairs without any negative count with a loss of zero. The choice of n is a constant of the gradient.

    FaceNet's values: unit embeddings, margin 0.2; the study's: embeddings not normalised, margin 1 (fixed in
    the released code). The released code compares all triples, B x B x B; here each row is sorted once.

    margin: how much farther, in squared distance, a negative must be than a positive.
    """

    margin: float = 1.0
    blocks = _BLOCKS

    def check(self, rows, width):
        self.blocks = pair_blocks.blocks_for(rows, _BLOCKS)

    def hybrid_forward(self, F, embeddings, labels):
        loss, count = pair_blocks.sum_over_pairs(
            F, self.blocks, embeddings, labels, partial(self._of_block, F)
        )
        return loss / F.maximum(count, 1)

    def _of_block(self, F, squares, same, own, labels):
        # Every row by distance; of equal distances those of negatives come first.
        precision = float(np.finfo(self.dtype).eps)
        keys = (squares + 1e-30) * (1 + precision * same)
        distances, columns = F.topk(keys, axis=1, k=0, ret_typ="both", is_ascend=True, dtype="int32")
        row_starts = rows.row_starts(F, F.cast(own, "int32"), F.cast(labels, "int32"))
        places = F.broadcast_add(columns, row_starts)
        negative = 1 - F.take(rows.flat(F, same), places)
        ranks = Negatives(F, negative, row_starts)
        # Of its own class the row itself comes first, or what lies where it does, which makes no difference.
        position = F.expand_dims(F.contrib.arange_like(labels, axis=1), 0)
        positive = F.broadcast_greater(position, ranks.passed) * (1 - negative)

        to_negative = ranks.take(distances, F.broadcast_minimum(ranks.passed, F.relu(ranks.count - 1)))
        violations = self.margin + distances - to_negative
        active = F.broadcast_mul(positive, ranks.count > 0) * (violations > 0)
        slopes = active - negative * self._takers(F, active, ranks)
        slopes = F.contrib.index_copy(rows.flat(F, slopes), rows.flat(F, places), rows.flat(F, slopes))
        return slopes, rows.row_sums(F, violations * active)

    def _takers(self, F, active, ranks):
        """How many active pairs chose a negative: those since the one before; the last, those behind too."""
        until = F.cumsum(active, axis=1)
        every = F.slice_axis(until, axis=1, begin=-1, end=None)
        is_last = F.broadcast_equal(ranks.passed, ranks.count)
        before = ranks.take(until, F.relu(ranks.passed - 2)) * (ranks.passed > 1)
        return until + is_last * F.broadcast_sub(every, until) - before


class Negatives:
    """The negatives of sorted rows: how many have passed, how many there are, and what stands at the n-th."""

    def __init__(self, F, negative, row_starts):
        self.F = F
        self.row_starts = row_starts
        self.passed = F.cumsum(negative, axis=1)
        self.count = F.slice_axis(self.passed, axis=1, begin=-1, end=None)
        # The n-th negative goes to position n, the rest to that behind the last of them; it is free, for a
        # row has its own entry, and that is no negative.
        front = F.broadcast_add(negative * F.broadcast_sub(self.passed, self.count + 1), self.count)
        self.front = self._places(front)

    def take(self, values, number):
        """For every position what ``values`` has at the negative with this number, counted from 0."""
        F = self.F
        moved = F.contrib.index_copy(rows.flat(F, values), rows.flat(F, self.front), rows.flat(F, values))
        return F.take(moved, self._places(number))

    def _places(self, columns):
        return self.F.broadcast_add(self.F.cast(columns, "int32"), self.row_starts)
