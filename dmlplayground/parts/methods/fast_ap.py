from functools import partial
from typing import Annotated

from ...base.options import within
from ..graph import bins as binned
from ..graph import rows
from ..graph.pair_blocks import with_gradient
from ..miners.shared.tuples import all_pairs
from .shared import KIND, Loss, about, usual_settings


@KIND.register(
    title="FastAP",
    year=2019,
    paper="Cakir et al.: Deep Metric Learning to Rank, CVPR 2019",
    also=("FAP", "average precision by histograms"),
    **usual_settings.tuples(bins=about(10, "the paper 10, Musgrave et al.'s searches 16 to 27")),
)
class FastAP(Loss):
    """The average precision of every row as a query, its ranks read off a soft histogram of distances.

    With bins + 1 nodes at 0, 4 / bins, ... 4 of squared distances, each row counting for the two nodes around its own,
    for the nearer one more: h+_l is how many positives of query i node l holds, H+_l and H_l how many positives and how
    many other rows it and all nodes before it hold. Over the rows that have a positive, N of them in row i,

        L = mean over rows i of  1 - 1/N sum_l h+_l H+_l / H_l.

    The query itself counts nowhere. The nodes are for embeddings of length 1. Ranks are those within a batch: from few
    rows, such as 32, a network that starts untrained learns little.

    bins: how many. The paper has 10; Musgrave et al. found 17 on CUB, 27 on Cars and 16 on SOP, and 86 on CUB with
        batches of 256.
    """

    reads = "rows"

    bins: Annotated[int, within(1, 10_000)] = 10

    def hybrid_forward(self, F, embeddings, labels, weights):
        pairs = all_pairs(F, embeddings, labels, self.dtype)
        squares = pairs.squared_distances()
        places = F.BlockGrad(squares) * (self.bins / 4)
        count_row = partial(F.FullyConnected, weight=rows.ones_row(F, places), num_hidden=1, no_bias=True)
        held = [
            F.stack(count_row(part), count_row(part * pairs.positive), axis=0)
            for part in binned.held(F, places, self.bins + 1)
        ]
        seen, mates = F.split(F.concat(*held, dim=2), axis=0, num_outputs=2, squeeze_axis=True)
        seen = seen - 1  # the query, at no distance from itself, is in every one
        own = binned.differences(F, mates)
        whole = seen + (seen <= 0)
        precision = mates / whole
        count = rows.row_sums(F, pairs.positive)
        # Without negatives the precision is 1, and the loss zero but for rounding.
        share = pairs.complete_rows() / F.maximum(count, 1)
        if weights is not None:
            share = share * F.expand_dims(weights, 1)
        share = F.broadcast_div(share, F.maximum(F.sum(count > 0, axis=0, keepdims=True), 1))
        value = rows.total(F, count - F.expand_dims(F.sum(own * precision, axis=1), 1), share)

        by_seen = own * precision / whole
        by_mates = binned.following(F, precision) - precision - own / whole
        by_seen, by_mates = (F.broadcast_mul(each, share * (self.bins / 4)) for each in (by_seen, by_mates))
        slopes = binned.slopes_by_place(F, places, by_seen)
        slopes = slopes + pairs.positive * binned.slopes_by_place(F, places, by_mates)
        return with_gradient(F, value, squares, slopes)
