from ._arithmetic import class_cosines, smoothed_cross_entropy


def value(embeddings, labels, parameters, *, margin=0.35, scale=64.0, label_smoothing=0.0) -> float:
    """Mean over rows of the cross-entropy of scale (cos_k - margin [k = y]), cos_k = x.p_k, p_k of unit length."""
    total = 0.0
    for x, y in zip(embeddings, labels):
        cosines = class_cosines(x, parameters["proxies"])
        total += smoothed_cross_entropy(
            [scale * (c - margin * (k == y)) for k, c in enumerate(cosines)], y, label_smoothing
        )
    return total / len(labels)
