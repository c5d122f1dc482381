from ..graph import random_draws
from .shared import KIND, Listed, Miner


@KIND.register(title="Soft-hard", also=("soft-hard",))
class SoftHard(Miner):
    """One triplet an anchor: a positive drawn evenly among those farther off than its nearest negative, and a negative
    evenly among those nearer than its farthest positive; where there are none, among all.
    """

    gives = "triplets"

    def hybrid_forward(self, F, pairs):
        distances = pairs.squared_distances()
        nearest = F.min(distances + (1 - pairs.negative) * 1e30, axis=1, keepdims=True)
        farthest = F.max(distances - (1 - pairs.positive) * 1e30, axis=1, keepdims=True)
        far = pairs.positive * F.broadcast_greater(distances, nearest)
        near = pairs.negative * F.broadcast_lesser(distances, farthest)
        positive = random_draws.draw(F, random_draws.or_else(F, far, pairs.positive))
        negative = random_draws.draw(F, random_draws.or_else(F, near, pairs.negative))
        return Listed.each_anchor(pairs, positive, negative, pairs.complete_rows())
