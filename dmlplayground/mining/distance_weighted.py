from __future__ import annotations

from ..graph import pairwise, rows
from ..graph.drawing import LARGEST_BATCH, draw_each
from .base import KIND, Miner
from .tuples import Listed

_TOO_FAR = -1e6


@KIND.register(title="Distance-weighted", also=("distance",))
class DistanceWeighted(Miner):
    """A negative for every ordered positive pair (a, p), drawn so that all distances are met equally often on the
    unit sphere.

    With d = max(D_an, cutoff) and E dimensions, n has the probability of

        exp((2 - E) log d - (E - 3) / 2 log(1 - d^2 / 4)),

    and none from ``nonzero_cutoff`` on or within the class. An anchor whose negatives are all that far draws
    from them evenly. Draws are independent, with replacement.

    Rows are taken as the head gives them: the law is for unit rows. The values are those of Wu et al. 2017.
    """

    gives = "triplets"
    unit = False

    def __init__(self, *, cutoff: float = 0.5, nonzero_cutoff: float = 1.4):
        super().__init__()
        check_cutoffs(self, cutoff, nonzero_cutoff)
        self.cutoff = cutoff
        self.nonzero_cutoff = nonzero_cutoff

    def check(self, rows, width):
        self.require(rows <= LARGEST_BATCH, f"a batch can have {LARGEST_BATCH} rows, not {rows}.")

    def hybrid_forward(self, F, pairs):
        distances = pairwise.distances(F, pairs.anchors)
        same = 1 - pairs.negative
        has_negative = F.max(pairs.negative, axis=1, keepdims=True)
        weights = F.broadcast_mul(pairs.positive, has_negative)
        return Listed(pairs, None, draw_each(F, self._probabilities(F, distances, same)), weights)

    def _probabilities(self, F, distances, same):
        """Row a: the law of anchor a's negatives."""
        d = F.clip(distances, self.cutoff, self.nonzero_cutoff)
        log_weights = (2 - self.width) * F.log(d) - (self.width - 3) / 2 * F.log(1 - F.square(d) / 4)
        near = distances < self.nonzero_cutoff
        # Too far off by a finite amount, so that where all are, they share evenly; never within the class.
        return F.softmax(near * log_weights + (1 - near) * _TOO_FAR + same * rows.HIDDEN, axis=1)


def check_cutoffs(part, cutoff, nonzero_cutoff):
    part.require(
        0 < cutoff < nonzero_cutoff < 2,
        f"cutoff, nonzero_cutoff and 2 must be in rising order, not {cutoff}, {nonzero_cutoff} and 2.",
    )
