from ._arithmetic import signal_to_noise
from ._tuples import active_mean, all_pairs


def on_pairs(embeddings, labels, parameters, a1, p, a2, n, *, pos_margin=0.0, neg_margin=1.0) -> float:
    """Active mean_P [R - pos_margin]+ + active mean_N [neg_margin - R]+, R_ij = var(x_i - x_j) / var(x_i)."""
    near = [max(0.0, signal_to_noise(embeddings[i], embeddings[j]) - pos_margin) for i, j in zip(a1, p)]
    far = [max(0.0, neg_margin - signal_to_noise(embeddings[i], embeddings[j])) for i, j in zip(a2, n)]
    return active_mean(near) + active_mean(far)


def value(embeddings, labels, parameters=None, **options) -> float:
    return on_pairs(embeddings, labels, parameters, *all_pairs(labels), **options)
