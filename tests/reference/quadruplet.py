from ._arithmetic import distance
from ._tuples import mean


def value(embeddings, labels, parameters=None, *, quadruplets, margin=0.2, second_margin=0.2) -> float:
    """Mean over (a, p, n, q) of [D_ap - D_an + margin]+, plus mean of [D_ap - D_nq + second_margin]+, D unsquared.

    ``quadruplets``: rows a, p, n, q drawn by whoever calls; q is -1 where no third class is, and the second hinge
    then zero.
    """
    first, second = [], []
    for a, p, n, q in zip(*quadruplets):
        to_positive = distance(embeddings[a], embeddings[p])
        first.append(max(0.0, to_positive - distance(embeddings[a], embeddings[n]) + margin))
        apart = distance(embeddings[n], embeddings[q]) if q >= 0 else float("inf")
        second.append(max(0.0, to_positive - apart + second_margin))
    return mean(first) + mean(second)
