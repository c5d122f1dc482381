"""What predicts transfer: how health figures and spectra of embeddings correlate with the score on test classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, Optional

from ..parts import metrics, protocols
from ..trial.store.records import Record
from .figures import Figure, Series
from .grouping import Arena, Cell, name, score
from .statistics import Summary, summary
from .tables import Column, Row, Table

TRAINING, TEST, HEALTH = "training", "metrics", "health"  # the keys of a record's entry that hold the figures
MEASURED_ON = {TRAINING: "training images", TEST: "test images", HEALTH: "the epoch's last batch"}
LEAST = 3  # cells; with fewer, no correlation is given
DRAWS = 1000
NOTES = [
    "Values are from the scored epoch, averaged over folds. A point is a trial.",
    "Intervals: 95 %, by bootstrap over rows of the leaderboard, each with all of its seeds, since seeds of one method are "
    "alike. An interval that contains 0 shows nothing. Correlation does not mean that a value makes methods good.",
]


@dataclass(frozen=True)
class Predictor:
    """A figure's values beside the scores, a list for each cell."""

    part: str
    figure: str
    points: list[list[tuple[float, float]]]

    @property
    def trials(self) -> int:
        return sum(map(len, self.points))

    def correlation(self, ranked: bool) -> Optional[float]:
        return correlation([point for cell in self.points for point in cell], ranked)

    def interval(self, ranked: bool) -> Optional[tuple[float, float]]:
        """The interval of the correlation, by bootstrap over cells. None if too few draws have a correlation."""
        return self._spearman if ranked else self._pearson

    @cached_property
    def _spearman(self) -> Optional[tuple[float, float]]:
        return self._bootstrap(ranked=True)

    @cached_property
    def _pearson(self) -> Optional[tuple[float, float]]:
        return self._bootstrap(ranked=False)

    def _bootstrap(self, ranked: bool) -> Optional[tuple[float, float]]:
        import numpy as np

        draws = np.random.default_rng(0).integers(len(self.points), size=(DRAWS, len(self.points)))
        drawn = ([point for cell in row for point in self.points[cell]] for row in draws)
        found = [value for one in drawn if (value := correlation(one, ranked)) is not None]
        if len(found) < 0.9 * DRAWS:
            return None
        low, high = np.quantile(found, [0.025, 0.975])
        return float(low), float(high)


def correlation(points: Sequence[tuple[float, float]], ranked: bool) -> Optional[float]:
    """Pearson's correlation, or Spearman's (Pearson's of the ranks). None if either side is constant."""
    import numpy as np
    from scipy import stats

    both = np.array(points, dtype=np.float64).T
    both = stats.rankdata(both, axis=1) if ranked else both
    if len(points) < LEAST or (np.ptp(both, axis=1) == 0).any():
        return None
    return float(np.corrcoef(both)[0, 1])


def predictors(arena: Arena, which: str = "") -> list[Predictor]:
    """All figures that have a correlation, the strongest first. Empty if no trial measured its training embeddings.
    Figures and score are those of the epochs of the result ``which``, or else of the epochs that were chosen."""
    records = [record for cell in arena.finished for record in cell.records]
    if not any(figures_of(record, part, which) for record in records for part in (TRAINING, TEST)):
        return []
    names = dict.fromkeys(
        (part, figure)
        for record in records
        for part in MEASURED_ON
        for figure in figures_of(record, part, which)
    )
    found = [Predictor(part, figure, _points(arena, part, figure, which)) for part, figure in names]
    usable = [one for one in found if len(one.points) >= LEAST and one.correlation(True) is not None]
    return sorted(usable, key=lambda one: -abs(one.correlation(True) or 0))


def _points(arena: Arena, part: str, figure: str, which: str) -> list[list[tuple[float, float]]]:
    cells = (
        [_point(cell, record, part, figure, which) for record in cell.records] for cell in arena.finished
    )
    known = ([point for point in cell if point] for cell in cells)
    return [cell for cell in known if cell]


def _point(cell: Cell, record: Record, part: str, figure: str, which: str) -> Optional[tuple[float, float]]:
    value = figures_of(record, part, which).get(figure)
    reached = score(record, which or cell.primary, cell.headline)
    if value is None or reached is None or not math.isfinite(value) or not math.isfinite(reached):
        return None
    return value, reached


def figures_of(record: Record, part: str, which: str = "") -> dict[str, Optional[float]]:
    """The figures of the scored epochs, averaged over folds; None if a fold lacks one. Of the metrics on test images
    those that look at the embeddings alone; the others are scores themselves."""
    scored = record.results.get(which or protocols.get(record.config["protocol"]["name"]).chosen) or []
    entries = [entry.get(part) or {} for entry in (scored if isinstance(scored, list) else [scored])]
    names = [name for name in (entries[0] if entries else {}) if part != TEST or _of_embeddings(name)]
    values = {figure: [entry.get(figure) for entry in entries] for figure in names}
    return {figure: _mean(found) for figure, found in values.items()}


def _of_embeddings(name: str) -> bool:
    return metrics.get(name).needs == "embeddings"


def _mean(values: Sequence[Optional[float]]) -> Optional[float]:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None


def tables(arena: Arena) -> list[Table]:
    """The correlations, and what was measured on every cell's training embeddings. Empty if nothing was measured."""
    found = predictors(arena)
    first = [correlations(arena, found)] if found else []
    return [*first, _measured(arena)] if any(one.part == TRAINING for one in found) else first


def correlations(arena: Arena, found: Sequence[Predictor], which: str = "") -> Table:
    """A row for each of these figures of the arena."""
    columns = [
        Column("figure", numeric=False),
        Column("of", numeric=False),
        Column("trials"),
        *(
            column
            for which in ("Spearman", "Pearson")
            for column in (Column(which), Column(f"{which} interval", "95 %, by bootstrap", numeric=False))
        ),
    ]
    rows = [
        Row(
            [
                one.figure,
                MEASURED_ON[one.part],
                one.trials,
                *_correlation_cells(one, ranked=True),
                *_correlation_cells(one, ranked=False),
            ]
        )
        for one in found
    ]
    title = (
        f"What predicts transfer: correlation with {arena.headline} ({which or arena.finished[0].primary})"
    )
    return Table("transfer", title, arena.title, columns, rows, NOTES)


def _correlation_cells(one: Predictor, ranked: bool) -> list[Any]:
    value, interval = one.correlation(ranked), one.interval(ranked)
    return [value, f"{interval[0]:+.2f} to {interval[1]:+.2f}" if interval else None]


def _measured(arena: Arena) -> Table:
    """Means over seeds, beside what was published for the same trials."""
    records = [record for cell in arena.finished for record in cell.records]
    names = list(dict.fromkeys(key for record in records for key in figures_of(record, TRAINING)))
    quoted = {figure for cell in arena.finished for figure in cell.published(TRAINING)}
    columns = [Column("method", numeric=False), *(Column(name(key), numeric=False) for key in arena.factors)]
    for figure in names:
        columns += [Column(figure), *([Column(f"{figure} published")] if figure in quoted else [])]
    rows = []
    for cell in arena.finished:
        values: list[Any] = [cell.method, *map(cell.factor, cell.factors)]
        for figure in names:
            values.append(_of_cell(cell, figure))
            values += [cell.published(TRAINING).get(figure)] if figure in quoted else []
        rows.append(Row(values, cell=cell.key))
    return Table("training", "Embeddings of the training images", arena.title, columns, rows)


def _of_cell(cell: Cell, figure: str) -> Summary:
    return summary((record.seed, figures_of(record, TRAINING).get(figure)) for record in cell.records)


def figure(arena: Arena, which: str = "") -> Optional[Figure]:
    """The score against the strongest predictor that was measured on training images. A point is a trial."""
    one = next((one for one in predictors(arena, which) if one.part == TRAINING), None)
    if one is None:
        return None
    series: dict[str, Series] = {}
    for cell in arena.finished:
        for record in cell.records:
            if point := _point(cell, record, TRAINING, one.figure, which):
                label = ", ".join([*cell.distinctions, f"seed {record.seed}"])
                series.setdefault(cell.method, Series(cell.method)).add_point(
                    *point, label, arena.colour(cell)
                )
    return Figure(
        "transfer",
        f"{arena.headline} against {one.figure} of training images",
        "points",
        f"{one.figure}, training images",
        f"{arena.headline} ({which or arena.finished[0].primary}){arena.metric.suffix}",
        list(series.values()),
        note=f"Spearman's correlation {one.correlation(True):+.2f}.",
    )
