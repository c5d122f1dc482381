from ._arithmetic import dot, log_sum_exp
from ._tuples import active_mean, all_pairs, by_anchor


def on_pairs(embeddings, labels, parameters, a1, p, a2, n, *, temperature=0.1) -> float:
    """Rows i with a positive: -(1/|P_i|) sum_p (S_ip/T - LSE over i's pairs of S_ij/T); mean over the rows above zero.

    Every pair counts once. Zero if there are no positives, or no negatives.
    """
    if len(a1) == 0 or len(a2) == 0:
        return 0.0
    positives, negatives = by_anchor(a1, p, once=True), by_anchor(a2, n, once=True)
    terms = []
    for i, mates in positives.items():
        near = [dot(embeddings[i], embeddings[j]) / temperature for j in mates]
        far = [dot(embeddings[i], embeddings[j]) / temperature for j in negatives.get(i, [])]
        whole = log_sum_exp([*near, *far])
        terms.append(-sum(own - whole for own in near) / len(near))
    return active_mean(terms)


def value(embeddings, labels, parameters=None, **options) -> float:
    return on_pairs(embeddings, labels, parameters, *all_pairs(labels), **options)
