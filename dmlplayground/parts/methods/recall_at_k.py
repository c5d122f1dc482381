from ...base.options import Positive
from ..graph import pairwise, soft_ranks
from ..graph.pair_blocks import with_gradient
from ..graph.rows import row_sums, sum_of, total
from .shared import KIND, Loss, about, usual_settings


@KIND.register(
    title="Recall@k surrogate",
    year=2022,
    paper="Patel et al.: Recall@k Surrogate Loss with Large Batches and Similarity Mixup, CVPR 2022",
    also=("RS@k", "recall at k"),
    **usual_settings.tuples(
        temperature=about(1.0, "the paper 1"), rank_temperature=about(0.01, "the paper 0.01")
    ),
)
class RecallAtK(Loss):
    """The share of positives among the k nearest rows, for several k, with ranks and thresholds smoothed by sigmoids.

    With S_ij = x_i.x_j, sig(z) = 1 / (1 + e^-z) and P_q the positives of row q,

        r_qx = 1 + sum over rows z other than x and q of  sig((S_qz - S_qx) / rank_temperature),
        R_qk = min(k, sum over x in P_q of sig((k - r_qx) / temperature)) / min(k, |P_q|),
        L = 1 - mean over the ks, and over the rows q that have a positive, of  R_qk,

    and zero if no row has one. It takes B^3 sigmoids, in the memory of a few matrices of the batch.

    ks: how many nearest rows are looked at. The paper has 1, 2, 4, 8 and 16.
    temperature: how sharp the threshold at k is. The paper has 1.
    rank_temperature: how sharp ranks are. The paper has 0.01.
    count_query: z runs over the query itself too, as in the authors' code, so that the best rank is about 2.
    """

    reads = "rows"

    ks: tuple[int, ...] = (1, 2, 4, 8, 16)
    temperature: Positive = 1.0
    rank_temperature: Positive = 0.01
    count_query: bool = False
    blocks = soft_ranks.BLOCKS

    def __post_init__(self) -> None:
        self.require(self.ks and min(self.ks) >= 1, f"ks are whole numbers from 1, not {self.ks}.")

    def check(self, rows, width):
        self.blocks = soft_ranks.blocks_for(rows)

    def hybrid_forward(self, F, embeddings, labels, weights):
        same, positive = pairwise.positive_pairs(F, labels)
        similarities = F.dot(embeddings, embeddings, transpose_b=True)
        counted = F.ones_like(same) if self.count_query else 1 - (same - positive)
        found = soft_ranks.SoftRanks(F, similarities, counted, 1, self.rank_temperature, self.blocks)
        places = found.counts + 0.5  # of x itself there is a half, where 1 is due
        number = row_sums(F, positive)
        share = F.broadcast_div(number > 0, F.maximum(F.sum(number > 0), 1) * len(self.ks))
        share = share if weights is None else share * F.expand_dims(weights, 1)
        value, by_places = sum_of(F, share) * len(self.ks), 0
        for k in self.ks:
            within = F.sigmoid((k - places) / self.temperature) * positive
            hits = row_sums(F, within)
            of_k = share / F.maximum(F.minimum(number, k), 1)
            value = value - total(F, of_k, F.minimum(hits, k))
            steepness = within * (1 - within) / self.temperature
            by_places = by_places + F.broadcast_mul(steepness, of_k * (hits < k))
        return with_gradient(F, value, similarities, found.slopes(by_places))
