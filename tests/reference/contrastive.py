from ._arithmetic import distance
from ._tuples import MEANS, all_pairs


def on_pairs(
    embeddings, labels, parameters, a1, p, a2, n, *, pos_margin=0.0, neg_margin=1.0, average="active"
) -> float:
    """mean_P [D - pos_margin]+ + mean_N [neg_margin - D]+, D unsquared, each mean over the terms above zero or all."""
    near = [max(0.0, distance(embeddings[i], embeddings[j]) - pos_margin) for i, j in zip(a1, p)]
    far = [max(0.0, neg_margin - distance(embeddings[i], embeddings[j])) for i, j in zip(a2, n)]
    return MEANS[average](near) + MEANS[average](far)


def value(embeddings, labels, parameters=None, **options) -> float:
    return on_pairs(embeddings, labels, parameters, *all_pairs(labels), **options)
