import math

from ..graph.pairwise import squares_between
from .shared import KIND, Cube, Miner


@KIND.register(title="Angular")
class AngularMiner(Miner):
    """Every triplet whose angle at the negative, arctan(D_ap / (2 |n - (a + p) / 2|)) of unit rows, is above ``angle``.

    The condition depends on all three rows, so this is the only miner that needs memory for all triplets of a batch.

    angle: the least angle at a negative that is kept, in degrees.
    """

    gives = "triplets"

    angle: float = 20.0

    def __post_init__(self) -> None:
        self.require(0 <= self.angle < 90, f"angle is from 0 to below 90 degrees, not {self.angle}.")
        self.slope = math.tan(math.radians(self.angle))

    def hybrid_forward(self, F, pairs):
        # |n - (a + p) / 2|^2 = (D_an^2 + D_pn^2) / 2 - D_ap^2 / 4
        to_anchor = pairs.squared_distances()
        between = squares_between(F, pairs.references, pairs.references, pairs.precision)
        apart = F.expand_dims(to_anchor, 2)
        middle = F.broadcast_add(F.expand_dims(to_anchor, 1), F.expand_dims(between, 0)) / 2
        middle = F.broadcast_sub(middle, apart / 4)
        wide = F.broadcast_greater(apart, 4 * self.slope**2 * middle)
        every = F.broadcast_mul(F.expand_dims(pairs.positive, 2), F.expand_dims(pairs.negative, 1))
        return Cube(pairs, wide * every)
