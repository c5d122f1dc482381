from dataclasses import field
from typing import Literal

from ...base.options import Positive
from ..graph import classes, rows
from .shared import KIND, Loss, Reads, about, between, initial_weights, usual_settings


@KIND.register(
    title="Circle",
    year=2020,
    paper="Sun et al.: Circle Loss: A Unified Perspective of Pair Similarity Optimization, CVPR 2020",
    **usual_settings.tuples(margin=between(0.1, 0.6, "the paper 0.25 and 0.4"), scale=about(80.0)),
)
class Circle(Loss):
    """Similarities within a class and between classes, each weighing by how far it is from where it should be.

    Of similarities s_p within and s_n between classes, with w_p = [1 + margin - s_p]+ and w_n = [s_n + margin]+, both
    constants of the gradient,

        l = log(1 + sum_n e^(scale w_n (s_n - margin)) sum_p e^(-scale w_p (s_p - 1 + margin))).

    In the form of pairs s = x_i.x_j, each pair once, and

        L = mean over the rows i that have both positives and negatives of  l_i.

    In the form of classes s_p = x_i.p_k for row i's class k and s_n the same for all others, p_k = proxy_k / |proxy_k|,
    and L is the mean over all rows.

    margin: how far similarities may stay from 1 and from 0. The paper has 0.4 for retrieval and 0.25 for faces.
    scale: the factor in the exponents. The paper has 80 for retrieval, 256 for faces and 128 for persons.
    form: what a row is compared with: other rows (pairs) or learned proxies (classes).
    init_std: the deviation of the proxies' coordinates at the start, for the form of classes.

    The library that Musgrave et al. used repeated each pair for every triplet it is in; that is not an option here.
    """

    reads: Reads = field(default="pairs", init=False)

    margin: float = 0.4
    scale: Positive = 80.0
    form: Literal["pairs", "classes"] = "pairs"
    init_std: float = 1.0

    def __post_init__(self) -> None:
        if self.form == "classes":
            self.reads = "rows"
            classes.check_classes(self)
            self.weight("proxies", (self.num_classes, self.embed_dim), initial_weights.normal(self.init_std))

    def check(self, rows, width):
        if self.reads == "rows":
            classes.check_width(self, width, self.embed_dim)

    def hybrid_forward(self, F, embeddings, labels, read, proxies=None):
        if self.reads == "rows":
            return self._of_classes(F, embeddings, labels, read, proxies)
        similarities = read.similarities()
        towards = F.broadcast_add(self._towards(F, similarities), rows.hidden(F, read.positive))
        away = F.broadcast_add(self._away(F, similarities), rows.hidden(F, read.negative))
        losses = rows.softplus(F, rows.log_sum_exp(F, towards) + rows.log_sum_exp(F, away))
        return rows.count_mean(F, F.expand_dims(losses, 1), read.complete_rows())

    def _of_classes(self, F, embeddings, labels, weights, proxies):
        cosines = classes.nearness(F, embeddings, proxies, self.num_classes, 1.0)
        towards = self._towards(F, F.pick(cosines, labels, axis=1))
        return classes.against_others(
            F, self._away(F, cosines), -towards, labels, self.num_classes, self.dtype, weights
        )

    def _towards(self, F, similarities):
        weights = F.BlockGrad(F.relu(1 + self.margin - similarities))
        return -self.scale * weights * (similarities - (1 - self.margin))

    def _away(self, F, similarities):
        weights = F.BlockGrad(F.relu(similarities + self.margin))
        return self.scale * weights * (similarities - self.margin)
