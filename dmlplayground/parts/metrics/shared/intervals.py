"""Intervals of a mean over queries: how far it might have come out elsewhere with other queries of the same kind.

They know nothing of other seeds or other training runs, whose spread is larger as a rule. Queries are taken as
independent, which images of one class are not quite.
"""

import numpy as np

from ....base import seeds
from ....base.errors import UserError

Values = dict[str, np.ndarray]  # each metric's value for every query
Intervals = dict[str, tuple[float, float]]

RESAMPLES = 1000


def bootstrap(values: Values, seed: int, confidence: float = 0.95, resamples: int = RESAMPLES) -> Intervals:
    """Percentiles of the mean over queries that are drawn anew, with replacement; the same draws for all metrics.

    Queries that all score 0.5 have no spread:

    >>> bootstrap({"RP": np.array([0.5, 0.5, 0.5])}, seed=0)
    {'RP': (0.5, 0.5)}
    """
    _check(confidence)
    if resamples < 1:
        raise UserError(f"a bootstrap needs at least one resample, not {resamples}.")
    table = np.column_stack(list(values.values()))
    random = seeds.generator(seed, "bootstrap")
    size = len(table)
    draws = (np.bincount(random.integers(size, size=size), minlength=size) for _ in range(resamples))
    means = np.array([weights @ table for weights in draws]) / size
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return {name: (float(one), float(other)) for name, one, other in zip(values, low, high)}


def normal(values: Values, confidence: float = 0.95) -> Intervals:
    """Mean -+ z s / sqrt(n), s the sample standard deviation over the n queries and z the normal quantile.

    Scores 0 and 1 have mean 0.5 and s / sqrt(n) = 0.5; z = 1.96 at 95 %:

    >>> {name: (round(low, 2), round(high, 2)) for name, (low, high) in normal({"RP": np.array([0.0, 1.0])}).items()}
    {'RP': (-0.48, 1.48)}
    """
    from statistics import NormalDist  # here, as listings load this file

    _check(confidence)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    found = {}
    for name, value in values.items():
        reach = z * value.std(ddof=1) / np.sqrt(len(value)) if len(value) > 1 else np.inf
        found[name] = (float(value.mean() - reach), float(value.mean() + reach))
    return found


def _check(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise UserError(f"confidence is a share between 0 and 1, such as 0.95, not {confidence}.")
