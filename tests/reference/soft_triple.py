import math

from ._arithmetic import dot, log_sum_exp, smoothed_cross_entropy, unit


def value(
    embeddings,
    labels,
    parameters,
    *,
    centers=10,
    scale=20.0,
    gamma=0.1,
    margin=0.01,
    tau=0.2,
    average_pairs=False,
    label_smoothing=0.0,
) -> float:
    """Mean over rows of the cross-entropy of scale (S_c - margin [c = y]), plus tau R.

    S_c = sum_k softmax_k(x.w_ck / gamma) x.w_ck, w of unit length. R = sum over classes and unordered pairs of a
    class's centres of sqrt(2 + 1e-5 - 2 w.w'), over C K (K - 1), or over half of that with ``average_pairs``.
    """
    classes = [[unit(w) for w in own] for own in parameters["proxies"]]
    total = 0.0
    for x, y in zip(embeddings, labels):
        logits = []
        for c, own in enumerate(classes):
            near = [dot(x, w) for w in own]
            whole = log_sum_exp([s / gamma for s in near])
            similarity = sum(math.exp(s / gamma - whole) * s for s in near)
            logits.append(scale * (similarity - margin * (c == y)))
        total += smoothed_cross_entropy(logits, y, label_smoothing)
    loss = total / len(labels)
    k = len(classes[0])
    if k > 1 and tau:
        apart = sum(
            math.sqrt(2 + 1e-5 - 2 * dot(own[i], own[j]))
            for own in classes
            for i in range(k)
            for j in range(i)
        )
        loss += tau * apart / (len(classes) * k * (k - 1) / (2 if average_pairs else 1))
    return loss
