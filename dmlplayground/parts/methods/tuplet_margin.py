import math

from ...base.options import Positive
from ..graph import classes, rows
from .shared import KIND, Loss, about, usual_settings


@KIND.register(
    title="Tuplet margin",
    year=2019,
    paper="Yu and Tao: Deep Metric Learning with Tuplet Margin Loss, ICCV 2019",
    **usual_settings.tuples(margin=about(5.73, "degrees; the paper 5.73"), scale=about(64.0, "the paper 64")),
)
class TupletMargin(Loss):
    """Every positive pair against all negatives of its anchor, its angle counted as smaller by a margin.

    With S_ij = x_i.x_j = cos theta_ij, over positive pairs (a, p), and over the negatives n of a,

        L = mean over (a, p) of  log(1 + sum_n e^(scale (S_an - cos(theta_ap - margin)))).

    theta comes from a similarity that is kept 1e-7 within -1 and 1, where its slope is finite. So a positive nearer than
    the margin is pushed out to it, which keeps the loss from spending itself on pairs that are too easy.

    margin: by how much the angle of a positive counts as smaller, in degrees. The paper has 5.73 (a tenth of a radian).
    scale: how much the nearest negatives count more. The paper has 64.
    """

    reads = "pairs"

    margin: float = 5.73
    scale: Positive = 64.0

    def hybrid_forward(self, F, embeddings, labels, pairs):
        similarities = pairs.similarities()
        rivals = F.broadcast_add(self.scale * similarities, rows.log_weights(F, pairs.negative))
        rivals = rows.log_sum_exp(F, rivals, keepdims=True)
        _, turned = classes.turned(F, similarities, -math.radians(self.margin))
        losses = rows.softplus(F, F.broadcast_sub(rivals, self.scale * turned))
        return rows.count_mean(F, losses, pairs.positive)
