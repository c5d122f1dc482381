from . import proxy_nca
from ._arithmetic import log_sum_exp


def value(
    embeddings,
    labels,
    parameters,
    *,
    static_proxies=False,
    scale=3.0,
    temperature=1.0,
    exclude_positive=True,
    label_smoothing=0.0,
) -> float:
    """The loss of one member: ``class_map[y]`` is the meta-class of class y, then the mean over rows of
    proxy-NCA over the meta-classes, whose proxies are ``proxies``.

    With static proxies the embedding is itself the row of logits, one dimension a meta-class (its proxies
    are the corners of the unit cube): the mean over rows of -log softmax(x) at the meta-class.
    """
    meta = [int(parameters["class_map"][y]) for y in labels]
    if static_proxies:
        return sum(log_sum_exp(list(x)) - float(x[m]) for x, m in zip(embeddings, meta)) / len(meta)
    return proxy_nca.value(
        embeddings,
        meta,
        parameters,
        scale=scale,
        temperature=temperature,
        exclude_positive=exclude_positive,
        label_smoothing=label_smoothing,
    )
