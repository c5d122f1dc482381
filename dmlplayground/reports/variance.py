"""What repeated trials say of methods: every method was searched several times, and each search's winner was trained on
several divisions of the classes with several seeds.

A score is a method's mean, plus what the division adds for all methods, what it adds for this one, what the search adds,
what both add together, and the seed. All of these are random draws, so an interval of a mean is one over new divisions,
searches and seeds. Two searches and three divisions are too few to draw from again and again: such a bootstrap gives
intervals that are too short. Instead the mean squares of the analysis of variance give the error of a mean, with
Satterthwaite's degrees of freedom and Student's distribution.

The same divisions stand behind all methods, so differences are taken within divisions. The noise of a difference is that of
all methods together, or a method's own where that is larger; the less alike methods are in their noise, the fewer degrees of
freedom. A method whose own is beyond that of the others by a test is not pooled at all.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from .statistics import LEVEL, MeanDifference, holm

Run = tuple[Any, Any, int]  # division, search, seed
Values = Mapping[Run, float]
DRAWS = 2000
SOURCES = {
    "division": "division, for all methods alike",
    "own_division": "division, for this method",
    "search": "search",
    "both": "division and search together",
    "seed": "seed",
}


class Estimate(NamedTuple):
    """Of something with an error: the value, and its 95 % interval, where there is one."""

    value: float
    interval: tuple[float, float] | None = None


class Square(NamedTuple):
    """A mean square of means over seeds, and its degrees of freedom."""

    value: Any  # a number, or draws of it
    freedom: float


class Squares(NamedTuple):
    """Of one method, or of several together. What a design cannot tell is nothing."""

    division: Square | None  # without what is common to all methods
    search: Square | None
    both: Square | None
    seed: Square | None


class Gap(NamedTuple):
    """How far one method is above another."""

    mean: float
    interval: tuple[float, float]
    chance: float  # the p-value that the means over divisions and searches are equal
    wins: Estimate  # the probability that it is above in a new division, with a new search and seed


@dataclass(frozen=True)
class Comparison:
    """Methods repeated over the same divisions, with as many searches each: means over seeds, and the spread of these."""

    means: Mapping[str, Any]  # of every method, an array: divisions x searches
    within: Mapping[str, Square | None]  # of every method, the variance over seeds
    seeds: float  # how many a division and search have (the harmonic mean)
    divisions: tuple[Any, ...]
    searches: int
    left_out: tuple[str, ...] = ()  # methods that lack some of this
    higher: bool = True  # whether more is better

    @classmethod
    def of(cls, scores: Mapping[str, Values], higher: bool = True) -> "Comparison":
        """Of the methods that have every division and search of the design that most of them have.

        >>> scores = {name: {(d, s, k): level + d + s / 2 + k / 4 for d in range(3) for s in range(2) for k in range(2)}
        ...           for name, level in {"margin": 70, "npairs": 60}.items()}
        >>> found = dml.reports.variance.Comparison.of(scores)
        >>> found.best, found.gap("margin", "npairs").mean
        ('margin', 10.0)
        """
        cells = {name: _cells(values) for name, values in scores.items()}
        counts = Counter(own for own, each in cells.values() if each)
        # Of designs that as many methods have, the larger one.
        design = max(counts, key=lambda one: (counts[one], len(one[0]) * one[1]), default=((), 0))
        groups = {name: each for name, (own, each) in cells.items() if each and own == design}
        means = {
            name: np.array([np.mean(seeds) for seeds in each]).reshape(len(design[0]), -1)
            for name, each in groups.items()
        }
        order = sorted(means, key=lambda name: float(means[name].mean()), reverse=higher)
        shares = [1 / len(seeds) for each in groups.values() for seeds in each]
        return cls(
            {name: means[name] for name in order},
            {
                name: _together(
                    Square(float(np.var(one, ddof=1)), len(one) - 1) for one in each if len(one) > 1
                )
                for name, each in groups.items()
            },
            len(shares) / sum(shares) if shares else 0.0,
            *design,
            tuple(name for name in scores if name not in groups),
            higher,
        )

    @property
    def methods(self) -> list[str]:
        """The best first."""
        return list(self.means)

    @property
    def best(self) -> str:
        return self.methods[0]

    @property
    def repeated(self) -> bool:
        """Whether there is anything but seeds to have an error over."""
        return len(self.divisions) > 1 or self.searches > 1

    def mean(self, name: str) -> float:
        return float(self.means[name].mean())

    # --- what varies --------------------------------------------------------------------------------------------

    @cached_property
    def _common(self) -> Any:
        """The mean of every division over methods."""
        return np.mean([one.mean(axis=1) for one in self.means.values()], axis=0)

    @cached_property
    def common(self) -> Square:
        """The mean square of divisions over all methods; of a single method it is the only one there is."""
        spread = float(self._common.var(ddof=1)) if len(self.divisions) > 1 else 0.0
        return Square(self.searches * spread, max(len(self.divisions) - 1, 1))

    def squares(self, name: str) -> Squares:
        """A method's own."""
        cells = self.means[name]
        count, searches = cells.shape
        rows, columns, mean = cells.mean(axis=1), cells.mean(axis=0), cells.mean()
        division = search = both = None
        if count > 1 and len(self.means) > 1:
            rest = rows - mean - (self._common - self._common.mean())
            freedom = (count - 1) * (1 - 1 / len(self.means))
            division = Square(searches * float((rest**2).sum()) / freedom, freedom)
        if searches > 1:
            search = Square(count * float(columns.var(ddof=1)), searches - 1)
        if count > 1 and searches > 1:
            rest = cells - rows[:, None] - columns + mean
            freedom = (count - 1) * (searches - 1)
            both = Square(float((rest**2).sum()) / freedom, freedom)
        return Squares(division, search, both, self.within[name])

    @cached_property
    def _squares(self) -> dict[str, Squares]:
        return {name: self.squares(name) for name in self.means}

    @cached_property
    def unlike(self) -> dict[str, str]:
        """The methods whose noise is beyond that of the others, and in what: F-tests of the largest mean square against the
        others', with Bonferroni's adjustment for all of them. They are taken out one by one."""
        found: dict[str, str] = {}
        while worst := self._most_unlike([name for name in self.means if name not in found]):
            found |= worst
        return found

    def _most_unlike(self, names: list[str]) -> dict[str, str]:
        from scipy import stats

        if len(names) < 3:
            return {}
        tests = []
        for source in Squares._fields:
            known = {name: square for name in names if (square := getattr(self._squares[name], source))}
            for name, one in known.items():
                rest = _together(square for other, square in known.items() if other != name)
                if rest and rest.value > 0:
                    chance = stats.f.sf(one.value / rest.value, one.freedom, rest.freedom)
                    tests.append((chance, name, source))
        chance, name, source = min(tests, default=(1.0, "", ""))
        return {name: source} if chance * len(tests) < LEVEL and tests else {}

    @cached_property
    def pooled(self) -> Squares:
        """The mean squares of all methods together, without those that are unlike the others."""
        alike = [self._squares[name] for name in self.means if name not in self.unlike]
        return Squares(*(_together(filter(None, column)) for column in zip(*alike)))

    @cached_property
    def _likeness(self) -> float:
        """How far methods that are pooled are known to have the same noise, in degrees of freedom: infinite if their mean
        squares differ no more than those of equal noise do. Twice the inverse of how much the variances vary, relative to
        their mean, beyond what their degrees of freedom explain."""
        found, weights = [], []
        for source in Squares._fields:
            alike = [getattr(self._squares[name], source) for name in self.means if name not in self.unlike]
            if len(alike) < 3 or not all(one and one.value > 0 for one in alike):
                continue
            values = np.array([one.value for one in alike])
            expected = 2 / np.mean([one.freedom for one in alike])
            found.append((values.var(ddof=1) / values.mean() ** 2 - expected) / (1 + expected))
            weights.append(1 / expected)
        varying = float(np.average(found, weights=weights)) if found else 0.0
        return 2 / varying if varying > 0 else math.inf

    def components(self, name: str | None = None) -> dict[str, Estimate | None]:
        """The standard deviation that each source adds to a single score, in the unit of the score: of one method, or of all
        together. None where the design cannot tell; intervals only of all together."""
        squares = self._squares[name] if name else self.pooled
        parts = self._parts(squares, self.common)
        draws = {} if name else self._parts(self._drawn(squares), _drawn(self.common, len(squares)))
        found: dict[str, Estimate | None] = dict.fromkeys(parts)
        for source, part in parts.items():
            if part is not None:
                found[source] = Estimate(float(_root(part)), _ends(_root(draws[source])) if draws else None)
        return found

    @staticmethod
    def _drawn(squares: Squares) -> Squares:
        return Squares(*map(_drawn, squares, range(len(squares))))

    def _parts(self, squares: Squares, common: Square) -> dict[str, Any]:
        """The variance of every source. An estimate below zero stays one: its root is zero."""
        division, search, both, seed = (square and square.value for square in squares)
        noise = None if seed is None else seed / self.seeds
        rest = both if both is not None else noise  # what the means of divisions and of searches have besides
        # Of one method alone, its own share in a division cannot be estimated.
        shared = rest if division is None else division / len(self.means)
        return {
            "division": _less(common.value, shared, self.searches) if len(self.divisions) > 1 else None,
            "own_division": None if division is None else _less(division, rest, self.searches),
            "search": None if search is None else _less(search, rest, len(self.divisions)),
            "both": None if both is None else _less(both, noise, 1),
            "seed": seed,
        }

    # --- intervals and tests ------------------------------------------------------------------------------------

    def _error(self, squares: Squares) -> Square:
        """The squared standard error of a mean, apart from what is common to all methods."""
        division, search, both, _ = squares
        cells = len(self.divisions) * self.searches
        if division and search and both:
            # What they have in common is counted once, but neither part alone may exceed it.
            together = division.value + search.value - both.value
            value = np.maximum.reduce([division.value, search.value, together])
            return Square(value / cells, _freedom(value, division, search))
        only = division or search
        return Square(only.value / cells, only.freedom) if only else Square(0.0, math.inf)

    def error(self, name: str) -> Square:
        """The squared standard error of a method's mean among others: that of all methods, or its own if that is larger."""
        own, shared = self._error(self._squares[name]), self._error(self.pooled)
        lent = 0.0 if name in self.unlike else self._likeness
        return Square(max(own.value, shared.value), min(own.freedom + lent, shared.freedom))

    def interval(self, name: str) -> tuple[float, float] | None:
        """95 %, of the mean over new divisions, searches and seeds."""
        if not self.repeated:
            return None
        several = len(self.divisions) > 1
        if len(self.means) > 1:
            own = self.error(name)
        else:  # no other method: all that divisions do is its own
            own = self._error(self.squares(name)._replace(division=self.common if several else None))
        if several and len(self.means) > 1:
            common = Square(self.common.value / (len(self.divisions) * self.searches), self.common.freedom)
            value = own.value + common.value
            own = Square(value, _freedom(value, own, common))
        return _around(self.mean(name), own)

    def gap(self, a: str, b: str) -> Gap:
        mean = self.mean(a) - self.mean(b)
        sides = self.error(a), self.error(b)
        error = Square(sides[0].value + sides[1].value, min(side.freedom for side in sides))
        chance = MeanDifference(mean, math.sqrt(error.value), error.freedom).chance
        return Gap(mean, _around(mean, error), chance, self._wins(a, b))

    def _wins(self, a: str, b: str) -> Estimate:
        """The normal probability that a single score of one is better, given what the mean squares may be."""
        from scipy import special

        (error, single), (other_error, other_single) = self._noise[a], self._noise[b]
        gap = (self.mean(a) - self.mean(b)) * (1 if self.higher else -1)
        gaps = gap + np.random.default_rng(1).normal(size=DRAWS) * np.sqrt(error + other_error)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = special.ndtr(gaps / np.sqrt(single + other_single))
        shares = np.where(np.isnan(shares), 0.5, shares)  # no gap and no noise
        return Estimate(float(shares.mean()), _ends(shares))

    @cached_property
    def _noise(self) -> dict[str, tuple[Any, Any]]:
        """Of every method draws of its mean's squared error and of a single score's variance, without what all methods share."""
        found = {}
        for name in self.means:
            squares = self._squares[name] if name in self.unlike else self.pooled
            drawn = self._drawn(squares)
            parts = {**self._parts(drawn, self.common), "division": None}
            single = sum(value for value in parts.values() if value is not None)
            known = self._error(squares).value
            scale = self.error(name).value / known if known else 1.0
            found[name] = (scale * self._error(drawn).value, np.maximum(single, 0))
        return found

    def draws(self, name: str, stream: int) -> Any:
        """What a method's mean may be, given what was measured, apart from what is common to all methods."""
        error, _ = self._noise[name]
        return self.mean(name) + np.random.default_rng([2, stream]).normal(size=len(error)) * np.sqrt(error)

    @cached_property
    def gaps(self) -> dict[tuple[str, str], Gap]:
        """Of all pairs, the better one first."""
        return {pair: self.gap(*pair) for pair in combinations(self.means, 2)}

    @cached_property
    def adjusted(self) -> dict[tuple[str, str], float]:
        """The p-values of all pairs, with Holm's adjustment."""
        values = holm([gap.chance for gap in self.gaps.values()])
        return {pair: 1.0 if value is None else value for pair, value in zip(self.gaps, values)}

    @property
    def apart(self) -> set[tuple[str, str]]:
        """The pairs that can be told apart, the better one first."""
        return {pair for pair, value in self.adjusted.items() if value < LEVEL} if self.repeated else set()

    @property
    def leaders(self) -> list[str]:
        """The best, and those that cannot be told apart from it. None below one that can is among them."""
        places = (place for place, name in enumerate(self.methods) if (self.best, name) in self.apart)
        return self.methods[: next(places, None)]

    def places(self, name: str) -> tuple[int, int]:
        """The best and the worst place that a method may have, as far as it can be told apart from the others."""
        above = sum(worse == name for _, worse in self.apart)
        below = sum(better == name for better, _ in self.apart)
        return above + 1, len(self.means) - below


def _cells(values: Values) -> tuple[tuple[tuple[Any, ...], int], list[list[float]]]:
    """A design (the divisions, and how many searches each has), and its scores; none if some division lacks a search."""
    found: dict[Any, dict[Any, list[float]]] = {}
    for (division, search, _), value in sorted(values.items(), key=str):
        found.setdefault(division, {}).setdefault(search, []).append(value)
    searches = {search for row in found.values() for search in row}
    complete = all(len(row) == len(searches) for row in found.values())
    cells = [seeds for row in found.values() for seeds in row.values()]
    return (tuple(found), len(searches)), cells if complete else []


def _drawn(square: Square | None, stream: int) -> Any:
    """What a mean square may be, given what was measured (a generalized pivotal quantity): the same draws each time."""
    if square is None:
        return None
    draws = np.random.default_rng([0, stream]).chisquare(square.freedom, DRAWS)
    return Square(square.value * square.freedom / draws, square.freedom)


def _together(squares: Iterable[Square]) -> Square | None:
    known = list(squares)
    freedom = sum(one.freedom for one in known)
    return Square(sum(one.value * one.freedom for one in known) / freedom, freedom) if known else None


def _less(square: Any, rest: Any, count: float) -> Any:
    return (square - (0 if rest is None else rest)) / count


def _freedom(value: float, a: Square, b: Square) -> float:
    """Satterthwaite's degrees of freedom of what both make: never fewer than either has alone, nor more than both."""
    shares = np.maximum(a.value**2 / a.freedom + b.value**2 / b.freedom, np.finfo(float).tiny)
    return np.clip(value**2 / shares, min(a.freedom, b.freedom), a.freedom + b.freedom)


def _around(mean: float, error: Square) -> tuple[float, float]:
    from scipy import stats

    half = float(stats.t.ppf(1 - LEVEL / 2, error.freedom)) * math.sqrt(error.value)
    return mean - half, mean + half


def _root(value: Any) -> Any:
    return np.sqrt(np.maximum(value, 0))


def _ends(draws: Any) -> tuple[float, float]:
    low, high = np.quantile(draws, [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)
