from __future__ import annotations

from ..errors import UserError
from .base import Loss, method


@method(
    title="N-pairs",
    year=2016,
    paper="Sohn: Improved Deep Metric Learning with Multi-class N-pair Loss Objective, NIPS 2016",
    sampler={"name": "pairs", "same_image": 0.1},
    head={"bias": True, "normalize": False},
    defaults={
        "batch_size": 128,
        "iterations": 200,
        "epochs": 25,
        "optimizer": {"name": "adam", "lr": 1e-4, "weight_decay": 1e-5},
        "schedule": {"factor": 0.5, "steps": [12, 14, 16, 18]},
    },
)
class NPairs(Loss):
    """Every anchor picks its own positive out of all the positives of the batch, by inner product.

    Rows come as pairs a0 p0 a1 p1 ... With S = A P^T and t_ij = [y_i = y_j], each row of t divided by its sum,

        L = mean over pairs i of  -sum_j t_ij log softmax_j(S_i)  +  l2_reg (|a_i|^2 + |p_i|^2).

    ``symmetric`` averages this with the cross-entropy of the transposed matrix, where every positive picks its anchor; as
    in the released code the regulariser then counts half.

    The study prints the loss with a distance; its code, and the paper it cites, use the inner product, and so do we.
    The released code divides whole numbers when labels repeat, which makes their targets zero; ours are fractions.
    """

    def __init__(self, num_classes, embed_dim, *, l2_reg: float = 5e-4, symmetric: bool = False):
        super().__init__(num_classes, embed_dim)
        if l2_reg < 0:
            raise UserError(f"npairs: l2_reg must not be negative, not {l2_reg}.")
        self.l2_reg = l2_reg
        self.symmetric = symmetric

    def hybrid_forward(self, F, embeddings, labels):
        anchors, positives, labels = split_pairs(F, embeddings, labels)
        targets = F.cast(F.broadcast_equal(F.expand_dims(labels, 1), F.expand_dims(labels, 0)), "float32")
        targets = F.broadcast_div(targets, F.sum(targets, axis=1, keepdims=True))
        similarity = F.dot(anchors, positives, transpose_b=True)
        loss = F.mean(cross_entropy(F, similarity, targets))
        loss = loss + self.l2_reg * F.mean(F.sum(anchors**2 + positives**2, axis=1))
        if self.symmetric:
            loss = (loss + F.mean(cross_entropy(F, F.transpose(similarity), targets))) / 2
        return loss


def split_pairs(F, embeddings, labels):
    """Anchors, positives and the pairs' labels out of interleaved rows a0 p0 a1 p1 ..."""
    pairs = F.reshape(embeddings, shape=(-4, -1, 2, 0))
    anchors = F.reshape(F.slice_axis(pairs, axis=1, begin=0, end=1), shape=(0, -1))
    positives = F.reshape(F.slice_axis(pairs, axis=1, begin=1, end=2), shape=(0, -1))
    labels = F.reshape(F.slice_axis(F.reshape(labels, shape=(-1, 2)), axis=1, begin=0, end=1), shape=(-1,))
    return anchors, positives, labels


def cross_entropy(F, logits, targets):
    return -F.sum(targets * F.log_softmax(logits, axis=1), axis=1)
