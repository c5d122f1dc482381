from typing import Annotated

from ...base.options import within
from ..graph import bins, rows
from ..graph.pair_blocks import with_gradient
from .shared import KIND, Loss, about, usual_settings


@KIND.register(
    title="Histogram",
    year=2016,
    paper="Ustinova and Lempitsky: Learning Deep Embeddings with Histogram Loss, NIPS 2016",
    **usual_settings.tuples(nodes=about(65, "Roth et al. 65")),
)
class Histogram(Loss):
    """The chance that a negative pair is more similar than a positive one, read off two soft histograms.

    With S_ij = x_i.x_j, nodes t_r from -1 to 1 at a distance d, and h+_r and h-_r the mean of [1 - |S_ij - t_r| / d]+ over
    positive and over negative pairs,

        L = sum_r h-_r sum_{q <= r} h+_q.

    Similarities beyond -1 and 1 count as these. Zero without pairs of either kind.

    nodes: how many, their distance being 2 / (nodes - 1). Roth et al. have 65, and 11 on SOP, where their code looked bins
        up by equal floats and lost most of the range; the sums here are exact for any number.
    """

    reads = "pairs"

    nodes: Annotated[int, within(2, 10_000)] = 65

    def hybrid_forward(self, F, embeddings, labels, pairs):
        similarities = pairs.similarities()
        seen = F.BlockGrad(similarities)
        steps = (self.nodes - 1) / 2  # to the unit of similarity
        places = (F.maximum(F.minimum(seen, 1), -1) + 1) * steps
        positive, negative = (
            F.broadcast_div(each, F.reshape(F.maximum(rows.sum_of(F, each), 1), shape=(1, 1)))
            for each in (pairs.positive, pairs.negative)
        )
        held = [
            F.stack(rows.total(F, part, positive), rows.total(F, part, negative), axis=0)
            for part in bins.held(F, places, self.nodes)
        ]
        near, far = F.split(F.concat(*held, dim=1), axis=0, num_outputs=2)
        own = bins.differences(F, far)
        value = rows.total(F, own, near)

        slopes = positive * bins.slopes_by_place(F, places, own)
        slopes = slopes + negative * bins.slopes_by_place(F, places, near - bins.following(F, near))
        within = (seen > -1) * (seen < 1)
        return with_gradient(F, value, similarities, slopes * within * steps)
