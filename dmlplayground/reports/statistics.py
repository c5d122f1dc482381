"""The statistics of a table: mean and spread over seeds, intervals, and whether a gap is more than noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, stdev

LEVEL = 0.05


@dataclass(frozen=True)
class Summary:
    """One quantity measured with several seeds: ``values`` by seed. It is false if there are none."""

    values: Mapping[int, float]

    def __bool__(self) -> bool:
        return bool(self.values)

    @property
    def n(self) -> int:
        return len(self.values)

    @cached_property
    def mean(self) -> float:
        return fmean(self.values.values())

    @cached_property
    def spread(self) -> float | None:
        """The sample standard deviation; a single run has none."""
        return stdev(self.values.values()) if self.n > 1 else None

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean, by Student's t."""
        if self.spread is None:
            return None
        from scipy import stats  # here, since listings load this file and must answer at once

        half = float(stats.t.ppf(1 - LEVEL / 2, self.n - 1)) * self.spread / math.sqrt(self.n)
        return self.mean - half, self.mean + half


def summary(pairs: Iterable[tuple[int, float | None]]) -> Summary:
    """The summary of (seed, value) pairs, without those that have no value."""
    return Summary({seed: value for seed, value in pairs if value is not None})


def differences(a: Summary, b: Summary) -> Summary:
    """a - b for every seed that both have."""
    return Summary({seed: a.values[seed] - b.values[seed] for seed in a.values if seed in b.values})


def welch(a: Summary, b: Summary) -> float | None:
    """The two-sided p-value of Welch's t-test: independent runs, unequal spreads. A single run has none."""
    if a.spread is None or b.spread is None:
        return None
    if a.spread == b.spread == 0:
        return _without_noise(a.mean - b.mean)
    from scipy import stats

    test = stats.ttest_ind_from_stats(a.mean, a.spread, a.n, b.mean, b.spread, b.n, equal_var=False)
    return float(test.pvalue)


def student(a: Summary, b: Summary, spread: float, freedom: int) -> float | None:
    """The two-sided p-value of a t-test with a spread estimated elsewhere. A single run still has none."""
    if a.n < 2 or b.n < 2:
        return None
    if spread == 0:
        return _without_noise(a.mean - b.mean)
    return _two_sided((a.mean - b.mean) / (spread * math.sqrt(1 / a.n + 1 / b.n)), freedom)


def pooled(summaries: Iterable[Summary]) -> tuple[float, int]:
    """The spread that several quantities have in common, and its degrees of freedom."""
    squares = [
        ((value.n - 1) * value.spread**2, value.n - 1) for value in summaries if value.spread is not None
    ]
    total, freedom = (sum(column) for column in zip(*squares))
    return math.sqrt(total / freedom), int(freedom)


def paired(gaps: Summary) -> float | None:
    """The two-sided p-value of a t-test that differences taken seed by seed are zero on average."""
    if gaps.spread is None:
        return None
    if gaps.spread == 0:
        return _without_noise(gaps.mean)
    return _two_sided(gaps.mean * math.sqrt(gaps.n) / gaps.spread, gaps.n - 1)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """P-values of several tests, adjusted so that all together err no more often than one would."""
    known = sorted((value, index) for index, value in enumerate(values) if value is not None)
    adjusted: list[float | None] = [None] * len(values)
    highest = 0.0
    for rank, (value, index) in enumerate(known):
        highest = max(highest, min(1.0, value * (len(known) - rank)))
        adjusted[index] = highest
    return adjusted


def best(summaries: Sequence[Summary]) -> int:
    """The position of the highest. A single run counts only if there are no others, because its noise is unknown."""
    known = [index for index, value in enumerate(summaries) if value]
    repeated = [index for index in known if summaries[index].n > 1]
    return max(repeated or known, key=lambda index: summaries[index].mean)


def against_best(summaries: Sequence[Summary]) -> list[float | None]:
    """The adjusted p-value of each gap to the best; None for the best one and for gaps that cannot be tested. Two runs
    are too few to estimate a spread: where there are only two, that of all is used.
    """
    top = summaries[best(summaries)]

    def chance(value: Summary) -> float | None:
        if value is top or top.n < 2:
            return None
        if min(top.n, value.n) == 2:
            return student(top, value, *pooled(summaries))
        return welch(top, value)

    return holm([chance(value) for value in summaries])


def leaders(summaries: Sequence[Summary]) -> set[int]:
    """The best, and all that are not significantly different from it. A single run is never among them.

    Nor is one whose mean is below that of one that differs: with few runs Welch's test can miss a gap that is wider than
    another that it finds.
    """
    if max((value.n for value in summaries), default=0) < 2:
        return set()
    chances = dict(enumerate(against_best(summaries)))
    tested = {index: p for index, p in chances.items() if p is not None}
    limit = max((summaries[index].mean for index, p in tested.items() if p < LEVEL), default=-math.inf)
    level = {index for index, p in tested.items() if p >= LEVEL and summaries[index].mean > limit}
    return {best(summaries), *level}


def _two_sided(statistic: float, freedom: float) -> float:
    """Student's distribution itself: scipy has no test with a spread from elsewhere, and its paired one warns the user of
    gaps that are nearly equal."""
    from scipy import stats

    return float(2 * stats.t.sf(abs(statistic), freedom))


def _without_noise(difference: float) -> float:
    return 1.0 if difference == 0 else 0.0
