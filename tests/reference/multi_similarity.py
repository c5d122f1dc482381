from ._arithmetic import dot, log_sum_exp
from ._tuples import all_pairs, by_anchor


def on_pairs(
    embeddings, labels, parameters, a1, p, a2, n, *, alpha=2.0, beta=40.0, base=0.5, skip_incomplete=False
) -> float:
    """Mean over all rows of (1/alpha) log(1 + sum_P e^(-alpha (S - base))) + (1/beta) log(1 + sum_N e^(beta (S - base))).

    Every pair counts once. With skip_incomplete, the mean is over the rows that have both kinds, zero if none has.
    """
    positives, negatives = by_anchor(a1, p, once=True), by_anchor(a2, n, once=True)
    terms = []
    for i, x in enumerate(embeddings):
        if skip_incomplete and not (i in positives and i in negatives):
            continue
        near = [-alpha * (dot(x, embeddings[j]) - base) for j in positives.get(i, [])]
        far = [beta * (dot(x, embeddings[j]) - base) for j in negatives.get(i, [])]
        terms.append(log_sum_exp([0.0, *near]) / alpha + log_sum_exp([0.0, *far]) / beta)
    return sum(terms) / max(len(terms), 1)


def value(embeddings, labels, parameters=None, **options) -> float:
    return on_pairs(embeddings, labels, parameters, *all_pairs(labels), **options)
