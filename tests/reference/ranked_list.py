import math

from ._arithmetic import distance


def _row_loss(embeddings, weighing, labels, i, margin, alpha, temperature, negative_weight) -> float:
    others = [j for j in range(len(labels)) if j != i]
    to = {j: distance(embeddings[i], embeddings[j]) for j in others}
    positives = [j for j in others if labels[j] == labels[i] and to[j] > alpha - margin]
    negatives = [j for j in others if labels[j] != labels[i] and to[j] < alpha]
    pull = sum(to[j] - (alpha - margin) for j in positives) / max(len(positives), 1)
    weights = {j: math.exp(temperature * (alpha - distance(weighing[i], weighing[j]))) for j in negatives}
    push = sum(weights[j] * (alpha - to[j]) for j in negatives) / max(sum(weights.values()), 1.0)
    return pull + negative_weight * push


def value(
    embeddings,
    labels,
    parameters=None,
    *,
    margin=0.4,
    alpha=1.2,
    temperature=10.0,
    negative_weight=1.0,
    detach_weights=True,
    weighing=None,
) -> float:
    """Sum over rows i of pull_i + negative_weight push_i, divided by the number of rows where it is not zero (at least 1).

    pull_i is the mean of D_ij - (alpha - margin) over the positives j with D_ij > alpha - margin; push_i
    the mean of alpha - D_ij over the negatives with D_ij < alpha, weighted by
    w_ij = exp(temperature (alpha - D_ij)), the sum of the weights being taken as at least 1.
    D is |x_i - x_j|, not squared.

    The value does not depend on ``detach_weights``, its gradient does: with ``weighing`` held at the point
    of interest (the weights then come from these embeddings) differences of the value give the detached
    gradient.
    """
    weighing = embeddings if weighing is None else weighing
    losses = [
        _row_loss(embeddings, weighing, labels, i, margin, alpha, temperature, negative_weight)
        for i in range(len(labels))
    ]
    return sum(losses) / max(sum(loss > 0 for loss in losses), 1)
