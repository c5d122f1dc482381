import numpy as np

from ...base.options import Count
from ..graph import pairwise, rows
from .shared import KIND, LENGTH, Loss, one_of, usual_settings


@KIND.register(
    title="Prototypical networks",
    year=2017,
    paper="Snell, Swersky and Zemel: Prototypical Networks for Few-shot Learning, NIPS 2017",
    sampler={"name": "episodes", "supports": 5, "queries": 5},
    head={"bias": True, "normalize": False},
    defaults={**usual_settings.TRAINING, "batch_size": 120, "iterations": 100, "epochs": 30},
    ranges={
        **LENGTH,
        "sampler": one_of(*({"name": "episodes", "supports": 5, "queries": count} for count in (1, 5))),
    },
)
class Prototypical(Loss):
    """Few-shot episodes: every query picks its class's prototype, the mean of a few supports, out of all
    prototypes.

    A row is a support while fewer than ``supports`` earlier rows carry its label, and a query after that; so
    both layouts can be read, class after class and all supports first. With mu_k the mean of class k's
    supports,

        L = mean over queries q of  -log softmax_k(-|q - mu_k|^2) at the query's class.

    The paper's values: embeddings not normalised, squared distances, several episodes averaged into a step
    (``accumulate``); the study: one episode of 12 classes x (5 supports + 5 queries).

    The released code divides the sum over queries by all rows, supports included: half our gradient, which does not
    affect Adam, except that weight decay weighs twice as much. It cannot make an episode of a
    class with fewer images than it wants; our sampler uses each of its images once, and then some of them again.

    supports: rows of each class that make up its prototype; the others are queries.
    """

    supports: Count = 5

    def check_layout(self, labels):
        super().check_layout(labels)
        _, counts = np.unique(labels, return_counts=True)
        self.require(
            counts.max() > self.supports,
            f"no class of a batch has more than {self.supports} rows (supports), so none is left as a query.",
        )

    def hybrid_forward(self, F, embeddings, labels):
        same = pairwise.same_class(F, labels)
        rank = rows.own_row(F, F.cumsum(same, axis=1))  # 1 for the first row of a class, 2 for the next ...
        support = rank <= self.supports
        weights = F.broadcast_mul(same, F.expand_dims(support, 0))
        # Of each row's own class.
        prototypes = F.broadcast_div(F.dot(weights, embeddings), rows.row_sums(F, weights))

        # -|q - mu|^2 but for |q|^2, which is the same for every prototype.
        lengths = rows.flat(F, rows.row_sums(F, F.square(prototypes)))
        nearness = 2 * F.dot(embeddings, prototypes, transpose_b=True)
        logits = F.broadcast_sub(nearness, F.expand_dims(lengths, 0))
        own = rows.own_row(F, logits)
        # A class's prototype stands in the column of its first row.
        once = F.expand_dims((rank > 1) * rows.HIDDEN, 0)
        losses = rows.log_sum_exp(F, F.broadcast_add(logits, once)) - own
        queries = 1 - support
        return F.sum(losses * queries) / F.maximum(F.sum(queries), 1)
