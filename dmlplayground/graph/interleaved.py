"""Batches of interleaved pairs, a0 p0 a1 p1 ..."""

from __future__ import annotations

from ..errors import UserError
from .pairwise import same_class
from .rows import row_sums


def require_even(method, rows):
    if rows % 2:
        raise UserError(
            f"{method} reads pairs a0 p0 a1 p1 ..., so a batch has an even number of rows, not {rows}."
        )


def split_pairs(F, embeddings, labels):
    """Anchors, positives and the pairs' labels out of interleaved rows a0 p0 a1 p1 ..."""
    pairs = F.reshape(embeddings, shape=(-4, -1, 2, 0))
    anchors = F.reshape(F.slice_axis(pairs, axis=1, begin=0, end=1), shape=(0, -1))
    positives = F.reshape(F.slice_axis(pairs, axis=1, begin=1, end=2), shape=(0, -1))
    labels = F.reshape(F.slice_axis(F.reshape(labels, shape=(-1, 2)), axis=1, begin=0, end=1), shape=(-1,))
    return anchors, positives, labels


def mean_squares(F, anchors, positives):
    """Mean over pairs of |a|^2 + |p|^2, what the pair losses call their L2 regulariser."""
    return F.mean(row_sums(F, F.square(anchors)) + row_sums(F, F.square(positives)))


def pick_own_pair(F, anchors, positives, targets):
    """N-pairs: the mean over anchors of the cross-entropy of their inner products with all positives."""
    similarities = F.dot(anchors, positives, transpose_b=True)
    return -F.mean(row_sums(F, targets * F.log_softmax(similarities, axis=1)))


def shared_targets(F, labels):
    """(B, B): every row spread evenly over the pairs of its class."""
    same = same_class(F, labels)
    return F.broadcast_div(same, row_sums(F, same))
