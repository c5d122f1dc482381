from ._arithmetic import cross_entropy, dot, log_sum_exp


def against_all(embeddings, labels, near, far) -> float:
    """Mean over rows i, p the other row of its pair, of log(1 + sum_n e^(far(x_i, x_p, x_n) - near(x_i, x_p))), over all
    rows n of other classes."""
    total = 0.0
    for i, x in enumerate(embeddings):
        positive = embeddings[i + 1 if i % 2 == 0 else i - 1]
        others = [embeddings[n] for n in range(len(labels)) if labels[n] != labels[i]]
        total += log_sum_exp([0.0, *(far(x, positive, other) - near(x, positive) for other in others)])
    return total / len(labels)


def value(embeddings, labels, parameters=None, *, l2_reg=5e-4, symmetric=False, negatives="pairs") -> float:
    """Mean over pairs i of CE_i + l2_reg (|a_i|^2 + |p_i|^2); rows 0::2 are anchors a, rows 1::2 positives p.

    CE_i = -sum_j t_ij log softmax_j(a_i . p_j); the target t_ij is 1 / (pairs of i's class) where pair j
    has i's class, else 0. Symmetric: the mean over i of (CE_i + CE'_i) / 2 + l2_reg (|a_i|^2 + |p_i|^2), CE'
    with anchors and positives exchanged: as in the released code, the regularizer keeps its full weight. With
    negatives="all" it is ``against_all`` of the inner products, plus the regularizer.
    """
    if negatives == "all":
        loss = against_all(embeddings, labels, dot, lambda x, _, other: dot(x, other))
        return loss + l2_reg * 2 * sum(dot(x, x) for x in embeddings) / len(labels)
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
