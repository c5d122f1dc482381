from ..graph import rows
from .shared import KIND, Listed, Miner


@KIND.register(title="Easy positive, semi-hard negative", also=("easy positive semihard",))
class EasyPositive(Miner):
    """One triplet an anchor: its nearest positive, and the nearest negative that is farther off than that.

    Rows without such a negative are left out.
    """

    gives = "triplets"

    def hybrid_forward(self, F, pairs):
        distances = pairs.squared_distances()
        positive = rows.smallest(F, distances, pairs.positive)
        farther = pairs.negative * F.broadcast_greater(distances, rows.entry(F, distances, positive))
        kept = pairs.complete_rows() * F.max(farther, axis=1, keepdims=True)
        return Listed.each_anchor(pairs, positive, rows.smallest(F, distances, farther), kept)
