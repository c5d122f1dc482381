"""Recall@K."""

import numpy as np

from .shared.engine.ranks import Ranks
from .shared.table import FROM_ONE, KIND


@KIND.register("R@K", title="Recall@K", also=("recall at K", "e_recall@K"), numbers=FROM_ONE, leads=True)
def recall_at_k(ranks: Ranks, k: int) -> np.ndarray:
    """Whether a positive is among the K nearest:

        R@K = 1 if any of the K nearest references is a positive, else 0

    Where fewer than K references exist, all are looked at. Two queries whose nearest positives rank 1 and 3:

    >>> recall_at_k(Ranks.of([[1, 4], [3]]), 1)
    array([1., 0.])
    >>> recall_at_k(Ranks.of([[1, 4], [3]]), 4)
    array([1., 1.])
    """
    return (ranks.total(ranks.within(k)) > 0).astype(np.float64)
