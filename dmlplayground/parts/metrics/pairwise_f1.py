"""F1 over pairs of points."""

from __future__ import annotations

import numpy as np

from .mutual_information import Labels, two_labellings
from .shared.table import KIND


@KIND.register("F1", title="Pairwise F1", needs="clusters", also=("pairwise_f1",))
def pairwise_f1(classes: Labels, clusters: Labels) -> float:
    """How well "in one cluster" tells "in one class", over pairs of points:

        F1 = 2 TP / (pairs in one class + pairs in one cluster), TP = pairs in one class and one cluster

    The harmonic mean of precision (TP / pairs in one cluster) and recall (TP / pairs in one class); 1 if
    neither side has a pair. Classes 0011 in clusters 0012: TP = 1, class pairs 2, cluster pairs 1, so 2 / 3:

    >>> round(pairwise_f1([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.6667
    """
    classes, clusters = two_labellings(classes, clusters)
    class_of, cluster_of = (np.unique(labels, return_inverse=True)[1] for labels in (classes, clusters))
    cells = class_of.astype(np.int64) * len(cluster_of) + cluster_of
    both, in_class, in_cluster = (_pairs(groups) for groups in (cells, class_of, cluster_of))
    return 2.0 * both / (in_class + in_cluster) if in_class + in_cluster else 1.0


def _pairs(groups: np.ndarray) -> int:
    sizes = np.unique(groups, return_counts=True)[1].astype(np.int64)
    return int(np.sum(sizes * (sizes - 1) // 2))
