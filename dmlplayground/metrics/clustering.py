"""Agreement of a clustering with the classes: functions of two labellings of the same points.

All of them ignore the names of clusters and classes. ``n_ij`` is the number of points of class i in cluster
j; ``a_i`` and ``b_j`` are the sizes of classes and clusters; n is their sum; logarithms are natural.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Union

import numpy as np

from ..errors import UserError, unknown

Labels = Union[Sequence[int], np.ndarray]


class Contingency(NamedTuple):
    cells: np.ndarray  # the n_ij that are not zero
    rows: np.ndarray  # a_i of each such cell
    columns: np.ndarray  # b_j of each such cell
    classes: np.ndarray  # a_i
    clusters: np.ndarray  # b_j
    size: int  # n


def contingency(classes: Labels, clusters: Labels) -> Contingency:
    classes, clusters = np.asarray(classes), np.asarray(clusters)
    if classes.ndim != 1 or classes.shape != clusters.shape or not len(classes):
        raise UserError(
            f"two labellings of the same points are needed, not {classes.shape} and {clusters.shape}."
        )
    class_of, class_sizes = np.unique(classes, return_inverse=True, return_counts=True)[1:]
    cluster_of, cluster_sizes = np.unique(clusters, return_inverse=True, return_counts=True)[1:]
    cell, counts = np.unique(class_of.astype(np.int64) * len(cluster_sizes) + cluster_of, return_counts=True)
    row, column = np.divmod(cell, len(cluster_sizes))
    return Contingency(
        counts, class_sizes[row], cluster_sizes[column], class_sizes, cluster_sizes, len(classes)
    )


def nmi(classes: Labels, clusters: Labels, average: str = "arithmetic") -> float:
    """NMI = I / mean(H(classes), H(clusters)).

    I = sum of n_ij/n log(n n_ij / (a_i b_j)) and H(classes) = -sum of a_i/n log(a_i/n). ``average`` is
    "arithmetic" (scikit-learn's, and most papers') or "geometric" (the original study's). Two trivial
    labellings (one class, one cluster) agree: 1. Classes 0011 in clusters 0012: I = log 2, H = log 2 and 3/2
    log 2, so I / mean is 1 / 1.25, and 1 / sqrt(1.5):

    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 4), round(nmi([0, 0, 1, 1], [0, 0, 1, 2], "geometric"), 4)
    (0.8, 0.8165)
    """
    table = contingency(classes, clusters)
    if len(table.classes) == len(table.clusters) == 1:
        return 1.0
    scale = _mean_entropy(table, average)
    return float(np.clip(_information(table) / scale, 0.0, 1.0)) if scale > 0 else 0.0


def ami(classes: Labels, clusters: Labels) -> float:
    """AMI = (I - E) / (mean(H(classes), H(clusters)) - E), E = the mean of I over random labellings of these
    sizes.

    E = sum over i, j and k of k/n log(n k / (a_i b_j)) x the hypergeometric probability that n_ij = k; the
    mean of entropies is arithmetic. Classes 0011 in clusters 0012, in units of log 2: I = 1. In a random
    labelling the cluster of two lies within one class with probability 1/3 (then I = 1, otherwise 1/2), so E
    = 2/3 and AMI = (1 - 2/3) / (5/4 - 2/3) = 4/7:

    >>> round(ami([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    table = contingency(classes, clusters)
    trivial = (1, table.size)
    if len(table.classes) == len(table.clusters) and len(table.classes) in trivial:
        return 1.0
    expected = _expected_information(table)
    range_ = _mean_entropy(table, "arithmetic") - expected
    return float(
        (_information(table) - expected) / (np.sign(range_ or 1) * max(abs(range_), np.finfo(float).eps))
    )


def pairwise_f1(classes: Labels, clusters: Labels) -> float:
    """F1 = 2 TP / (pairs in one class + pairs in one cluster), TP = pairs of points that share both.

    The harmonic mean of precision (TP / pairs in one cluster) and recall (TP / pairs in one class); 1 if
    neither side has a pair. Classes 0011 in clusters 0012: TP = 1, class pairs 2, cluster pairs 1, so 2 / 3:

    >>> round(pairwise_f1([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.6667
    """
    table = contingency(classes, clusters)
    both, in_class, in_cluster = (_pairs(n) for n in (table.cells, table.classes, table.clusters))
    return 2.0 * both / (in_class + in_cluster) if in_class + in_cluster else 1.0


def _pairs(sizes: np.ndarray) -> int:
    sizes = sizes.astype(np.int64)
    return int(np.sum(sizes * (sizes - 1) // 2))


def _entropy(sizes: np.ndarray) -> float:
    share = sizes / sizes.sum()
    return float(-np.sum(share * np.log(share)))


def _mean_entropy(table: Contingency, average: str) -> float:
    one, other = _entropy(table.classes), _entropy(table.clusters)
    if average == "arithmetic":
        return (one + other) / 2
    if average == "geometric":
        return float(np.sqrt(one * other))
    raise unknown("mean of entropies", average, ("arithmetic", "geometric"))


def _information(table: Contingency) -> float:
    n, cells = table.size, table.cells
    logs = np.log(cells) + np.log(n) - np.log(table.rows) - np.log(table.columns)
    return float(np.sum(cells / n * logs))


def _expected_information(table: Contingency) -> float:
    """E of ``ami``, summed over distinct sizes only: classes, and clusters, of equal size contribute
    equally."""
    from scipy.special import gammaln

    n = table.size
    log_factorial = gammaln(np.arange(n + 1) + 1.0)
    total = 0.0
    cluster_sizes, cluster_counts = np.unique(table.clusters, return_counts=True)
    for a, a_count in zip(*np.unique(table.classes, return_counts=True)):
        for b, b_count in zip(cluster_sizes, cluster_counts):
            k = np.arange(max(1, a + b - n), min(a, b) + 1)
            log_choices = log_factorial[[a, b, n - a, n - b]].sum() - log_factorial[n] - log_factorial[k]
            log_choices = (
                log_choices - log_factorial[a - k] - log_factorial[b - k] - log_factorial[n - a - b + k]
            )
            information = k / n * (np.log(n) + np.log(k) - np.log(a) - np.log(b))
            total += a_count * b_count * float(np.sum(information * np.exp(log_choices)))
    return total
