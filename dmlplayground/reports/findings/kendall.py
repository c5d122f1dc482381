"""How far two orders of the same methods agree: Kendall's tau, with an interval by bootstrap over seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from ..statistics import Summary

DRAWS = 2000
WIDE = 1.96  # standard errors that make a 95 % interval
LEAST = 3  # methods; with fewer there is no order to speak of


def taus(a: Any, b: Any) -> Any:
    """Tau-b over the last axis of two arrays: pairs in the same order less pairs in opposite order, as a share of the
    pairs; not a number where one side has no order at all."""
    import numpy as np

    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    first, second = np.triu_indices(a.shape[-1], 1)
    ours, theirs = (np.sign(side[..., first] - side[..., second]) for side in (a, b))
    told = np.sqrt((ours**2).sum(axis=-1) * (theirs**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (ours * theirs).sum(axis=-1) / told


@dataclass(frozen=True)
class Agreement:
    """Two scores of the same methods, of which the seeds count that both have."""

    methods: list[str]
    pairs: list[list[tuple[float, float]]]  # of every method, one for each seed

    @classmethod
    def of(cls, a: Mapping[str, Summary], b: Mapping[str, Summary]) -> Agreement:
        found = {}
        for name in a:
            seeds = sorted(a[name].values.keys() & b[name].values.keys()) if name in b else []
            if seeds:
                found[name] = [(a[name].values[seed], b[name].values[seed]) for seed in seeds]
        return cls(list(found), list(found.values()))

    @cached_property
    def tau(self) -> float | None:
        import numpy as np

        if len(self.methods) < LEAST:
            return None
        means = np.array([np.mean(pairs, axis=0) for pairs in self.pairs])
        found = float(taus(means[:, 0], means[:, 1]))
        return None if math.isnan(found) else found

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """95 %: tau and twice its standard error on either side, cut off at -1 and 1. None of single runs.

        For the error every method's seeds are drawn with replacement, the same for both scores. The draws' own quantiles
        would not do: means of drawn seeds are noisier than those of all, so nearly every draw has a lower tau.
        """
        import numpy as np

        if self.tau is None or min(map(len, self.pairs)) < 2:
            return None
        random = np.random.default_rng(0)
        drawn = []
        for pairs in self.pairs:
            places = random.integers(len(pairs), size=(DRAWS, len(pairs)))
            drawn.append(np.array(pairs)[places].mean(axis=1))
        means = np.stack(drawn)  # methods, draws, sides
        error = float(np.nanstd(taus(means[..., 0].T, means[..., 1].T)))
        return max(-1.0, self.tau - WIDE * error), min(1.0, self.tau + WIDE * error)


def with_itself(scores: Mapping[str, Summary]) -> list[float]:
    """Tau between the order by some of the seeds and the order by the others, for every way to halve them. This is what
    noise alone makes of an order."""
    import numpy as np

    seeds = sorted(set.intersection(*(set(score.values) for score in scores.values()))) if scores else []
    if len(seeds) < 2 or len(scores) < LEAST:
        return []
    values = np.array([[score.values[seed] for seed in seeds] for score in scores.values()])
    return [
        float(taus(values[:, half].mean(axis=1), values[:, _rest(half, len(seeds))].mean(axis=1)))
        for half in map(list, combinations(range(len(seeds)), len(seeds) // 2))
    ]


def _rest(half: Sequence[int], count: int) -> list[int]:
    return [place for place in range(count) if place not in half]
