import math

from ._arithmetic import dot, log_sum_exp
from ._tuples import all_pairs, by_anchor, mean


def on_pairs(embeddings, labels, parameters, a1, p, a2, n, *, temperature=0.07, floor=0.0) -> float:
    """Mean over (a, p) of -log(ratio + floor), ratio = e^(S_ap/T) / (e^(S_ap/T) + sum over (a, n) of e^(S_an/T)).

    Zero without any positive or without any negative.
    """
    if len(a1) == 0 or len(a2) == 0:
        return 0.0
    negatives = by_anchor(a2, n)
    terms = []
    for a, b in zip(a1, p):
        own = dot(embeddings[a], embeddings[b]) / temperature
        rivals = [dot(embeddings[a], embeddings[j]) / temperature for j in negatives.get(int(a), [])]
        log_ratio = own - log_sum_exp([own, *rivals])
        terms.append(-math.log(math.exp(log_ratio) + floor) if floor else -log_ratio)
    return mean(terms)


def value(embeddings, labels, parameters=None, **options) -> float:
    return on_pairs(embeddings, labels, parameters, *all_pairs(labels), **options)
