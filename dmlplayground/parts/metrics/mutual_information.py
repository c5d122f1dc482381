"""Mutual information of a clustering with the classes: NMI and AMI.

I = sum of n_ij/n log(n n_ij / (a_i b_j)) and H(classes) = -sum of a_i/n log(a_i/n), where n_ij points of class i are in
cluster j, a_i and b_j are the sizes of classes and clusters, and n is the number of points. Names do not matter.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ...base.errors import UserError
from .shared.table import KIND

Labels = Sequence[int] | np.ndarray


def two_labellings(classes: Labels, clusters: Labels) -> tuple[np.ndarray, np.ndarray]:
    """Both as arrays, if they are of the same points."""
    classes, clusters = np.asarray(classes), np.asarray(clusters)
    if classes.ndim != 1 or classes.shape != clusters.shape or not len(classes):
        raise UserError(
            f"two labellings of the same points are needed, not {classes.shape} and {clusters.shape}."
        )
    return classes, clusters


@KIND.register("NMI", title="Normalised mutual information", needs="clusters", leads=True)
def nmi(classes: Labels, clusters: Labels) -> float:
    """What classes and clusters tell of each other, as a part of the mean of their entropies:

        NMI = I / ((H(classes) + H(clusters)) / 2)

    Two trivial labellings (one class, one cluster) agree: 1. Classes 0011 in clusters 0012: I = log 2, H = log 2 and
    3/2 log 2, so I / mean is 1 / 1.25:

    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8
    """
    return _normalised(classes, clusters, lambda one, other: (one + other) / 2)


@KIND.register("NMI_geometric", title="NMI by the geometric mean", needs="clusters")
def nmi_geometric(classes: Labels, clusters: Labels) -> float:
    """NMI by the geometric mean, as the first study reports it:

        NMI = I / sqrt(H(classes) H(clusters))

    Classes 0011 in clusters 0012: 1 / sqrt(1.5):

    >>> round(nmi_geometric([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8165
    """
    return _normalised(classes, clusters, lambda one, other: float(np.sqrt(one * other)))


def _normalised(classes: Labels, clusters: Labels, mean: Callable[[float, float], float]) -> float:
    table = _Table(classes, clusters)
    if len(table.sizes) == len(table.others) == 1:
        return 1.0
    scale = mean(_entropy(table.sizes), _entropy(table.others))
    # Rounding may leave a last bit above.
    return float(np.clip(table.information / scale, 0.0, 1.0)) if scale > 0 else 0.0


@KIND.register("AMI", least=-1.0, title="Adjusted mutual information", needs="clusters")
def ami(classes: Labels, clusters: Labels) -> float:
    """NMI with chance taken out:

        AMI = (I - E) / ((H(classes) + H(clusters)) / 2 - E),

    E the mean of I over random labellings of these sizes,

        E = sum over i, j and k of k/n log(n k / (a_i b_j)) P(n_ij = k), P hypergeometric.

    Classes and clusters of equal sizes contribute equally to E. So we sum over distinct sizes, which takes 0.03 s for
    11,316 classes where scikit-learn takes a minute.

    Classes 0011 in clusters 0012, in units of log 2: I = 1. In a random labelling the cluster of two lies within one
    class with probability 1/3 (then I = 1, otherwise 1/2), so E = 2/3 and AMI = (1 - 2/3) / (5/4 - 2/3) = 4/7:

    >>> round(ami([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    table = _Table(classes, clusters)
    sizes, others = table.sizes, table.others
    if len(sizes) == len(others) and len(sizes) in (1, len(classes)):
        return 1.0
    expected = _expected_information(sizes, others)
    room = (_entropy(sizes) + _entropy(others)) / 2 - expected
    gained = table.information - expected
    return float(gained / (np.sign(room or 1) * max(abs(room), np.finfo(float).eps)))


class _Table:
    """How often each class meets each cluster, counted by scikit-learn: the a_i, the b_j, and I.

    The sum is our own: scikit-learn's is made in another order, and its last bits are not those of the records there are.
    """

    def __init__(self, classes: Labels, clusters: Labels):
        from sklearn.metrics.cluster import contingency_matrix

        table = contingency_matrix(*two_labellings(classes, clusters), sparse=True)
        self.sizes, self.others = (np.asarray(table.sum(axis)).ravel() for axis in (1, 0))
        (rows, columns), n = table.nonzero(), table.data.sum()
        logs = np.log(table.data) + np.log(n) - np.log(self.sizes[rows])
        logs -= np.log(self.others[columns])
        self.information = float(np.sum(table.data / n * logs))


def _entropy(sizes: np.ndarray) -> float:
    share = sizes / sizes.sum()
    return float(-np.sum(share * np.log(share)))


def _expected_information(sizes: np.ndarray, others: np.ndarray) -> float:
    from scipy.special import gammaln

    n = int(sizes.sum())
    log_factorial = gammaln(np.arange(n + 1) + 1.0)
    total = 0.0
    other_sizes, other_counts = np.unique(others, return_counts=True)
    for a, a_count in zip(*np.unique(sizes, return_counts=True)):
        for b, b_count in zip(other_sizes, other_counts):
            k = np.arange(max(1, a + b - n), min(a, b) + 1)
            log_choices = log_factorial[[a, b, n - a, n - b]].sum() - log_factorial[n] - log_factorial[k]
            log_choices -= log_factorial[a - k]
            log_choices = log_choices - log_factorial[b - k] - log_factorial[n - a - b + k]
            information = k / n * (np.log(n) + np.log(k) - np.log(a) - np.log(b))
            total += a_count * b_count * float(np.sum(information * np.exp(log_choices)))
    return total
