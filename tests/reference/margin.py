import math

import numpy as np

from ._arithmetic import distance, log_sum_exp


def on_triplets(embeddings, labels, anchors, positives, negatives, beta, margin=0.2, nu=0.0) -> float:
    """Sum over triplets of [D_ap - b + margin]+ + [b - D_an + margin]+ + nu b, over the number of hinges
    above zero.

    b is beta at the anchor's class (a beta of one element serves all classes); the divisor is at least 1.
    D is not squared. Labels are used only to look beta up: with min(row, C - 1) for labels this is the loss
    of the released code, which took the row of the batch for the class.
    """
    beta = np.ravel(beta)
    total, active = 0.0, 0
    for a, p, n in zip(anchors, positives, negatives):
        b = float(beta[labels[a]] if len(beta) > 1 else beta[0])
        near = max(0.0, distance(embeddings[a], embeddings[p]) - b + margin)
        far = max(0.0, b - distance(embeddings[a], embeddings[n]) + margin)
        total += near + far + nu * b
        active += (near > 0) + (far > 0)
    return total / max(active, 1)


def value(
    embeddings, labels, parameters, *, triplets, margin=0.2, beta=1.2, learn_beta=True, nu=0.0
) -> float:
    """``on_triplets`` for ``triplets`` = (anchors, positives, negatives), row numbers drawn by whoever calls.

    A beta that is not learned is the constant ``beta`` for every class, and nu has nothing to regularise.
    """
    if learn_beta:
        return on_triplets(embeddings, labels, *triplets, parameters["beta"], margin, nu)
    return on_triplets(embeddings, labels, *triplets, beta, margin)


def negative_probabilities(embeddings, labels, cutoff=0.5, nonzero_cutoff=1.4) -> np.ndarray:
    """The law of the distance-weighted draw: row a holds the probability of every row as the negative of
    anchor a.

    Proportional to 1 / q(d) with d = max(D_an, cutoff), E the embedding's dimension and
    log(1 / q) = (2 - E) log d - ((E - 3) / 2) log(1 - d^2 / 4);
    zero within the class and for D_an >= nonzero_cutoff (which is below 2). An anchor none of whose
    negatives is admissible draws uniformly from all of them; without negatives its row is zero.
    """
    size, dimension = len(labels), len(embeddings[0])
    law = np.zeros((size, size))
    for a in range(size):
        negatives = [n for n in range(size) if labels[n] != labels[a]]
        log_weights = {}
        for n in negatives:
            to = distance(embeddings[a], embeddings[n])
            if to < nonzero_cutoff:
                d = max(to, cutoff)
                log_weights[n] = (2 - dimension) * math.log(d) - (dimension - 3) / 2 * math.log(1 - d * d / 4)
        if not log_weights:
            log_weights = dict.fromkeys(negatives, 0.0)
        normaliser = log_sum_exp(list(log_weights.values()))
        for n, log_weight in log_weights.items():
            law[a, n] = math.exp(log_weight - normaliser)
    return law
