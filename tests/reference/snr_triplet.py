from ._arithmetic import signal_to_noise
from ._tuples import active_mean, all_triplets


def on_triplets(embeddings, labels, parameters, anchors, positives, negatives, *, margin=0.2) -> float:
    """Mean over the triplets above zero of [R_ap - R_an + margin]+, R_ij = var(x_i - x_j) / var(x_i)."""
    terms = []
    for a, p, n in zip(anchors, positives, negatives):
        noise = signal_to_noise(embeddings[a], embeddings[p]) - signal_to_noise(embeddings[a], embeddings[n])
        terms.append(max(0.0, noise + margin))
    return active_mean(terms)


def value(embeddings, labels, parameters=None, **options) -> float:
    return on_triplets(embeddings, labels, parameters, *all_triplets(labels), **options)
