from __future__ import annotations

from typing import Literal

import numpy as np
from mxnet import init, nd

from . import pairs
from .base import Loss, method


@method(
    title="Margin, distance-weighted sampling",
    year=2017,
    paper="Wu et al.: Sampling Matters in Deep Embedding Learning, ICCV 2017",
    sampler={"name": "blocks", "per_class": 5},
    head={"bias": True, "normalize": True},
    defaults={
        "batch_size": 125,
        "iterations": 200,
        "epochs": 20,
        "optimizer": {"name": "adam", "lr": 1e-4, "weight_decay": 1e-5},
        "groups": {"loss": {"name": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.0}},
        "schedule": {"factor": 0.5, "steps": [12, 14, 16, 18]},
    },
)
class Margin(Loss):
    """A learned boundary beta: positives stay within it by a margin, negatives beyond it by the same.

    With D_ij = |x_i - x_j| (not squared), b the anchor's beta, and a negative n drawn for every ordered pair
    (a, p) of different rows of one class,

        L = (sum over triplets of [D_ap - b + margin]+ + [b - D_an + margin]+ + nu b) / (hinges above zero),

    their number being at least 1 and a constant of the gradient; the nu term only where beta is learned.
    ``on_triplets`` is L for triplets of the caller's.

    Negatives are drawn so that all distances are met equally often on the unit sphere: with d = max(D_an,
    cutoff) and E dimensions, n has the probability of exp((2 - E) log d - (E - 3) / 2 log(1 - d^2 / 4)), and
    none from nonzero_cutoff on or within the class. An anchor whose negatives are all that far draws from
    them evenly. Draws are independent, with replacement, from MXNet's generator; no gradient flows through
    them.

    ``per_class`` has one beta a class, else one for all. The paper's values: margin 0.2, beta 1.2 learned, nu
    0, cutoffs 0.5 and 1.4, unit embeddings, batches of 25 classes x 5, beta by SGD with momentum 0.9 at 0.1.

    Where we differ from the released code. It looks beta up by the row's position in the batch, rows beyond
    the number of classes sharing the last: ``beta_by: position`` does so. An anchor without an admissible
    negative made it divide zero by zero, and MXNet then draws the first row of the batch, of whatever class:
    there is no option for that. And it divides the mean by the batch size B once more, so that beta really
    moved at 0.1 / B and weight decay weighed B times as much: set groups.loss.lr to 0.0008 and the
    optimizer's weight_decay to 1.25e-3 for its numbers at B = 125.
    """

    def __init__(
        self,
        num_classes,
        embed_dim,
        *,
        margin: float = 0.2,
        beta: float = 1.2,
        learn_beta: bool = True,
        per_class: bool = True,
        beta_by: Literal["class", "position"] = "class",
        nu: float = 0.0,
        cutoff: float = 0.5,
        nonzero_cutoff: float = 1.4,
    ):
        super().__init__(num_classes, embed_dim)
        self.require(
            0 < cutoff < nonzero_cutoff < 2,
            f"cutoff, nonzero_cutoff and 2 must be in rising order, not {cutoff}, {nonzero_cutoff} and 2.",
        )
        self.require(nu >= 0, f"nu must not be negative, not {nu}.")
        self.margin = margin
        self.per_class = per_class
        self.beta_by = beta_by
        self.nu = nu if learn_beta else 0.0
        self.cutoff = cutoff
        self.nonzero_cutoff = nonzero_cutoff
        learned = "write" if learn_beta else "null"
        with self.name_scope():
            shape = (num_classes if per_class else 1,)
            self.beta = self.params.get("beta", shape=shape, init=init.Constant(beta), grad_req=learned)

    def check(self, rows, width):
        pairs.check_width(self, width, self.embed_dim)
        self.require(rows <= 2**_HALVINGS, f"a batch can have {2**_HALVINGS} rows, not {rows}.")

    def hybrid_forward(self, F, embeddings, labels, beta):
        distances = pairs.distances(F, embeddings)
        triplets, negatives = self._sample(F, F.BlockGrad(distances), labels)
        to_negative = pairs.lookup(F, distances, negatives)
        beta = self._beta_of_rows(F, beta, labels, F.contrib.arange_like(labels, axis=0))
        return self._mean_hinge(F, distances, to_negative, F.expand_dims(beta, 1), triplets)

    def on_triplets(self, embeddings, labels, anchors, positives, negatives):
        """The loss of given triplets: three arrays of row numbers. ``labels`` only look beta up."""
        embeddings, labels = self.read(embeddings, labels)
        a, p, n = (
            nd.array(rows, ctx=embeddings.context, dtype="int32") for rows in (anchors, positives, negatives)
        )
        beta = self._beta_of_rows(nd, self.beta.data(embeddings.context), labels.take(a), a).expand_dims(1)
        a, p, n = embeddings.take(a), embeddings.take(p), embeddings.take(n)
        to_positive, to_negative = pairs.row_distances(nd, a, p), pairs.row_distances(nd, a, n)
        return self._mean_hinge(nd, to_positive, to_negative, beta, nd.ones_like(beta))

    def draw(self, embeddings, labels):
        """Triplets as a call of the loss draws them: anchors, positives and negatives as row numbers."""
        embeddings, labels = self.read(embeddings, labels)
        triplets, negatives = self._sample(nd, pairs.distances(nd, embeddings), labels)
        anchors, positives = np.nonzero(triplets.asnumpy())
        return anchors, positives, negatives.asnumpy()[anchors, positives] % len(labels)

    def _sample(self, F, distances, labels):
        """Which entries (a, p) are an anchor with its positive; each entry's place of (a, n)."""
        same, positive = pairs.positive_pairs(F, labels)
        has_negative = F.max(1 - same, axis=1, keepdims=True)
        return F.broadcast_mul(positive, has_negative), draw_each(F, self._probabilities(F, distances, same))

    def _beta_of_rows(self, F, beta, labels, positions):
        if not self.per_class:
            return F.take(beta, F.zeros_like(labels))
        # An index too large takes the last: so rows beyond the number of classes share its beta.
        return F.take(beta, labels if self.beta_by == "class" else positions)

    def _mean_hinge(self, F, to_positive, to_negative, beta, triplets):
        """Anchors in rows, ``triplets`` 1 where an entry is one."""
        near = F.relu(F.broadcast_sub(to_positive, beta - self.margin)) * triplets
        far = F.relu(F.broadcast_sub(beta + self.margin, to_negative)) * triplets
        active = F.sum(near > 0) + F.sum(far > 0)
        loss = F.sum(near + far)
        if self.nu:
            loss = loss + self.nu * F.sum(F.broadcast_mul(triplets, beta))
        return loss / F.maximum(active, 1)

    def _probabilities(self, F, distances, same):
        """Row a: the law of anchor a's negatives."""
        d = F.clip(distances, self.cutoff, self.nonzero_cutoff)
        log_weights = (2 - self.embed_dim) * F.log(d) - (self.embed_dim - 3) / 2 * F.log(1 - F.square(d) / 4)
        near = distances < self.nonzero_cutoff
        # Too far off by a finite amount, so that where all are, they share evenly; never within the class.
        return F.softmax(near * log_weights + (1 - near) * _TOO_FAR + same * pairs.HIDDEN, axis=1)


_TOO_FAR = -1e6
_HALVINGS = 14


def draw_each(F, probabilities):
    """A place of the flattened matrix for every entry: its column drawn by the row's probabilities.

    The inverse of the cumulative distribution by halving, all entries at once: ``found`` is the last place
    whose cumulative probability is known to be at most the entry's random number, the place before the row's
    first to begin with.
    """
    cumulative = F.cumsum(probabilities, axis=1)
    whole = F.slice_axis(cumulative, axis=1, begin=-1, end=None)
    numbers = F.broadcast_mul(F.random.uniform_like(probabilities), whole * (1 - 1e-6))
    places = F.contrib.arange_like(F.cast(probabilities, "int32"))
    found = F.broadcast_add(F.zeros_like(places), pairs.row_starts(F, places) - 1)
    last = F.slice_axis(places, axis=1, begin=-1, end=None)
    for halving in reversed(range(_HALVINGS)):
        probe = F.broadcast_minimum(found + 2**halving, last)
        passed = F.broadcast_lesser_equal(pairs.lookup(F, cumulative, probe), numbers)
        found = found + 2**halving * F.cast(passed, "int32")
    return found + 1
