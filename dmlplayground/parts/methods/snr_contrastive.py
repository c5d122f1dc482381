from ..graph import rows
from ..graph.pairwise import noise_to_signal
from .shared import KIND, NEGATIVE, POSITIVE, Loss, usual_settings


@KIND.register(
    title="SNR contrastive",
    year=2019,
    paper="Yuan et al.: Signal-to-Noise Ratio: A Robust Distance Metric for Deep Metric Learning, CVPR 2019",
    also=("signal-to-noise ratio contrastive",),
    **usual_settings.tuples(pos_margin=POSITIVE, neg_margin=NEGATIVE),
)
class SNRContrastive(Loss):
    """Contrastive loss with the noise between two rows in place of their distance.

    With R_ij = var(x_i - x_j) / var(x_i), variances over coordinates and i the anchor, over positive pairs P and negative
    pairs N,

        L = mean over P of [R_ij - pos_margin]+  +  mean over N of [neg_margin - R_ij]+,

    each mean over the terms above zero, and zero if there are none. A variance below 1e-12 counts as that.

    The paper adds a term that keeps the sum of coordinates near zero: the regularizer ``zero_mean``, whose weight
    Musgrave et al. found as 0.14 on CUB and 0 on Cars and SOP.

    pos_margin: how much noise positives may have. Musgrave et al. found 0.33 on CUB, 0.17 on Cars and 0.38 on SOP.
    neg_margin: how much negatives must have. They found 0.84, 0.93 and 1.08.
    """

    reads = "pairs"

    pos_margin: float = 0.0
    neg_margin: float = 1.0

    def hybrid_forward(self, F, embeddings, labels, pairs):
        noise = noise_to_signal(F, pairs)
        near = rows.active_mean(F, noise - self.pos_margin, pairs.positive)
        return near + rows.active_mean(F, self.neg_margin - noise, pairs.negative)
