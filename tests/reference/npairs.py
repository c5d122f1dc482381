from __future__ import annotations

from ._arithmetic import cross_entropy, dot


def value(embeddings, labels, parameters=None, *, l2_reg=5e-4, symmetric=False) -> float:
    """Mean over pairs i of CE_i + l2_reg (|a_i|^2 + |p_i|^2); rows 0::2 are anchors a, rows 1::2 positives p.

    CE_i = -sum_j t_ij log softmax_j(a_i . p_j); the target t_ij is 1 / (pairs of i's class) where pair j
    has i's class, else 0. Symmetric: the mean over i of (CE_i + CE'_i) / 2 + l2_reg (|a_i|^2 + |p_i|^2), CE'
    with anchors and positives exchanged: as in the released code, the regulariser keeps its full weight.
    """
    anchors, positives, classes = embeddings[0::2], embeddings[1::2], labels[0::2]
    pairs = range(len(classes))
    total = 0.0
    for i in pairs:
        mates = [1.0 if classes[j] == classes[i] else 0.0 for j in pairs]
        target = [mate / sum(mates) for mate in mates]
        loss = cross_entropy([dot(anchors[i], positives[j]) for j in pairs], target)
        if symmetric:
            loss = (loss + cross_entropy([dot(positives[i], anchors[j]) for j in pairs], target)) / 2
        loss += l2_reg * (dot(anchors[i], anchors[i]) + dot(positives[i], positives[i]))
        total += loss
    return total / len(classes)
