from ..graph import random_draws, rows
from .shared import KIND, Listed, Miner


@KIND.register(title="Random within a class")
class IntraRandom(Miner):
    """A control: as many triplets as rows, each of a class drawn evenly, all three images from that class, evenly and
    with replacement.
    """

    gives = "triplets"
    in_batch = True

    def hybrid_forward(self, F, pairs):
        same = pairs.positive + pairs.own
        evenly = F.broadcast_div(F.ones_like(same), F.transpose(rows.row_sums(F, same)))
        anchors = random_draws.draw(F, evenly)
        mates = F.take(same, rows.flat(F, anchors))
        starts = F.broadcast_mul(anchors, rows.width(F, same))
        near, far = (F.broadcast_add(starts, random_draws.draw(F, mates)) for _ in range(2))
        return Listed(pairs, near, far, F.ones_like(anchors), anchors)
