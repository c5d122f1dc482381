from ._arithmetic import distance, log_sum_exp
from ._tuples import all_pairs, by_anchor, mean


def on_pairs(
    embeddings, labels, parameters, a1, p, a2, n, *, pos_margin=0.0, neg_margin=1.0, skip_lone=False
) -> float:
    """Mean over all rows of [LSE_p (D - pos_margin) + LSE_n (neg_margin - D)]+; an LSE over nothing is 0.

    Every pair counts once. With skip_lone, the mean is over the rows with a positive.
    """
    positives, negatives = by_anchor(a1, p, once=True), by_anchor(a2, n, once=True)
    terms = []
    for i, x in enumerate(embeddings):
        near = [distance(x, embeddings[j]) - pos_margin for j in positives.get(i, [])]
        far = [neg_margin - distance(x, embeddings[j]) for j in negatives.get(i, [])]
        if near or not skip_lone:
            terms.append(max(0.0, sum(log_sum_exp(side) for side in (near, far) if side)))
    return mean(terms)


def value(embeddings, labels, parameters=None, **options) -> float:
    return on_pairs(embeddings, labels, parameters, *all_pairs(labels), **options)
