"""The little statistics a table needs: mean and spread over seeds, intervals, and whether a gap is beyond the noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.05


@dataclass(frozen=True)
class Summary:
    """One quantity measured with several seeds: ``values`` by seed."""

    values: Mapping[int, float]

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.values.values())))

    @property
    def spread(self) -> float | None:
        """The sample standard deviation; a single run has none."""
        return float(np.std(list(self.values.values()), ddof=1)) if self.n > 1 else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean, by Student's t."""
        if self.spread is None:
            return None
        half = float(stats.t.ppf(1 - LEVEL / 2, self.n - 1)) * self.spread / math.sqrt(self.n)
        return self.mean - half, self.mean + half


def summary(pairs: Iterable[tuple[int, float | None]]) -> Summary | None:
    """The summary of (seed, value) pairs, those without a value left out; None where nothing is left."""
    values = {seed: value for seed, value in pairs if value is not None}
    return Summary(values) if values else None


def welch(a: Summary, b: Summary) -> float | None:
    """The two-sided p-value of Welch's t-test: independent runs of unequal spread. None where one is a single run."""
    if a.spread is None or b.spread is None:
        return None
    errors = a.spread**2 / a.n, b.spread**2 / b.n
    total = sum(errors)
    if total == 0:
        return _without_noise(a.mean - b.mean)
    freedom = total**2 / (errors[0] ** 2 / (a.n - 1) + errors[1] ** 2 / (b.n - 1))
    return _two_sided((a.mean - b.mean) / math.sqrt(total), freedom)


def paired(differences: Summary | None) -> float | None:
    """The two-sided p-value of a t-test that differences taken seed by seed are zero on average."""
    if differences is None or differences.spread is None:
        return None
    if differences.spread == 0:
        return _without_noise(differences.mean)
    return _two_sided(differences.mean * math.sqrt(differences.n) / differences.spread, differences.n - 1)


def differences(a: Summary, b: Summary) -> Summary | None:
    """a - b for every seed that both have."""
    return summary((seed, a.values[seed] - b.values[seed]) for seed in a.values if seed in b.values)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """P-values of several tests made at once, adjusted so that all of them together err with the level's probability."""
    known = sorted((value, index) for index, value in enumerate(values) if value is not None)
    adjusted: list[float | None] = [None] * len(values)
    highest = 0.0
    for rank, (value, index) in enumerate(known):
        highest = max(highest, min(1.0, value * (len(known) - rank)))
        adjusted[index] = highest
    return adjusted


def best(summaries: Sequence[Summary | None]) -> int | None:
    """Which is highest. A single run counts only where nothing else does: of its noise nothing is known."""
    known = [index for index, value in enumerate(summaries) if value is not None]
    repeated = [index for index in known if summaries[index].spread is not None]
    return max(repeated or known, key=lambda index: summaries[index].mean, default=None)


def against_best(summaries: Sequence[Summary | None]) -> list[float | None]:
    """For each, the adjusted p-value of its gap to the best; None for the best itself and where there is no telling."""
    top = best(summaries)
    pairs = [
        None if value is None or index == top else (summaries[top], value)
        for index, value in enumerate(summaries)
    ]
    return holm([welch(*pair) if pair else None for pair in pairs])


def leaders(summaries: Sequence[Summary | None]) -> set[int]:
    """The best, and all that are not significantly different from it. A single run is never among them."""
    top = best(summaries)
    if top is None or summaries[top].spread is None:
        return set()
    return {top, *(index for index, p in enumerate(against_best(summaries)) if p is not None and p >= LEVEL)}


def _two_sided(statistic: float, freedom: float) -> float:
    return float(2 * stats.t.sf(abs(statistic), freedom))


def _without_noise(difference: float) -> float:
    return 1.0 if difference == 0 else 0.0
