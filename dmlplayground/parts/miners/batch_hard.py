from ..graph import rows
from .shared import KIND, Listed, Miner


@KIND.register(title="Batch hard", also=("hardest",))
class BatchHard(Miner):
    """One triplet an anchor: its farthest positive and its nearest negative. Rows without either are left out."""

    gives = "triplets"

    def hybrid_forward(self, F, pairs):
        distances = pairs.squared_distances()
        positive = rows.largest(F, distances, pairs.positive)
        negative = rows.smallest(F, distances, pairs.negative)
        return Listed.each_anchor(pairs, positive, negative, pairs.complete_rows())
