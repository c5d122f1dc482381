from typing import Literal

from ..graph import rows
from .shared import KIND, NEGATIVE, POSITIVE, Loss, usual_settings


@KIND.register(
    title="Contrastive",
    year=2006,
    paper="Hadsell et al.: Dimensionality Reduction by Learning an Invariant Mapping, CVPR 2006",
    also=("pair loss", "siamese"),
    **usual_settings.tuples(pos_margin=POSITIVE, neg_margin=NEGATIVE),
)
class Contrastive(Loss):
    """Pairs of one class come closer than one distance, pairs of two classes go farther than another.

    With D_ij = |x_i - x_j| (not squared), over positive pairs P and negative pairs N,

        L = mean over P of [D_ij - pos_margin]+  +  mean over N of [neg_margin - D_ij]+,

    each mean over the terms above zero, and zero if there are none.

    pos_margin: how far positives may stay. Musgrave et al. found -0.2 on CUB (the bound of their search, which acts as
        0), 0.27 on Cars and 0.29 on SOP.
    neg_margin: how far negatives must go. Musgrave et al. found 0.38, 0.54 and 0.51; 1 is usual.
    average: over the terms above zero (active), or over all, as Roth et al. do with pairs of mined triplets.
    """

    reads = "pairs"

    pos_margin: float = 0.0
    neg_margin: float = 1.0
    average: Literal["active", "all"] = "active"

    def hybrid_forward(self, F, embeddings, labels, pairs):
        distances = pairs.distances()
        mean = rows.active_mean if self.average == "active" else rows.hinge_mean
        near = mean(F, distances - self.pos_margin, pairs.positive)
        return near + mean(F, self.neg_margin - distances, pairs.negative)
