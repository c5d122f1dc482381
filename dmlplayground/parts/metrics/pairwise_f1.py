"""F1 over pairs of points."""

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
    from sklearn.metrics.cluster import pair_confusion_matrix

    (_, of_clusters), (of_classes, both) = pair_confusion_matrix(*two_labellings(classes, clusters)).tolist()
    in_one = both + of_classes + both + of_clusters
    return 2.0 * both / in_one if in_one else 1.0
