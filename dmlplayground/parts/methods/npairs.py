from functools import partial
from typing import Literal

from ...base.errors import UserError
from ...base.options import NotNegative
from ..graph import interleaved
from ..graph.pairwise import same_class
from ..graph.rows import row_sums
from .shared import KIND, LENGTH, Loss, about, usual_settings


class Paired(Loss):
    """Base: a loss that reads an anchor and its positive in every two rows."""

    symmetric = False
    negatives = "pairs"

    def __post_init__(self) -> None:
        self.require(
            not self.symmetric or self.negatives == "pairs",
            "with all negatives it is symmetric, so leave symmetric false.",
        )

    def check(self, rows, width):
        if rows % 2:
            raise UserError(
                f"{self.key} reads pairs a0 p0 a1 p1 ..., so a batch has an even number of rows, not {rows}."
            )

    def check_labels(self, labels):
        if (labels[0::2] != labels[1::2]).any():
            raise UserError(
                f"{self.key} reads pairs a0 p0 a1 p1 ...; here an anchor and its positive differ in class."
            )

    def both_ways(self, loss_of, anchors, positives):
        """The loss of anchors that look for their positives; if symmetric, its mean with that of the reverse."""
        loss = loss_of(anchors, positives)
        return (loss + loss_of(positives, anchors)) / 2 if self.symmetric else loss


@KIND.register(
    title="N-pairs",
    year=2016,
    paper="Sohn: Improved Deep Metric Learning with Multi-class N-pair Loss Objective, NIPS 2016",
    sampler={"name": "pairs", "same_image": 0.1},
    head={"bias": True, "normalize": False},
    defaults=usual_settings.TRAINING,
    ranges={"method.l2_reg": about(5e-4), **LENGTH},
)
class NPairs(Paired):
    """Every anchor picks its own positive out of all the positives of the batch, by inner product.

    Rows come as pairs a0 p0 a1 p1 ... With S = A P^T and t_ij = [y_i = y_j], each row of t divided by its
    sum,

        L = mean over pairs i of  -sum_j t_ij log softmax_j(S_i)  +  l2_reg (|a_i|^2 + |p_i|^2).

    ``symmetric`` averages this with the cross-entropy of the transposed matrix, where every positive picks
    its anchor; as in the released code the regularizer keeps its full weight.

    The paper's values: one pair a class, embeddings not normalised, a small L2 weight; the study's l2_reg is
    0.25 x 0.002. The study prints the loss with a distance; its code, and the paper it cites, use the inner
    product, and so do we. The released code divides whole numbers when labels repeat, which makes their
    targets zero; ours are fractions.

    negatives: pairs is the form above. With all, every row is an anchor, the other one of its pair its positive p and all
        rows n of other classes its negatives, and L is the mean over rows a of log(1 + sum_n e^(a.n - a.p)), as in
        Roth et al.; theirs has the regularizer ``embedding_norm`` (power 1, weight 0.005) and l2_reg 0.
    l2_reg: weight of the term that keeps embeddings short.
    symmetric: average this with the loss in which every positive picks its anchor.
    """

    l2_reg: NotNegative = 5e-4
    symmetric: bool = False
    negatives: Literal["pairs", "all"] = "pairs"

    def hybrid_forward(self, F, embeddings, labels):
        if self.negatives == "all":
            return self._against_all(F, embeddings, labels)
        anchors, positives, labels = interleaved.split_pairs(F, embeddings, labels)
        same = same_class(F, labels)
        targets = F.broadcast_div(same, row_sums(F, same))
        loss = self.both_ways(partial(self._one_way, F, targets), anchors, positives)
        return loss + self.l2_reg * interleaved.squared_lengths(F, anchors, positives)

    def _one_way(self, F, targets, anchors, positives):
        similarities = F.dot(anchors, positives, transpose_b=True)
        return -F.mean(row_sums(F, targets * F.log_softmax(similarities, axis=1)))

    def _against_all(self, F, embeddings, labels):
        positives = interleaved.partners(F, embeddings)
        own = row_sums(F, embeddings * positives)
        similarities = F.dot(embeddings, embeddings, transpose_b=True)
        loss = interleaved.own_against_others(F, own, similarities, labels)
        return loss + self.l2_reg * interleaved.squared_lengths(F, embeddings, positives)
