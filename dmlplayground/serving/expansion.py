"""Query expansion: what it brings to search once more, with the mean of the query and its nearest neighbours."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..parts import metrics
from .index import Index
from .judge import NAMES

MOST = 2000  # queries; of more images, a regular selection searches


class Gain(NamedTuple):
    """Shares, without and with expansion."""

    expand: int
    recall: tuple[float, float]  # R@1
    precision: tuple[float, float]  # MAP@R
    queries: int
    measured_on: str

    def __str__(self) -> str:
        (plain, expanded), (mean, mean_expanded) = self.recall, self.precision
        return (
            f"with {self.expand} neighbours in the query, R@1 goes from {100 * plain:.2f} to {100 * expanded:.2f} % and MAP@R "
            f"from {100 * mean:.2f} to {100 * mean_expanded:.2f} %: on {self.measured_on}, {self.queries:,} queries"
        )


def gain(embeddings: np.ndarray, labels: np.ndarray, distance: str, expand: int, measured_on: str) -> Gain:
    """Every image searches all others."""
    index = Index.make(embeddings.shape[1], distance)
    index.add(embeddings)
    sizes = np.bincount(labels)
    rows = np.flatnonzero(sizes[labels] > 1)
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(MOST, len(rows))).astype(int))]
    depth = int(sizes.max())
    plain = _scores(index.nearest(embeddings[rows], depth)[1], rows, labels)
    # The query itself is among the nearest that it is expanded by, and changes the mean's length alone.
    expanded = _scores(index.nearest(embeddings[rows], depth, expand + 1)[1], rows, labels)
    recall, precision = zip(plain, expanded)
    return Gain(expand, recall, precision, len(rows), measured_on)


def _scores(near: np.ndarray, queries: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """R@1 and MAP@R of these neighbours, of which the query itself is none."""
    others = (labels[found[found != row]] == labels[row] for row, found in zip(queries, near))
    ranks = [(1 + np.flatnonzero(right)).tolist() for right in others]
    found = metrics.Ranks.of(ranks, np.bincount(labels)[labels[queries]] - 1)
    recall, precision = (float(metrics.get(name).measure(found).mean()) for name in NAMES)
    return recall, precision


def mean(parts: Sequence[Gain]) -> Gain:
    """Of several networks, each query counting once."""
    weights = [part.queries for part in parts]
    recall = np.average([part.recall for part in parts], axis=0, weights=weights)
    precision = np.average([part.precision for part in parts], axis=0, weights=weights)
    return parts[0]._replace(recall=tuple(recall), precision=tuple(precision), queries=sum(weights))
