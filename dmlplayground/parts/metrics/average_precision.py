"""The forms of mean average precision, which differ in how deep they look and in what they divide by.

The average precision of a query is the sum of precision@i over the places i at which a positive stands, divided by how
many positives there could have been.
"""

import numpy as np

from .shared.engine.ranks import Ranks
from .shared.table import FROM_ONE, KIND


@KIND.register("MAP@R", title="Mean average precision at R", also=("mAP_c", "mean_average_precision_at_r"))
def map_at_r(ranks: Ranks) -> np.ndarray:
    """Average precision over the R nearest, where R is how many positives the query has:

        MAP@R = (1/R) sum over ranks i up to R of [the i-th nearest is a positive] P@i

    Positives at ranks 1, 3 and 5, R = 3: hits at 1 (precision 1/1) and at 3 (2/3), so (1 + 2/3) / 3:

    >>> map_at_r(Ranks.of([[1, 3, 5]])).round(4)
    array([0.5556])

    With R = 10, hits at 1 only, at 1 and 10, at 1 and 2:

    >>> map_at_r(Ranks.of([[1], [1, 10], [1, 2]], relevant=[10, 10, 10])).round(4)
    array([0.1 , 0.12, 0.2 ])
    """
    return _average_precision(ranks, ranks.relevant, ranks.relevant)


@KIND.register("mAP@K", title="Landmark mAP@K", also=("landmark mAP@100",), numbers=FROM_ONE)
def map_at_k(ranks: Ranks, k: int) -> np.ndarray:
    """Average precision over the K nearest, as the landmark challenges have it:

        mAP@K = (1/min(R, K)) sum over ranks i up to K of [the i-th nearest is a positive] P@i

    Positives at ranks 1, 3 and 5, K = 4: (1 + 2/3) / min(3, 4); with K = 2: 1 / min(3, 2):

    >>> map_at_k(Ranks.of([[1, 3, 5]]), 4).round(4)
    array([0.5556])
    >>> map_at_k(Ranks.of([[1, 3, 5]]), 2)
    array([0.5])
    """
    return _average_precision(ranks, np.full(len(ranks), k), np.minimum(ranks.relevant, k))


@KIND.register(
    "mAP_R@K", title="mAP within the K nearest, over R", also=("mAP_1000", "mAP_lim"), numbers=FROM_ONE
)
def map_within_k(ranks: Ranks, k: int) -> np.ndarray:
    """Average precision over the K nearest, as a part of all R positives:

        mAP_R@K = (1/R) sum over ranks i up to K of [the i-th nearest is a positive] P@i

    The training-strategies study's mAP_1000 and mAP_lim (K = 1,023) in their right form: its code divides by the size of
    the class, the query included, so that a perfect class of two scores 1/2. With K below R it cannot reach 1.

    Positives at ranks 1, 3 and 5, K = 2: 1 / 3:

    >>> map_within_k(Ranks.of([[1, 3, 5]]), 2).round(4)
    array([0.3333])
    """
    return _average_precision(ranks, np.full(len(ranks), k), ranks.relevant)


@KIND.register("mAP", title="Mean average precision over all references", looks_at_all=True)
def mean_average_precision(ranks: Ranks) -> np.ndarray:
    """Average precision over all references:

        mAP = (1/R) sum over positives of P@i, i the rank of the positive

    It ranks every positive, however deep, and so takes longer. Positives at ranks 1, 3 and 5: (1 + 2/3 + 3/5) / 3:

    >>> mean_average_precision(Ranks.of([[1, 3, 5]])).round(4)
    array([0.7556])
    """
    return _average_precision(ranks, ranks.depth, ranks.relevant)


def _average_precision(ranks: Ranks, depth: np.ndarray, most: np.ndarray) -> np.ndarray:
    precision = np.where(ranks.within(depth), ranks.hits() / np.maximum(ranks.rank, 1), 0.0)
    return ranks.total(precision) / np.maximum(most, 1)
