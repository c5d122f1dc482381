from .shared import KIND, Miner


@KIND.register(title="Pair margin")
class PairMargin(Miner):
    """Positive pairs that are farther apart than ``pos_margin``, negative pairs nearer than ``neg_margin``.

    Distances are those of unit rows, not squared.

    pos_margin: positive pairs nearer than this are left out.
    neg_margin: negative pairs farther than this are left out.
    """

    gives = "pairs"

    pos_margin: float = 0.2
    neg_margin: float = 0.8

    def hybrid_forward(self, F, pairs):
        # Compared by squares, since a root of the whole matrix takes longer than all the rest.
        squares = pairs.squared_distances()
        far = squares > self.pos_margin * abs(self.pos_margin)
        near = squares < self.neg_margin * abs(self.neg_margin)
        return pairs.keep(pairs.positive * far, pairs.negative * near)
