"""The statistics of a table: mean and spread over seeds, intervals, and whether a gap is more than noise."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, stdev
from typing import NamedTuple

LEVEL = 0.05
LEAST = 3  # runs; fewer say too little about their spread


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
        """The 95 % interval of the mean, by Student's t; None for fewer runs than three."""
        if self.spread is None or self.n < LEAST:
            return None
        return MeanDifference(self.mean, self.spread / math.sqrt(self.n), self.n - 1).interval()


class MeanDifference(NamedTuple):
    """A difference of means (or one mean) with its standard error, and the degrees of freedom of that."""

    size: float
    error: float
    freedom: float

    @property
    def chance(self) -> float:
        """The two-sided p-value of the t-test that it is zero."""
        if self.error == 0:
            return 1.0 if self.size == 0 else 0.0
        from scipy import stats  # here, since listings load this file and must answer at once

        return float(2 * stats.t.sf(abs(self.size) / self.error, self.freedom))

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """It contains zero exactly where the p-value is at least ``level``."""
        if self.error == 0:
            return self.size, self.size
        from scipy import stats

        half = float(stats.t.isf(level / 2, self.freedom)) * self.error
        return self.size - half, self.size + half


class Lead(NamedTuple):
    """How far the best of several is ahead of one of the others."""

    gap: MeanDifference
    chance: float  # its p-value, adjusted for the comparisons with all the others

    @property
    def real(self) -> bool:
        """Whether it is more than noise."""
        return self.chance < LEVEL

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, as much wider as the adjustment raises the p-value: without zero exactly where the lead is real."""
        raised = self.gap.chance / self.chance if self.chance else 1.0
        return self.gap.interval(LEVEL * raised)


def summary(pairs: Iterable[tuple[int, float | None]]) -> Summary:
    """The summary of (seed, value) pairs, without those that have no value."""
    return Summary({seed: value for seed, value in pairs if value is not None})


def differences(a: Summary, b: Summary) -> Summary:
    """a - b for every seed that both have."""
    return Summary({seed: a.values[seed] - b.values[seed] for seed in a.values if seed in b.values})


def welch(a: Summary, b: Summary) -> float | None:
    """The two-sided p-value of Welch's t-test: independent runs, unequal spreads. A single run has none."""
    gap = _welch(a, b)
    return gap.chance if gap else None


def _welch(a: Summary, b: Summary) -> MeanDifference | None:
    if a.spread is None or b.spread is None:
        return None
    shares = (a.spread**2 / a.n, b.spread**2 / b.n)
    total = sum(shares)
    if total == 0:
        return MeanDifference(a.mean - b.mean, 0.0, 1.0)
    # of shares of the total, whose squares do not vanish however small the spreads are
    freedom = 1 / sum((share / total) ** 2 / (value.n - 1) for share, value in zip(shares, (a, b)))
    return MeanDifference(a.mean - b.mean, math.sqrt(total), freedom)


def student(a: Summary, b: Summary, spread: float, freedom: int) -> MeanDifference | None:
    """With a spread estimated elsewhere. A single run still has none."""
    if a.n < 2 or b.n < 2:
        return None
    return MeanDifference(a.mean - b.mean, spread * math.sqrt(1 / a.n + 1 / b.n), freedom)


def pooled(summaries: Iterable[Summary]) -> tuple[float, int]:
    """The spread that several quantities have in common, and its degrees of freedom."""
    known = [(value.n - 1, value.spread) for value in summaries if value.spread is not None]
    total, freedom = sum(n * spread**2 for n, spread in known), sum(n for n, _ in known)
    return math.sqrt(total / freedom), freedom


def paired(gaps: Summary) -> float | None:
    """The two-sided p-value of a t-test that differences taken seed by seed are zero on average."""
    if gaps.spread is None:
        return None
    return MeanDifference(gaps.mean, gaps.spread / math.sqrt(gaps.n), gaps.n - 1).chance


def holm(values: Sequence[float | None]) -> list[float | None]:
    """P-values of several tests, adjusted so that all together err no more often than one would."""
    known = sorted((value, index) for index, value in enumerate(values) if value is not None)
    adjusted: list[float | None] = [None] * len(values)
    highest = 0.0
    for rank, (value, index) in enumerate(known):
        highest = max(highest, min(1.0, value * (len(known) - rank)))
        adjusted[index] = highest
    return adjusted


def best(summaries: Sequence[Summary], higher: bool) -> int:
    """The position of the best. A single run counts only if there are no others, because its noise is unknown."""
    known = [index for index, value in enumerate(summaries) if value]
    repeated = [index for index in known if summaries[index].n > 1]
    sign = 1 if higher else -1
    return max(repeated or known, key=lambda index: sign * summaries[index].mean)


def leads(summaries: Sequence[Summary], higher: bool) -> list[Lead | None]:
    """How far the best is ahead of each; None for itself and where that cannot be tested. Two runs are too few to estimate a
    spread: where there are only two, that of all is used."""
    top = summaries[best(summaries, higher)]
    common = pooled(summaries) if top.n > 1 else None

    def gap(value: Summary) -> MeanDifference | None:
        if value is top or common is None:
            return None
        first, second = (top, value) if higher else (value, top)
        if min(top.n, value.n) < LEAST:
            return student(first, second, *common)
        return _welch(first, second)

    gaps = [gap(value) for value in summaries]
    chances = holm([one.chance if one else None for one in gaps])
    return [Lead(one, chance) if one and chance is not None else None for one, chance in zip(gaps, chances)]


def leaders(summaries: Sequence[Summary], higher: bool) -> set[int]:
    """The best, and all that are not significantly different from it. A single run is never among them.

    Nor is one that is worse than one that differs: with few runs Welch's test can miss a gap that is wider than another
    that it finds.
    """
    if max((value.n for value in summaries), default=0) < 2:
        return set()
    tested = {index: lead for index, lead in enumerate(leads(summaries, higher)) if lead}
    limit = min((lead.gap.size for lead in tested.values() if lead.real), default=math.inf)
    level = {index for index, lead in tested.items() if not lead.real and lead.gap.size < limit}
    return {best(summaries, higher), *level}
