import math
from collections import Counter

from ._arithmetic import distance

TIE = 1e-9


def _best(candidates, scores):
    """The candidate with the largest score; the first of those that equal it but for rounding."""
    enough = max(scores) - TIE
    return next(c for c, score in zip(candidates, scores) if score >= enough)


def entropy(partition) -> float:
    n = len(partition)
    return -sum(count / n * math.log(count / n) for count in Counter(partition).values())


def nmi(first, second) -> float:
    """Mutual information over the geometric mean of the entropies.

    A single cluster tells nothing: 0, unless both partitions are single clusters and so equal: 1.
    """
    clusters = {len(set(first)), len(set(second))}
    if 1 in clusters:
        return 1.0 if clusters == {1} else 0.0
    information = entropy(first) + entropy(second) - entropy(list(zip(first, second)))
    return information / math.sqrt(entropy(first) * entropy(second))


def distances(embeddings) -> list[list[float]]:
    return [[distance(x, y) for y in embeddings] for x in embeddings]


def assign(D, medoids) -> list[int]:
    """For every row the position of its nearest medoid (the first of equals); a medoid belongs to itself."""
    positions = range(len(medoids))
    return [
        medoids.index(i) if i in medoids else min(positions, key=lambda k: D[i][medoids[k]])
        for i in range(len(D))
    ]


def energy(D, medoids) -> float:
    """F(X, S): minus the sum of every row's distance to its nearest medoid."""
    return -sum(min(D[i][j] for j in medoids) for i in range(len(D)))


def best_energy(D, labels) -> float:
    """The true clustering's F: every class with the best medoid among its own rows."""
    total = 0.0
    for y in set(labels):
        members = [i for i, label in enumerate(labels) if label == y]
        total -= min(sum(D[i][j] for i in members) for j in members)
    return total


def violation(D, labels, medoids, gamma) -> float:
    return energy(D, medoids) + gamma * (1 - nmi(labels, assign(D, medoids)))


def greedy(D, labels, gamma) -> list[int]:
    """As many medoids as classes, each the one that makes the violation largest."""
    medoids: list[int] = []
    for _ in set(labels):
        free = [c for c in range(len(D)) if c not in medoids]
        medoids.append(_best(free, [violation(D, labels, [*medoids, c], gamma) for c in free]))
    return medoids


def refined(D, labels, medoids, gamma) -> list[int]:
    """One sweep: assign once, then replace each medoid in turn by the best member of its cluster.

    A member c scores -(sum of D_ic over the cluster) + gamma (1 - NMI), c put in and earlier swaps kept.
    """
    clusters = assign(D, medoids)
    medoids = list(medoids)
    for k in range(len(medoids)):
        members = [i for i, cluster in enumerate(clusters) if cluster == k]
        scores = []
        for c in members:
            swapped = [*medoids[:k], c, *medoids[k + 1 :]]
            scores.append(-sum(D[i][c] for i in members) + gamma * (1 - nmi(labels, assign(D, swapped))))
        medoids[k] = _best(members, scores)
    return medoids


def value(embeddings, labels, parameters=None, *, gamma=1.0, refine=5) -> float:
    """[F(X, S) + gamma (1 - NMI(labels, assign(S))) - F of the true clustering]+, one value a batch.

    F(X, S) = -sum_i min_{j in S} D_ij with D not squared; S are the medoids found by greedy addition and
    ``refine`` sweeps of swaps. They and the NMI are constants of the gradient. For a batch of one class the
    search finds the true clustering: zero.
    """
    labels = [int(y) for y in labels]
    D = distances(embeddings)
    medoids = greedy(D, labels, gamma)
    for _ in range(refine):
        medoids = refined(D, labels, medoids, gamma)
    return max(0.0, violation(D, labels, medoids, gamma) - best_energy(D, labels))
