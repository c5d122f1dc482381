"""Batches of interleaved pairs, a0 p0 a1 p1 ..."""

from .pairwise import same_class
from .rows import HIDDEN, flat, log_sum_exp, row_sums, softplus


def split_pairs(F, embeddings, labels):
    """Anchors, positives and the pairs' labels out of interleaved rows a0 p0 a1 p1 ..."""
    pairs = F.reshape(embeddings, shape=(-4, -1, 2, 0))
    anchors = F.reshape(F.slice_axis(pairs, axis=1, begin=0, end=1), shape=(0, -1))
    positives = F.reshape(F.slice_axis(pairs, axis=1, begin=1, end=2), shape=(0, -1))
    labels = F.reshape(F.slice_axis(F.reshape(labels, shape=(-1, 2)), axis=1, begin=0, end=1), shape=(-1,))
    return anchors, positives, labels


def squared_lengths(F, anchors, positives):
    """The mean over pairs of |a|^2 + |p|^2."""
    return F.mean(row_sums(F, F.square(anchors)) + row_sums(F, F.square(positives)))


def partners(F, embeddings):
    """p0 a0 p1 a1 ...: in every row's place the other one of its pair."""
    pairs = F.reshape(embeddings, shape=(-4, -1, 2, 0))
    return F.reshape(F.reverse(pairs, axis=1), shape=(-3, 0))


def own_against_others(F, own, similarities, labels):
    """The mean over rows of log(1 + sum of e^(similarity - own) over rows of other classes); ``own`` is (B, 1)."""
    hidden = F.BlockGrad(same_class(F, labels) * HIDDEN)
    others = log_sum_exp(F, F.broadcast_add(similarities, hidden))
    return F.mean(softplus(F, others - flat(F, own)))
