import math

from . import npairs
from ._arithmetic import dot, log_sum_exp, norm


def _one_way(anchors, positives, classes, alpha) -> float:
    """Mean over pairs i of -log softmax_i(s_i), the cells of s as in ``value``."""
    t = math.tan(math.radians(alpha)) ** 2
    total = 0.0
    for i, (a, p) in enumerate(zip(anchors, positives)):
        cells = []
        for j, other in enumerate(positives):
            if classes[i] == classes[j]:
                cells.append(2 * (1 + t) * dot(a, other))
            else:
                cells.append(4 * t * (dot(a, other) + dot(p, other)))
        total += log_sum_exp(cells) - cells[i]
    return total / len(classes)


def value(
    embeddings,
    labels,
    parameters=None,
    *,
    alpha=45.0,
    l2_reg=5e-4,
    symmetric=False,
    npairs_weight=0.0,
    negatives="pairs",
    angular_weight=1.0,
    unit_angles=False,
) -> float:
    """Mean over pairs i of -log softmax_i(s_i) + l2_reg (|a_i|^2 + |p_i|^2); rows 0::2 are a, rows 1::2 are
    p.

    With t = tan(alpha)^2: s_ij = 2 (1 + t) a_i . p_j where the classes of i and j agree and 4 t (a_i + p_i)
    . p_j where they differ; for distinct classes that is log(1 + sum_n exp(4 t (a + p) . n - 2 (1 + t) a .
    p)). Symmetric: the average with anchors and positives exchanged; the regularizer keeps its full weight.
    npairs_weight adds that multiple of the N-pairs loss, itself without regularizer. The paper's mixture
    N-pairs + lambda angular is lambda times this one at npairs_weight = 1 / lambda (and l2_reg divided by
    lambda). angular_weight multiplies the angular term; unit_angles takes it of unit vectors. With negatives="all" the
    angular term is the mean over rows of log(1 + sum_n exp(4 t (a + p) . n - 2 (1 + t) a . p)).
    """
    x = [each / norm(each) for each in embeddings] if unit_angles else embeddings
    if negatives == "all":
        t = math.tan(math.radians(alpha)) ** 2
        loss = npairs.against_all(
            x,
            labels,
            lambda a, p: 2 * (1 + t) * dot(a, p),
            lambda a, p, n: 4 * t * (dot(a, n) + dot(p, n)),
        )
    else:
        anchors, positives, classes = x[0::2], x[1::2], labels[0::2]
        loss = _one_way(anchors, positives, classes, alpha)
        if symmetric:
            loss = (loss + _one_way(positives, anchors, classes, alpha)) / 2
    loss = angular_weight * loss + l2_reg * sum(dot(e, e) for e in embeddings) * 2 / len(labels)
    if npairs_weight:
        loss += npairs_weight * npairs.value(
            embeddings, labels, l2_reg=0.0, symmetric=symmetric, negatives=negatives
        )
    return loss
