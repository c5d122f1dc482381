from ._arithmetic import dot
from ._tuples import all_pairs


def on_pairs(embeddings, labels, parameters, a1, p, a2, n, *, nodes=65) -> float:
    """sum_r h-_r sum_{q <= r} h+_q over nodes t_r = -1 + r d, d = 2 / (nodes - 1).

    h_r is the mean over pairs, positive (+) or negative (-), of [1 - |S - t_r| / d]+, S kept within -1 and 1. Zero
    without pairs of either kind.
    """
    step = 2 / (nodes - 1)
    near, far = (
        [max(-1.0, min(1.0, dot(embeddings[i], embeddings[j]))) for i, j in zip(*ends)]
        for ends in ((a1, p), (a2, n))
    )
    if not near or not far:
        return 0.0
    loss = passed = 0.0
    for r in range(nodes):
        node = -1 + r * step
        held, other = (
            sum(max(0.0, 1 - abs(s - node) / step) for s in kind) / len(kind) for kind in (near, far)
        )
        passed += held
        loss += other * passed
    return loss


def value(embeddings, labels, parameters=None, **options) -> float:
    return on_pairs(embeddings, labels, parameters, *all_pairs(labels), **options)
