"""Evaluation in plain loops over Python numbers, written from the definitions: slow, and all its own."""

import itertools
import math


def squared_euclidean(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y))


def cosine(x, y):
    lengths = math.sqrt(sum(a * a for a in x)), math.sqrt(sum(b * b for b in y))
    return 1.0 - (sum(a * b for a, b in zip(x, y)) / (lengths[0] * lengths[1]) if all(lengths) else 0.0)


def hamming(x, y):
    return sum((a > 0) != (b > 0) for a, b in zip(x, y))


DISTANCES = {"euclidean": squared_euclidean, "cosine": cosine, "hamming": hamming}


def relevance(queries, labels, distance="euclidean", gallery=None, gallery_labels=None):
    """For each query the references in order of (distance, index): 1 for its own class, 0 for others."""
    own = gallery is None
    pool, pool_labels = (queries, labels) if own else (gallery, gallery_labels)
    lists = []
    for i, query in enumerate(queries):
        others = [j for j in range(len(pool)) if not (own and j == i)]
        others.sort(key=lambda j: (DISTANCES[distance](query, pool[j]), j))
        lists.append([int(pool_labels[j] == labels[i]) for j in others])
    return lists


def recall_at_k(relevant, k):
    return float(any(relevant[:k]))


def precision_at_k(relevant, k):
    return sum(relevant[:k]) / k


def r_precision(relevant):
    return sum(relevant[: sum(relevant)]) / sum(relevant)


def map_at_r(relevant):
    r = sum(relevant)
    return sum(sum(relevant[: i + 1]) / (i + 1) for i in range(r) if relevant[i]) / r


def map_at_k(relevant, k):
    seen = relevant[:k]
    return sum(sum(seen[: i + 1]) / (i + 1) for i in range(len(seen)) if seen[i]) / min(sum(relevant), k)


def map_within_k(relevant, k):
    seen = relevant[:k]
    return sum(sum(seen[: i + 1]) / (i + 1) for i in range(len(seen)) if seen[i]) / sum(relevant)


def mean(metric, lists, *arguments):
    """Over the queries that have a positive."""
    values = [metric(relevant, *arguments) for relevant in lists if any(relevant)]
    return sum(values) / len(values)


def entropy(labels):
    n = len(labels)
    return -sum(labels.count(c) / n * math.log(labels.count(c) / n) for c in set(labels))


def mutual_information(one, other):
    return entropy(one) + entropy(other) - entropy(list(zip(one, other)))


def nmi(one, other, average="arithmetic"):
    h, g = entropy(one), entropy(other)
    return mutual_information(one, other) / ((h + g) / 2 if average == "arithmetic" else math.sqrt(h * g))


def ami(one, other):
    """The expectation taken over every arrangement of the second labelling: for a handful of points only."""
    arrangements = list(itertools.permutations(other))
    expected = sum(mutual_information(one, list(a)) for a in arrangements) / len(arrangements)
    return (mutual_information(one, other) - expected) / ((entropy(one) + entropy(other)) / 2 - expected)


def pairwise_f1(classes, clusters):
    pairs = list(itertools.combinations(range(len(classes)), 2))
    same_class = {p for p in pairs if classes[p[0]] == classes[p[1]]}
    same_cluster = {p for p in pairs if clusters[p[0]] == clusters[p[1]]}
    both = len(same_class & same_cluster)
    precision, recall = both / len(same_cluster), both / len(same_class)
    return 2 * precision * recall / (precision + recall) if both else 0.0


def inertia(points, clusters):
    total = 0.0
    for cluster in set(clusters):
        members = [p for p, c in zip(points, clusters) if c == cluster]
        centre = [sum(column) / len(members) for column in zip(*members)]
        total += sum(squared_euclidean(p, centre) for p in members)
    return total


def rho(values, k):
    """From singular values, largest first."""
    left = values[max(abs(k) - 1, 0) :]
    q = [value / sum(left) for value in left]
    n = len(q)
    if k > 0:
        return sum(math.log(1 / (n * x)) if x else math.inf for x in q) / n
    return sum(x * math.log(n * x) for x in q if x)


def density(rows, labels):
    """All pairs, one by one; a class's mean is that of its rows at unit length."""
    units = [[x / math.sqrt(sum(y * y for y in row)) for x in row] for row in rows]
    classes = {c: [u for u, label in zip(units, labels) if label == c] for c in set(labels)}
    within = [[cosine(x, y) for x, y in itertools.permutations(members, 2)] for members in classes.values()]
    intra = [sum(pairs) / len(pairs) for pairs in within if pairs]
    means = [[sum(column) / len(members) for column in zip(*members)] for members in classes.values()]
    between = [cosine(x, y) for x, y in itertools.permutations(means, 2)]
    return sum(intra) / len(intra), sum(between) / len(between)
