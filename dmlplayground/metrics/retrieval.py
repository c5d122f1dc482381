"""Retrieval metrics: functions of where a query's positives stand among all references, and of nothing else.

A *positive* of a query is a reference of its class (never the query itself); R is how many it has. Every
metric takes ``Ranks`` and returns one value a query; one without positives (R = 0) gets 0, and whether that
counts is up to whoever takes the mean.
"""

from __future__ import annotations

import numpy as np

from .engine.ranks import Ranks


def recall_at_k(ranks: Ranks, k: int) -> np.ndarray:
    """Recall@K = 1 if any of the K nearest references is a positive, else 0.

    Where fewer than K references exist, all are looked at. Two queries whose nearest positives rank 1 and 3:

    >>> recall_at_k(Ranks.of([[1, 4], [3]]), 1)
    array([1., 0.])
    >>> recall_at_k(Ranks.of([[1, 4], [3]]), 4)
    array([1., 1.])
    """
    return (ranks.total(ranks.within(k)) > 0).astype(np.float64)


def precision_at_k(ranks: Ranks, k: int) -> np.ndarray:
    """Precision@K = (positives among the K nearest) / K; places beyond the last reference count as misses.

    Positives at ranks 1 and 4, K = 4, give 2 / 4:

    >>> precision_at_k(Ranks.of([[1, 4]]), 4)
    array([0.5])
    """
    return ranks.total(ranks.within(k)) / k


def r_precision(ranks: Ranks) -> np.ndarray:
    """R-precision = (positives among the R nearest) / R.

    Positives at ranks 1, 3 and 5 are R = 3; two are among the three nearest, so 2 / 3:

    >>> r_precision(Ranks.of([[1, 3, 5]])).round(4)
    array([0.6667])
    """
    return ranks.total(ranks.within(ranks.relevant)) / np.maximum(ranks.relevant, 1)


def map_at_r(ranks: Ranks) -> np.ndarray:
    """MAP@R = (1/R) sum over i = 1..R of [the i-th nearest is a positive] x precision@i.

    Positives at ranks 1, 3 and 5, R = 3: hits at 1 (precision 1/1) and at 3 (2/3), so (1 + 2/3) / 3:

    >>> map_at_r(Ranks.of([[1, 3, 5]])).round(4)
    array([0.5556])

    With R = 10, hits at 1 only, at 1 and 10, at 1 and 2:

    >>> map_at_r(Ranks.of([[1], [1, 10], [1, 2]], relevant=[10, 10, 10])).round(4)
    array([0.1 , 0.12, 0.2 ])
    """
    return _average_precision(ranks, ranks.relevant)


def map_at_k(ranks: Ranks, k: int) -> np.ndarray:
    """mAP@K (landmark form) = (1/min(R, K)) sum over i = 1..K of [the i-th nearest is positive] x
    precision@i.

    Positives at ranks 1, 3 and 5, K = 4: (1 + 2/3) / min(3, 4); with K = 2: 1 / min(3, 2):

    >>> map_at_k(Ranks.of([[1, 3, 5]]), 4).round(4)
    array([0.5556])
    >>> map_at_k(Ranks.of([[1, 3, 5]]), 2)
    array([0.5])
    """
    return _average_precision(ranks, np.full(len(ranks), k), np.minimum(ranks.relevant, k))


def _average_precision(ranks: Ranks, depth: np.ndarray, best: np.ndarray | None = None) -> np.ndarray:
    best = depth if best is None else best
    precision = np.where(ranks.within(depth), ranks.hits() / np.maximum(ranks.rank, 1), 0.0)
    return ranks.total(precision) / np.maximum(best, 1)
