from __future__ import annotations

import numpy as np

from . import pairs
from .base import Loss, method


@method(
    title="Triplet, semi-hard",
    year=2015,
    paper="Schroff, Kalenichenko and Philbin: FaceNet: A Unified Embedding for Face Recognition and Clustering, CVPR 2015",
    sampler={"name": "shuffled"},
    head={"bias": True, "normalize": False},
    defaults={
        "batch_size": 128,
        "epochs": 60,
        "optimizer": {"name": "adam", "lr": 1e-4, "weight_decay": 1e-5, "clip": 10.0},
        "schedule": {"factor": 0.5, "steps": [20, 30, 40]},
    },
)
class TripletSemihard(Loss):
    """Every positive pair with the closest negative that is farther off than the positive.

    With squared distances D_ij = |x_i - x_j|^2 and, over all ordered pairs (a, p) of different rows of one class,

        n(a, p) = the closest negative with D_an > D_ap, strictly; if there is none, the farthest negative,
        L = mean over pairs (a, p) of  [margin + D_ap - D_an]+.

    Pairs without any negative count with a loss of zero. The choice of n is a constant of the gradient.

    FaceNet's values: unit embeddings, margin 0.2; the study's: embeddings not normalised, margin 1 (fixed in the released
    code). The released code compares all triples, B x B x B; here each row is sorted once.
    """

    def __init__(self, num_classes, embed_dim, *, margin: float = 1.0):
        super().__init__(num_classes, embed_dim)
        self.margin = margin

    def hybrid_forward(self, F, embeddings, labels):
        same, positive = pairs.positive_pairs(F, labels)
        distances = pairs.squared_distances(F, embeddings)
        order = F.BlockGrad(self._order(F, distances, same))
        negative = 1 - pairs.lookup(F, same, order)
        chosen = F.BlockGrad(self._next_negatives(F, order, negative))
        gaps = pairs.lookup(F, distances, order) - pairs.lookup(F, distances, chosen)
        weights = F.broadcast_mul(pairs.lookup(F, positive, order), F.max(negative, axis=1, keepdims=True))
        return pairs.total(F, F.relu(gaps + self.margin), weights) / F.maximum(F.sum(positive), 1)

    def _order(self, F, distances, same):
        """Each row's places by distance; of equal distances those of negatives come first."""
        precision = float(np.finfo(self.dtype).eps)
        order = F.argsort((distances + 1e-30) * (1 + precision * same), axis=1, dtype="int32")
        return F.broadcast_add(order, pairs.row_starts(F, order))

    def _next_negatives(self, F, order, negative):
        """For every position in the order the place of the first negative after it, or else of the row's last."""
        starts = pairs.row_starts(F, order)
        passed = F.cumsum(negative, axis=1)
        count = F.max(passed, axis=1, keepdims=True)
        # The negatives' places moved to the front of the row; the rest fall onto the position behind those, which is
        # free because the row itself is no negative.
        front = F.broadcast_add(negative * F.broadcast_sub(passed, count + 1), count)
        front = F.broadcast_add(F.cast(front, "int32"), starts)
        negatives = F.contrib.index_copy(pairs.flat(F, F.zeros_like(order)), pairs.flat(F, front), pairs.flat(F, order))
        following = F.cast(F.broadcast_minimum(passed, F.relu(count - 1)), "int32")
        return F.take(negatives, F.broadcast_add(following, starts))
