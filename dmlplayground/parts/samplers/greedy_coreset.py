"""Batches spread over a pool: ``pick`` takes one farthest point after the other."""

import numpy as np

from .shared import KIND, Coreset

SOFT = 97  # percentile of the gaps from which a soft pick is drawn


@KIND.register(title="Greedy coreset", also=("GC", "coreset"), needs=("embeddings",))
class GreedyCoreset(Coreset):
    """Batches that spread over the embeddings: of a pool of random images the first pick is random, and every further
    one is the image farthest from its nearest pick. Random images of each pick's class join it.

    soft: whether a pick is drawn from the farthest 3 % of the pool instead.

    The study's released code looks its picks up in another pool than it chose them in, so its batches are random.
    """

    soft: bool = False

    def choose(self, points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        first = int(rng.integers(len(points)))
        return pick(points, self.blocks, first, rng if self.soft else None)


def pick(pool: np.ndarray, count: int, first: int, soft: np.random.Generator | None = None) -> np.ndarray:
    """The places in the pool (N, E) of ``count`` picks: ``first``, and then again and again the point farthest from
    its nearest pick (the first of equals), or, drawn by ``soft``, one of the points farthest from theirs.

    >>> dml.samplers.greedy_coreset.pick(np.array([[0.0], [1.0], [9.0]]), 2, first=0)
    array([0, 2])
    """
    points = np.asarray(pool, np.float64)
    if not 1 <= count <= len(points):
        raise ValueError(f"{count} of {len(points)} points cannot be picked")
    picks = [first]
    gaps = _squares(points, first)
    free = np.ones(len(points), bool)
    free[first] = False
    while len(picks) < count:
        if soft is None:
            best = int(np.argmax(np.where(free, gaps, -1.0)))
        else:
            far = free & (gaps >= np.percentile(gaps, SOFT))
            best = int(soft.choice(np.flatnonzero(far if far.any() else free)))
        picks.append(best)
        free[best] = False
        gaps = np.minimum(gaps, _squares(points, best))
    return np.array(picks)


def _squares(points: np.ndarray, place: int) -> np.ndarray:
    """Squared distances of all points from one. From differences, so that equal points are at the same distance."""
    differences = points - points[place]
    return np.einsum("ij,ij->i", differences, differences)
