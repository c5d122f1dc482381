import math

from ._arithmetic import clipped_angle, dot, log_sum_exp
from ._tuples import all_pairs, by_anchor, mean


def on_pairs(embeddings, labels, parameters, a1, p, a2, n, *, margin=5.73, scale=64.0) -> float:
    """Mean over (a, p) of log(1 + sum over (a, n) of e^(scale (S_an - cos(theta_ap - margin)))), margin in degrees.

    theta = arccos of S, which is clipped to 1e-7 within -1 and 1.
    """
    negatives = by_anchor(a2, n)
    terms = []
    for a, b in zip(a1, p):
        angle = clipped_angle(dot(embeddings[a], embeddings[b]))
        own = math.cos(angle - math.radians(margin))
        rivals = [dot(embeddings[a], embeddings[j]) for j in negatives.get(int(a), [])]
        terms.append(log_sum_exp([0.0, *(scale * (rival - own) for rival in rivals)]))
    return mean(terms)


def value(embeddings, labels, parameters=None, **options) -> float:
    return on_pairs(embeddings, labels, parameters, *all_pairs(labels), **options)
