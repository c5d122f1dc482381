"""Batches whose distances are distributed like those of a pool; ``cost`` says how far they are from that."""

import numpy as np

from ...base.options import NotNegative
from .shared import KIND, Matching

BINS = 50


@KIND.register(
    title="Matching of distances",
    also=("DDM", "distance distribution matching", "disthist_batchmatch"),
    needs=("embeddings",),
)
class DistanceMatching(Matching):
    """Batches whose pairwise distances are spread like those of a larger pool.

    Of several random candidates from the pool the one with the least cost is taken:

        mean |m_pool - m| + std |s_pool - s| + distance W,

    m and s the mean and the standard deviation of every coordinate, and W the earth mover's distance between the
    histograms of all pairwise distances.

    mean: the weight of the means; with 0 here and for std the distances alone count.
    std: the weight of the standard deviations.
    distance: the weight of the earth mover's distance.

    The study's released code compares the heights of the histograms' bars as if they were distances; this does not.
    """

    mean: NotNegative = 1.0
    std: NotNegative = 1.0
    distance: NotNegative = 150.0

    def costs(self, points: np.ndarray, drawn: np.ndarray) -> list[float]:
        profile = Profile(points)
        return [profile.cost(points[places], self.mean, self.std, self.distance) for places in drawn]


def cost(
    pool: np.ndarray, candidate: np.ndarray, *, mean: float = 1.0, std: float = 1.0, distance: float = 150.0
) -> float:
    """How unlike the pool (N, E) the candidate (B, E) is.

    >>> pool = np.eye(4)
    >>> round(dml.samplers.distance_matching.cost(pool, pool), 6)
    0.0
    """
    return Profile(pool).cost(candidate, mean, std, distance)


class Profile:
    """What candidates are compared with: a pool's mean, spread and histogram of distances."""

    def __init__(self, pool: np.ndarray):
        pool = np.asarray(pool, np.float64)
        self.mean, self.std = pool.mean(axis=0), pool.std(axis=0)
        distances = _distances(pool)
        self.range = distances.min(), distances.max()
        self.shares = self._shares(distances)

    def cost(self, candidate: np.ndarray, mean: float, std: float, distance: float) -> float:
        candidate = np.asarray(candidate, np.float64)
        total = mean * np.linalg.norm(self.mean - candidate.mean(axis=0))
        total += std * np.linalg.norm(self.std - candidate.std(axis=0))
        low, high = self.range
        moved = np.abs(np.cumsum(self.shares - self._shares(_distances(candidate)))).sum()
        return float(total + distance * ((high - low) / BINS * float(moved)))

    def _shares(self, distances: np.ndarray) -> np.ndarray:
        """The share of each bar; distances beyond the pool's, of an image to itself say, are left out. Where all of the
        pool's are equal, bars have no width, and nothing can be moved."""
        if self.range[0] == self.range[1]:
            return np.zeros(BINS)
        counts, _ = np.histogram(distances, BINS, self.range)
        return counts / max(counts.sum(), 1)


def _distances(points: np.ndarray) -> np.ndarray:
    """Of all pairs. From differences: a candidate's must not differ from the pool's by a rounding."""
    from scipy.spatial.distance import pdist  # here, for scipy takes its time to load

    return pdist(points)
