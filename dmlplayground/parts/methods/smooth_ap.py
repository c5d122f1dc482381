from ...base.options import Positive
from ..graph import pairwise, soft_ranks
from ..graph.pair_blocks import with_gradient
from ..graph.rows import row_sums, total
from .shared import KIND, Loss, about, usual_settings


@KIND.register(
    title="Smooth-AP",
    year=2020,
    paper="Brown et al.: Smooth-AP: Smoothing the Path Towards Large-Scale Image Retrieval, ECCV 2020",
    also=("SmoothAP",),
    **usual_settings.tuples(temperature=about(0.01, "the paper 0.01")),
)
class SmoothAP(Loss):
    """The average precision of every row as a query, its ranks smoothed by sigmoids.

    With S_ij = x_i.x_j and sig(S_qj, S_qi) = 1 / (1 + e^((S_qi - S_qj) / temperature)), and C_q the rows of q's class, q
    among them,

        AP_q = mean over i in C_q of  (1 + sum over j in C_q, j != i of sig) / (1 + sum over all j != i of sig),
        L = 1 - mean over rows q of  AP_q.

    Batches are meant to hold as many images of each class. It takes B^3 sigmoids, in the memory of a few (B, B).

    temperature: how sharp the sigmoids are. The paper has 0.01.

    A well-known library's version is right only where a batch has as many classes as images a class.
    """

    reads = "rows"

    temperature: Positive = 0.01
    blocks = soft_ranks.BLOCKS

    def check(self, rows, width):
        self.blocks = soft_ranks.blocks_for(rows)

    def hybrid_forward(self, F, embeddings, labels, weights):
        same = pairwise.same_class(F, labels)
        similarities = F.dot(embeddings, embeddings, transpose_b=True)
        sides = F.concat(same, 1 - same, dim=1)
        found = soft_ranks.SoftRanks(F, similarities, sides, 2, self.temperature, self.blocks)
        mates, strangers = F.split(found.counts, axis=1, num_outputs=2)
        mates = mates + 0.5  # of the row itself there is a half, where 1 is due
        others = mates + strangers
        share = F.broadcast_div(same, F.broadcast_mul(row_sums(F, same), F.sum(F.ones_like(labels))))
        share = share if weights is None else F.broadcast_mul(share, F.expand_dims(weights, 1))
        value = total(F, share, strangers / others)  # 1 - precision, without a difference of equals
        of_squares = share / F.square(others)
        by_counts = F.concat(-of_squares * strangers, of_squares * mates, dim=1)
        return with_gradient(F, value, similarities, found.slopes(by_counts))
