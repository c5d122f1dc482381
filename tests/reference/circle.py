from ._arithmetic import class_cosines, dot, log_sum_exp
from ._tuples import all_pairs, by_anchor, mean


def _one(near, far, held_near, held_far, margin, scale) -> float:
    """log(1 + sum_n e^(scale w_n (S_n - m)) sum_p e^(-scale w_p (S_p - 1 + m))), w_n = [S_n + m]+, w_p = [1 + m - S_p]+.

    The weights w are read off the ``held`` similarities, which are those themselves unless a gradient is wanted.
    """
    away = [scale * max(0.0, h + margin) * (s - margin) for s, h in zip(far, held_far)]
    towards = [-scale * max(0.0, 1 + margin - h) * (s - 1 + margin) for s, h in zip(near, held_near)]
    return log_sum_exp([0.0, log_sum_exp(away) + log_sum_exp(towards)])


def on_pairs(
    embeddings, labels, parameters, a1, p, a2, n, *, margin=0.4, scale=80.0, form="pairs", weighing=None
) -> float:
    """Mean of ``_one`` over the rows that have both kinds of pairs; every pair counts once."""
    held = embeddings if weighing is None else weighing
    positives, negatives = by_anchor(a1, p, once=True), by_anchor(a2, n, once=True)

    def similarities(x, i, others):
        return [dot(x[i], x[j]) for j in others[i]]

    return mean(
        [
            _one(
                *(
                    similarities(x, i, others)
                    for x in (embeddings, held)
                    for others in (positives, negatives)
                ),
                margin,
                scale,
            )
            for i in range(len(embeddings))
            if i in positives and i in negatives
        ]
    )


def value(
    embeddings,
    labels,
    parameters,
    *,
    margin=0.4,
    scale=80.0,
    form="pairs",
    weighing=None,
    weighing_proxies=None,
) -> float:
    """Over the pairs of the batch, or, with form="classes", mean over rows with S_p = x.p_y and S_n = x.p_k, k != y,
    the proxies p brought to unit length.

    ``weighing`` and ``weighing_proxies`` are what the weights w are read off, if not the arguments themselves.
    """
    if form == "pairs":
        return on_pairs(
            embeddings, labels, parameters, *all_pairs(labels), margin=margin, scale=scale, weighing=weighing
        )
    held = embeddings if weighing is None else weighing
    held_proxies = parameters["proxies"] if weighing_proxies is None else weighing_proxies
    terms = []
    for i, y in enumerate(labels):
        now = class_cosines(embeddings[i], parameters["proxies"])
        then = class_cosines(held[i], held_proxies)
        others = [k for k in range(len(now)) if k != y]
        terms.append(
            _one([now[y]], [now[k] for k in others], [then[y]], [then[k] for k in others], margin, scale)
        )
    return mean(terms)
