"""Batches with the mean and the covariance of a pool: ``cost`` says how far they are from it."""

import numpy as np

from .shared import KIND, Matching

RIDGE = 1e-8  # on the diagonals of both covariances, in the root alone


@KIND.register(
    title="Matching of normal distributions",
    also=("FRD", "Frechet distance", "fid_batchmatch"),
    needs=("embeddings",),
)
class FrechetMatching(Matching):
    """Batches distributed like a larger pool, judged by means and covariances.

    Of several random candidates from the pool the one with the least Frechet distance to it is taken:

        |m_pool - m|^2 + tr S_pool + tr S - 2 tr (S_pool S)^(1/2).

    The study's released code has no option for this sampler.
    """

    def costs(self, points: np.ndarray, drawn: np.ndarray) -> list[float]:
        pool = Normal(points)
        return [pool.distance(Normal(points[places])) for places in drawn]


def cost(pool: np.ndarray, candidate: np.ndarray) -> float:
    """The Frechet distance between the normal distributions that fit the pool (N, E) and the candidate (B, E).

    >>> pool = np.random.default_rng(0).normal(size=(50, 2))
    >>> round(dml.samplers.frechet_matching.cost(pool, pool + [3, 4]), 6)
    25.0
    """
    return Normal(pool).distance(Normal(candidate))


class Normal:
    """The normal distribution that fits some points: its mean, the trace of its covariance S, and R^T R = S + ridge."""

    def __init__(self, points: np.ndarray):
        points = np.asarray(points, np.float64)
        self.mean = points.mean(axis=0)
        scaled = (points - self.mean) / np.sqrt(max(len(points) - 1, 1))
        self.trace = float((scaled**2).sum())
        # Of the points themselves: to form S and take its root would lose half of the digits.
        ridge = np.sqrt(RIDGE) * np.eye(points.shape[1])
        self.root = np.asarray(np.linalg.qr(np.concatenate([scaled, ridge]), mode="r"))

    def distance(self, other: "Normal") -> float:
        """The trace of the root of the product is the sum of the singular values of R_1 R_2^T."""
        shared = np.linalg.svd(self.root @ other.root.T, compute_uv=False).sum()
        apart = float(((self.mean - other.mean) ** 2).sum())
        return apart + self.trace + other.trace - 2 * float(shared)
