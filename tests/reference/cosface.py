from __future__ import annotations

from ._arithmetic import class_cosines, cross_entropy_of


def value(embeddings, labels, parameters, *, margin=0.35, scale=64.0) -> float:
    """Mean over rows of the cross-entropy of scale (cos_k - margin [k = y]), cos_k = x.p_k, p_k of unit length."""
    total = 0.0
    for x, y in zip(embeddings, labels):
        cosines = class_cosines(x, parameters["proxies"])
        total += cross_entropy_of([scale * (c - margin * (k == y)) for k, c in enumerate(cosines)], y)
    return total / len(labels)
