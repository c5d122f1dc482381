import math

from ._arithmetic import dot, norm, smoothed_cross_entropy, unit


def psi(cosine: float, margin: int) -> float:
    """(-1)^q cos(margin theta) - 2 q, q = floor(margin theta / pi)."""
    theta = math.acos(max(-1.0, min(1.0, cosine)))
    q = math.floor(margin * theta / math.pi)
    return (-1) ** q * math.cos(margin * theta) - 2 * q


def logits_of(x, y, weights, margin) -> list[float]:
    """|x| |w_k| times psi(theta_y) for the own class and cos theta_k for the others."""
    length = norm(x)
    found = []
    for k, weight in enumerate(weights):
        cosine = dot(x, weight) / max(length * norm(weight), 1e-12)
        found.append(length * norm(weight) * (psi(cosine, margin) if k == y else cosine))
    return found


def value(embeddings, labels, parameters, *, margin=4, scale=1.0, label_smoothing=0.0) -> float:
    """Mean over rows of the cross-entropy of scale |x| (psi(theta_y) or cos theta_k), x raw, p_k of unit length."""
    proxies = [unit(p) for p in parameters["proxies"]]
    total = 0.0
    for x, y in zip(embeddings, labels):
        total += smoothed_cross_entropy(
            [scale * logit for logit in logits_of(x, y, proxies, margin)], y, label_smoothing
        )
    return total / len(labels)
