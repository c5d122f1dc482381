from typing import Literal

from .shared import KIND, MARGIN, Loss, usual_settings


@KIND.register(
    title="Triplet",
    year=2006,
    paper="Weinberger et al.: Distance Metric Learning for Large Margin Nearest Neighbor Classification, NIPS 2006",
    also=("triplet margin", "all triplets", "batch all"),
    **usual_settings.tuples(margin=MARGIN),
)
class Triplet(Loss):
    """A negative is farther than a positive by a margin, in every triplet of the batch.

    With D_ij = |x_i - x_j| (not squared), over triplets (a, p, n),

        L = mean over those above zero of  [D_ap - D_an + margin]+,

    and zero if there are none. Without a miner these are all triplets; they are not listed, but counted in sorted rows.

    margin: how much farther. Musgrave et al. found 0.096 on CUB, 0.119 on Cars and 0.045 on SOP; Roth et al. have 0.2.
    squared: distances are squared, as in Roth et al.
    average: over the terms above zero (active), or over all, as in Roth et al.
    """

    reads = "triplets"

    margin: float = 0.2
    squared: bool = False
    average: Literal["active", "all"] = "active"

    def hybrid_forward(self, F, embeddings, labels, triplets):
        pairs = triplets.every_pair
        distances = pairs.squared_distances() if self.squared else pairs.distances()
        hinge = triplets.hinge(distances, distances, self.margin, like_distance=self.unit_rows)
        return hinge.sum / F.maximum(hinge.active if self.average == "active" else hinge.count, 1)
