"""How good embeddings of the validation classes are, with an interval, and whether one model is worse than another.

Images of one class rise and fall together, so it is the classes that are drawn again, not the images.
"""

from typing import NamedTuple

import numpy as np

from ..base import seeds
from ..parts import metrics
from ..parts.metrics.shared.engine.embeddings import Embeddings
from ..parts.metrics.shared.evaluation import per_query

#: What an owner of pictures wants: that the first image found is right, and that all are; the second chooses.
NAMES = (metrics.headline({}).key, metrics.CRITERION)
DRAWS = 1000
MEMORY = 1 << 28  # bytes


class Judgement(NamedTuple):
    """A value for each query, by metric, and the queries' classes."""

    values: dict[str, np.ndarray]
    labels: np.ndarray

    def score(self, name: str) -> float:
        return float(self.values[name].mean())

    def interval(self, name: str) -> tuple[float, float]:
        """95 % of what other classes of this kind would give."""
        low, high = np.percentile(_drawn(self.values[name], self.labels), [2.5, 97.5])
        return float(low), float(high)

    def worse(self, other: "Judgement", name: str) -> bool:
        """Whether it is below the other by more than the noise: by a standard error of their difference."""
        gaps = self.values[name] - other.values[name]
        return bool(gaps.mean() < -_drawn(gaps, self.labels).std())


def judge(
    embeddings: np.ndarray, labels: np.ndarray, distance: str = "cosine", queries: np.ndarray | None = None
) -> Judgement:
    """The values of every image as a query among all others; or of the ``queries`` (a mask) among the rest."""
    wanted, labels = [metrics.get(name) for name in NAMES], np.asarray(labels)
    pool: tuple = (None, None)
    if queries is not None:
        pool = Embeddings(embeddings[~queries], distance), labels[~queries]
        embeddings, labels = embeddings[queries], labels[queries]
    points = Embeddings(embeddings, distance)
    return Judgement(per_query(wanted, points, labels, pool, "miss", MEMORY), labels)


def _drawn(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The mean over queries for classes drawn again and again, as many as there are."""
    classes, rows = np.unique(labels, return_inverse=True)
    sums, counts = np.bincount(rows, values), np.bincount(rows)
    picked = seeds.generator(0, "judge").integers(0, len(classes), (DRAWS, len(classes)))
    return sums[picked].sum(axis=1) / counts[picked].sum(axis=1)
