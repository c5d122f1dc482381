from ._arithmetic import distance
from ._tuples import MEANS, all_triplets


def on_triplets(
    embeddings,
    labels,
    parameters,
    anchors,
    positives,
    negatives,
    *,
    margin=0.2,
    squared=False,
    average="active",
) -> float:
    """[D_ap - D_an + margin]+, its mean over the triplets above zero or over all; D unsquared unless ``squared``."""
    power = 2 if squared else 1
    terms = []
    for a, p, n in zip(anchors, positives, negatives):
        to_positive = distance(embeddings[a], embeddings[p]) ** power
        to_negative = distance(embeddings[a], embeddings[n]) ** power
        terms.append(max(0.0, to_positive - to_negative + margin))
    return MEANS[average](terms)


def value(embeddings, labels, parameters=None, **options) -> float:
    return on_triplets(embeddings, labels, parameters, *all_triplets(labels), **options)
