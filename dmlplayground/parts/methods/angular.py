import math
from functools import partial
from typing import Literal

from ...base.options import NotNegative, Positive
from ..graph import interleaved, pairwise, rows
from .npairs import NPairs, Paired
from .shared import KIND, about, between


@KIND.register(
    title="Angular",
    year=2017,
    paper="Wang et al.: Deep Metric Learning with Angular Loss, ICCV 2017",
    sampler={"name": "pairs", "same_image": 0.1},
    head={"bias": True, "normalize": False},
    defaults={
        "batch_size": 128,
        "iterations": 200,
        "epochs": 30,
        "optimizer": {"name": "adam", "lr": 1e-5, "weight_decay": 1e-5, "clip": 10.0},
        "schedule": {"factor": 0.5, "steps": [10, 20]},
    },
    ranges={"method.alpha": between(30.0, 60.0, "the paper tries 36 to 55"), "method.l2_reg": about(5e-4)},
)
class Angular(Paired):
    """The angle at a negative, in the triangle it forms with an anchor and its positive, is kept below alpha.

    Rows come as pairs a0 p0 a1 p1 ... With t = tan(alpha)^2 and, for pairs i and j,

        s_ij = 2 (1 + t) a_i.p_j         where their classes agree,
               4 t (a_i + p_i).p_j       where they differ,

        L = mean over pairs i of  -log softmax_i(s_i)  +  l2_reg (|a_i|^2 + |p_i|^2),

    which for distinct classes is the paper's log(1 + sum_n exp(4 t (a + p).n - 2 (1 + t) a.p)), the negatives
    n being the other pairs' positives. ``symmetric`` averages this with anchors and positives exchanged (the
    regularizer stays whole).

    ``npairs_weight`` w adds w times the N-pairs loss without its regularizer. The paper's mixture, N-pairs +
    lambda angular, is lambda times this loss with npairs_weight = 1 / lambda (and l2_reg divided by lambda).

    The paper's values: alpha from 36 to 55 degrees, 45 most often, no L2 term (the released code has one, and
    so have we, by default). The released code halves the gradient (its step divides by rows, not pairs),
    which does not affect Adam, except that weight decay weighs twice as much.

    negatives: pairs is the form above. With all, every row a is an anchor, the other one of its pair its positive p and
        all rows n of other classes its negatives, and L is the mean over rows of
        log(1 + sum_n e^(4 t (a + p).n - 2 (1 + t) a.p)), the N-pairs term being likewise against all. Roth et al. have
        that with npairs_weight 1, angular_weight 2, unit_angles, l2_reg 0 and the regularizer ``embedding_norm``
        (power 1, weight 0.005).
    angular_weight: what the angular term is multiplied by.
    unit_angles: the angular term is of embeddings at unit length, the others as they are.

    alpha: the angle, in degrees, that the one at a negative stays below.
    l2_reg: weight of the term that keeps embeddings short.
    symmetric: average this with anchors and positives exchanged.
    npairs_weight: what the N-pairs loss that is added is multiplied by.
    """

    alpha: float = 45.0
    l2_reg: NotNegative = 5e-4
    symmetric: bool = False
    npairs_weight: NotNegative = 0.0
    negatives: Literal["pairs", "all"] = "pairs"
    angular_weight: Positive = 1.0
    unit_angles: bool = False

    def __post_init__(self) -> None:
        self.require(0 < self.alpha < 90, f"alpha is an angle between 0 and 90 degrees, not {self.alpha}.")
        super().__post_init__()
        self.slope = math.tan(math.radians(self.alpha)) ** 2

    def hybrid_forward(self, F, embeddings, labels):
        seen = rows.unit(F, embeddings) if self.unit_angles else embeddings
        find = self._against_all if self.negatives == "all" else self._against_pairs
        loss = self.angular_weight * find(F, seen, labels)
        if self.npairs_weight:
            npairs = NPairs(self.num_classes, self.embed_dim, 0.0, self.symmetric, self.negatives)
            loss = loss + self.npairs_weight * npairs.hybrid_forward(F, embeddings, labels)
        if not self.l2_reg:
            return loss
        anchors, positives, _ = interleaved.split_pairs(F, embeddings, labels)
        return loss + self.l2_reg * interleaved.squared_lengths(F, anchors, positives)

    def _against_pairs(self, F, embeddings, labels):
        anchors, positives, labels = interleaved.split_pairs(F, embeddings, labels)
        return self.both_ways(partial(self._one_way, F, pairwise.same_class(F, labels)), anchors, positives)

    def _one_way(self, F, same, anchors, positives):
        near = 2 * (1 + self.slope) * F.dot(anchors, positives, transpose_b=True)
        far = 4 * self.slope * F.dot(anchors + positives, positives, transpose_b=True)
        angles = far + same * (near - far)
        return -F.mean(rows.own_row(F, F.log_softmax(angles, axis=1)))

    def _against_all(self, F, embeddings, labels):
        positives = interleaved.partners(F, embeddings)
        own = 2 * (1 + self.slope) * rows.row_sums(F, embeddings * positives)
        similarities = 4 * self.slope * F.dot(embeddings + positives, embeddings, transpose_b=True)
        return interleaved.own_against_others(F, own, similarities, labels)
