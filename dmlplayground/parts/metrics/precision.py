"""Precision@K and R-precision."""

import numpy as np

from .shared.engine.ranks import Ranks
from .shared.table import FROM_ONE, KIND


@KIND.register("P@K", title="Precision@K", also=("precision at K",), numbers=FROM_ONE)
def precision_at_k(ranks: Ranks, k: int) -> np.ndarray:
    """The share of positives among the K nearest:

        P@K = (positives among the K nearest) / K

    Places beyond the last reference count as misses. Positives at ranks 1 and 4, K = 4, give 2 / 4:

    >>> precision_at_k(Ranks.of([[1, 4]]), 4)
    array([0.5])
    """
    return ranks.total(ranks.within(k)) / k


@KIND.register("RP", title="R-precision", also=("R-precision", "r_precision"))
def r_precision(ranks: Ranks) -> np.ndarray:
    """The share of positives among the R nearest, where R is how many positives the query has:

        RP = (positives among the R nearest) / R

    Positives at ranks 1, 3 and 5 are R = 3; two are among the three nearest, so 2 / 3:

    >>> r_precision(Ranks.of([[1, 3, 5]])).round(4)
    array([0.6667])
    """
    return ranks.total(ranks.within(ranks.relevant)) / np.maximum(ranks.relevant, 1)
