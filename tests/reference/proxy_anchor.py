from ._arithmetic import class_cosines, log_sum_exp


def value(embeddings, labels, parameters, *, margin=0.1, alpha=32.0) -> float:
    """(1/classes present) sum_c log(1 + sum_{y = c} e^(-alpha (S - margin))) + (1/C) sum_c log(1 + sum_{y != c}
    e^(alpha (S + margin))), S = x.p_c, p_c of unit length.
    """
    cosines = [class_cosines(x, parameters["proxies"]) for x in embeddings]
    classes = range(len(parameters["proxies"]))
    pull = push = 0.0
    for c in classes:
        near = [-alpha * (row[c] - margin) for row, y in zip(cosines, labels) if y == c]
        far = [alpha * (row[c] + margin) for row, y in zip(cosines, labels) if y != c]
        pull += log_sum_exp([0.0, *near])
        push += log_sum_exp([0.0, *far])
    return pull / len(set(map(int, labels))) + push / len(classes)
