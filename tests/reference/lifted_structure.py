from ._arithmetic import distance, log_sum_exp


def value(embeddings, labels, parameters=None, *, margin=1.0) -> float:
    """Half the mean over unordered positive pairs (i, j) of J_ij squared, with D = |x - y| (not squared) and

    J_ij = [D_ij + log(sum_{k negative of i} exp(margin - D_ik) + sum_{l negative of j} exp(margin - D_jl))]+.

    Without negatives the logarithm is minus infinity and J zero; no pair at all gives zero.
    """
    rows = range(len(labels))
    pairs = [(i, j) for i in rows for j in rows if i < j and labels[i] == labels[j]]
    total = 0.0
    for i, j in pairs:
        terms = [margin - distance(embeddings[i], embeddings[k]) for k in rows if labels[k] != labels[i]]
        terms += [margin - distance(embeddings[j], embeddings[k]) for k in rows if labels[k] != labels[j]]
        total += max(0.0, distance(embeddings[i], embeddings[j]) + log_sum_exp(terms)) ** 2
    return total / (2 * max(len(pairs), 1))
