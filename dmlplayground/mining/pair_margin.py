from __future__ import annotations

from .base import KIND, Miner


@KIND.register(title="Pair margin")
class PairMargin(Miner):
    """Positive pairs that are farther apart than ``pos_margin``, negative pairs nearer than ``neg_margin``.

    Distances are those of unit rows, not squared.

    pos_margin: positive pairs nearer than this are left out.
    neg_margin: negative pairs farther than this are left out.
    """

    gives = "pairs"

    def __init__(self, *, pos_margin: float = 0.2, neg_margin: float = 0.8):
        super().__init__()
        self.pos_margin = pos_margin
        self.neg_margin = neg_margin

    def hybrid_forward(self, F, pairs):
        distances = pairs.distances()
        far, near = distances > self.pos_margin, distances < self.neg_margin
        return pairs.keep(pairs.positive * far, pairs.negative * near)
