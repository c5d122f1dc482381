from ._arithmetic import cross_entropy, dot, smoothed_target, unit


def value(embeddings, labels, parameters, *, temperature=0.05, label_smoothing=0.1) -> float:
    """Mean over rows (x, y) of -sum_c t_c log softmax_c(x . p_c / temperature).

    t is 1 - e at y and e / (C - 1) elsewhere, e = label_smoothing. The proxies p are brought to unit length
    here; x is taken as it is. The sign is the natural one: an embedding moves towards its own proxy.
    """
    proxies = [unit(p) for p in parameters["proxies"]]
    total = 0.0
    for x, y in zip(embeddings, labels):
        logits = [dot(x, p) / temperature for p in proxies]
        if len(proxies) > 1:
            total += cross_entropy(logits, smoothed_target(y, len(proxies), label_smoothing))
    return total / len(labels)
