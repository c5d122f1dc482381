from ._arithmetic import log_sum_exp, smoothed_target, squared_distance, unit


def value(
    embeddings, labels, parameters, *, scale=3.0, temperature=1.0, exclude_positive=True, label_smoothing=0.0
) -> float:
    """Mean over rows (x, y) of sum_c t_c (D_c + log sum_{k != y} exp(-D_k)), D_k = |s x - s p_k|^2 /
    temperature.

    t is one-hot at y, or label-smoothed: 1 - e at y and e / (C - 1) elsewhere. ``exclude_positive=False``
    lets k run over all classes. The proxies p are brought to unit length here; x is taken as it is. With a
    single class and its proxy excluded there is nothing to compare with: zero.
    """
    proxies = [scale * unit(p) for p in parameters["proxies"]]
    classes = range(len(proxies))
    total = 0.0
    for x, y in zip(embeddings, labels):
        distances = [squared_distance(scale * x, p) for p in proxies]
        distances = [d / temperature for d in distances]
        rivals = [-distances[k] for k in classes if k != y or not exclude_positive]
        if rivals and len(proxies) > 1:
            target = smoothed_target(y, len(proxies), label_smoothing)
            total += sum(target[c] * (distances[c] + log_sum_exp(rivals)) for c in classes)
    return total / len(labels)
