"""What predicts transfer: how what is measured of embeddings correlates with the score on test classes."""

import math
from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from ..parts import metrics, protocols
from ..trial.store.records import Record
from . import columns
from .figures import Figure, Series, axis
from .grouping import Arena, Cell, score
from .statistics import Summary, summary
from .tables import Column, Row, Table

TRAINING, TEST, HEALTH = "training", "metrics", "health"  # the keys of a record's entry that hold the numbers
MEASURED_ON = {TRAINING: "training images", TEST: "test images", HEALTH: "the epoch's last batch"}
LEAST = 3  # cells; with fewer, no correlation is given
DRAWS = 1000
NOTES = [
    "Values are from the scored epoch, averaged over folds. A point is a trial.",
    "Intervals: 95 %, by bootstrap over rows of the leaderboard, each with all of its seeds, since seeds of one method are "
    "alike. An interval that contains 0 shows nothing. Correlation does not mean that a value makes methods good.",
]


class Predictor(NamedTuple):
    """A number's values beside the scores, a list for each cell."""

    part: str
    number: str
    points: list[list[tuple[float, float]]]

    @property
    def trials(self) -> int:
        return sum(map(len, self.points))

    def correlation(self, ranked: bool) -> float | None:
        return correlation([point for cell in self.points for point in cell], ranked)

    def interval(self, ranked: bool) -> tuple[float, float] | None:
        """The interval of the correlation, by bootstrap over cells. None if too few draws have a correlation."""
        draws = np.random.default_rng(0).integers(len(self.points), size=(DRAWS, len(self.points)))
        drawn = ([point for cell in row for point in self.points[cell]] for row in draws)
        found = [value for one in drawn if (value := correlation(one, ranked)) is not None]
        if len(found) < 0.9 * DRAWS:
            return None
        low, high = np.quantile(found, [0.025, 0.975])
        return float(low), float(high)


def correlation(points: Sequence[tuple[float, float]], ranked: bool) -> float | None:
    """Pearson's correlation, or Spearman's (Pearson's of the ranks). None if either side is constant."""
    from scipy import stats

    both = np.array(points, dtype=np.float64).T
    both = stats.rankdata(both, axis=1) if ranked else both
    if len(points) < LEAST or (np.ptp(both, axis=1) == 0).any():
        return None
    return float(np.corrcoef(both)[0, 1])


def predictors(arena: Arena) -> list[Predictor]:
    """All numbers that have a correlation, the strongest first. Empty if no trial measured its training embeddings."""
    records = [record for cell in arena.finished for record in cell.records]
    if not any(numbers_of(record, part) for record in records for part in (TRAINING, TEST)):
        return []
    parts = [(record, part) for record in records for part in MEASURED_ON]
    names = dict.fromkeys((part, number) for record, part in parts for number in numbers_of(record, part))
    found = [Predictor(part, number, _points(arena, part, number)) for part, number in names]
    usable = [one for one in found if len(one.points) >= LEAST and one.correlation(True) is not None]
    return sorted(usable, key=lambda one: -abs(one.correlation(True) or 0))


def _points(arena: Arena, part: str, number: str) -> list[list[tuple[float, float]]]:
    cells = [[_point(cell, one, part, number) for one in cell.records] for cell in arena.finished]
    return [known for cell in cells if (known := [point for point in cell if point])]


def _point(cell: Cell, record: Record, part: str, number: str) -> tuple[float, float] | None:
    value, reached = numbers_of(record, part).get(number), score(record, cell.primary, cell.headline)
    if value is None or reached is None or not math.isfinite(value) or not math.isfinite(reached):
        return None
    return value, reached


def numbers_of(record: Record, part: str, which: str = "") -> dict[str, float | None]:
    """The numbers of the scored epochs, averaged over folds; None if a fold lacks one. Of the metrics on test images
    those that look at the embeddings alone; the others are scores themselves."""
    scored = record.results.get(which or protocols.get(record.config["protocol"]["name"]).chosen) or []
    entries = [entry.get(part) or {} for entry in (scored if isinstance(scored, list) else [scored])]
    names = entries[0] if entries else {}
    if part == TEST:
        names = [name for name in names if metrics.get(name).needs == "embeddings"]
    values: dict[str, list[Any]] = {number: [entry.get(number) for entry in entries] for number in names}
    return {number: None if None in found else fmean(found) for number, found in values.items()}


def tables(arena: Arena) -> list[Table]:
    """The correlations, and what was measured on every cell's training embeddings. Empty if nothing was measured."""
    found = predictors(arena)
    first = [correlations(arena, found)] if found else []
    return [*first, _measured(arena)] if any(one.part == TRAINING for one in found) else first


def correlations(arena: Arena, found: Sequence[Predictor]) -> Table:
    """A row for each of these numbers of the arena."""
    heads = [Column("number", numeric=False), Column("of", numeric=False), Column("trials")]
    for kind in ("Spearman", "Pearson"):
        heads += [Column(kind), Column(f"{kind} interval", "95 %, by bootstrap", numeric=False)]
    rows = []
    for one in found:
        values: list[Any] = []
        for ranked in (True, False):
            interval = one.interval(ranked)
            values += [one.correlation(ranked), interval and "{:+.2f} to {:+.2f}".format(*interval)]
        rows.append(Row([one.number, MEASURED_ON[one.part], one.trials, *values]))
    title = f"What predicts transfer: correlation with {arena.headline} ({arena.finished[0].primary})"
    return Table("transfer", title, arena.title, heads, rows, NOTES)


def _measured(arena: Arena) -> Table:
    """Means over seeds, beside what was published for the same trials."""
    records = [record for cell in arena.finished for record in cell.records]
    names = dict.fromkeys(key for record in records for key in numbers_of(record, TRAINING))
    known = {number for cell in arena.finished for number in cell.published(TRAINING)}
    fields = columns.naming(arena)
    for number in names:
        fields.append(columns.Field(Column(number), partial(_over_seeds, number)))
        fields += [columns.quoted(number, TRAINING, f"{number} published")] if number in known else []
    return columns.table("training", "Embeddings of the training images", arena, fields)


def _over_seeds(number: str, cell: Cell) -> Summary:
    return summary((record.seed, numbers_of(record, TRAINING).get(number)) for record in cell.records)


def figure(arena: Arena) -> Figure | None:
    """The score against the strongest predictor that was measured on training images. A point is a trial."""
    one = next((one for one in predictors(arena) if one.part == TRAINING), None)
    if one is None:
        return None
    series: dict[str, Series] = {}
    for cell in arena.finished:
        for record in cell.records:
            if point := _point(cell, record, TRAINING, one.number):
                label = ", ".join([*cell.distinctions, f"seed {record.seed}"])
                points = series.setdefault(cell.method, Series(cell.method))
                points.put(*point, label=label, colour=arena.colour(cell))
    title = f"{arena.headline} against {one.number} of training images"
    number = f"{one.number}, training images"
    note = f"Spearman's correlation {one.correlation(True):+.2f}."
    return Figure("transfer", title, "points", number, axis(arena), [*series.values()], note=note)
