from ._arithmetic import squared_distance, unit


def value(embeddings, labels, parameters, *, margin=1.0, scale=1.0) -> float:
    """Mean over rows (x, y) of sum_{k != y} [margin + |s x - s p_y|^2 - |s x - s p_k|^2]+, s = scale.

    The proxies p are brought to unit length here; x is taken as it is.
    """
    proxies = [scale * unit(p) for p in parameters["proxies"]]
    total = 0.0
    for x, y in zip(embeddings, labels):
        distances = [squared_distance(scale * x, p) for p in proxies]
        for k in range(len(proxies)):
            if k != y:
                total += max(0.0, margin + distances[y] - distances[k])
    return total / len(labels)
