from ..graph.pairwise import noise_to_signal
from .shared import KIND, MARGIN, Loss, usual_settings


@KIND.register(
    title="SNR triplet",
    year=2019,
    paper="Yuan et al.: Signal-to-Noise Ratio: A Robust Distance Metric for Deep Metric Learning, CVPR 2019",
    also=("signal-to-noise ratio triplet", "SNR"),
    **usual_settings.tuples(margin=MARGIN),
)
class SNRTriplet(Loss):
    """Triplet loss with the noise between two rows in place of their distance.

    With R_ij = var(x_i - x_j) / var(x_i), variances over coordinates and i the anchor, over triplets (a, p, n),

        L = mean over those above zero of  [R_ap - R_an + margin]+,

    and zero if there are none. A variance below 1e-12 counts as that.

    Roth et al. add the regularizer ``zero_mean`` with weight 0.005, except with the miner ``distance``.

    margin: how much more noise. Roth et al. have 0.2.
    """

    reads = "triplets"

    margin: float = 0.2

    def hybrid_forward(self, F, embeddings, labels, triplets):
        noise = noise_to_signal(F, triplets.every_pair)
        hinge = triplets.hinge(noise, noise, self.margin)
        return hinge.sum / F.maximum(hinge.active, 1)
