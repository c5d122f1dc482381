"""Which of many methods can be told apart: all pairs, tested together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Optional

from ..statistics import LEVEL, Summary, differences, holm, paired, pooled, student, welch

Test = Callable[[Summary, Summary], Optional[float]]


@dataclass(frozen=True)
class Ranking:
    """Methods by their mean score. A method with a single run has no place: its noise is unknown."""

    scores: Mapping[str, Summary]  # the best first

    @classmethod
    def of(cls, scores: Mapping[str, Summary], higher: bool = True) -> Ranking:
        repeated = [(label, score) for label, score in scores.items() if score.n > 1]
        return cls(dict(sorted(repeated, key=lambda one: -one[1].mean if higher else one[1].mean)))

    @property
    def names(self) -> list[str]:
        return list(self.scores)

    @property
    def best(self) -> str:
        return self.names[0]

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Each with the better one first."""
        return list(combinations(self.scores, 2))

    @cached_property
    def noise(self) -> tuple[float, int]:
        """The spread over seeds that all methods share, and its degrees of freedom."""
        return pooled(self.scores.values())

    def chances(self, test: Test) -> list[float | None]:
        """The p-value of every pair."""
        return [test(self.scores[one], self.scores[other]) for one, other in self.pairs]

    def with_shared_noise(self, a: Summary, b: Summary) -> float | None:
        return student(a, b, *self.noise)

    def separated(self, test: Test) -> set[frozenset[str]]:
        """The pairs that this test tells apart, all pairs taken together."""
        adjusted = holm(self.chances(test))
        return {frozenset(pair) for pair, p in zip(self.pairs, adjusted) if p is not None and p < LEVEL}

    @cached_property
    def apart(self) -> set[frozenset[str]]:
        """The pairs that can be told apart, by the spread that all methods share."""
        return self.separated(self.with_shared_noise)

    @property
    def level(self) -> list[str]:
        """The methods that cannot be told apart from the best."""
        return [name for name in self.names[1:] if frozenset((self.best, name)) not in self.apart]

    @cached_property
    def groups(self) -> list[tuple[int, int]]:
        """First and last place of every run of neighbours no two of which can be told apart, unless a longer one holds it."""
        found: list[tuple[int, int]] = []
        for first in range(len(self.names)):
            last = first
            while last + 1 < len(self.names) and self._joins(first, last + 1):
                last += 1
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return found

    def _joins(self, first: int, new: int) -> bool:
        """Whether the method in a new place can be told apart from none of those from ``first`` on."""
        return all(
            frozenset((self.names[place], self.names[new])) not in self.apart for place in range(first, new)
        )

    # --- whether the spread is shared ---------------------------------------------------------------------------

    @property
    def spreads(self) -> dict[str, float]:
        """Each method's own, the smallest first."""
        own = {name: score.spread or 0.0 for name, score in self.scores.items()}
        return dict(sorted(own.items(), key=lambda one: one[1]))

    @property
    def unequal(self) -> float | None:
        """The p-value of Brown and Forsythe's test that all methods have the same spread. None if nothing varies."""
        from scipy import stats

        values: list[Any] = [list(score.values.values()) for score in self.scores.values()]
        if len(values) < 2 or not any(self.spreads.values()):
            return None
        return float(stats.levene(*values, center="median").pvalue)

    @property
    def doubtful(self) -> list[tuple[str, str]]:
        """The pairs told apart by the shared spread, though not by their own spreads even if they were the only pair."""
        alone = dict(zip(self.pairs, self.chances(welch)))
        return [
            pair
            for pair in self.pairs
            if frozenset(pair) in self.apart and ((p := alone[pair]) is None or p >= LEVEL)
        ]


def seed_by_seed(a: Summary, b: Summary) -> float | None:
    return paired(differences(a, b))


def reversed_pairs(a: Ranking, b: Ranking) -> list[tuple[str, str]]:
    """The pairs that both tell apart, in opposite order; each with the one first that is better in ``a``."""
    apart = a.apart & b.apart
    return [pair for pair in crossings(a.names, b.names) if frozenset(pair) in apart]


def crossings(a: Sequence[str], b: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs that two lists have in opposite order; each with the one first that is first in ``a``."""
    places = {name: place for place, name in enumerate(b)}
    shared = [name for name in a if name in places]
    return [(one, other) for one, other in combinations(shared, 2) if places[one] > places[other]]
