"""k-means (first, plain form: scikit-learn's)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import seeds
from .points import Points


@dataclass(frozen=True)
class KMeans:
    clusters: np.ndarray
    inertia: float
    starts: int
    iterations: int


def kmeans(points: Points, k: int, seed: int = 0, *, starts=None, memory=None, threads=None) -> KMeans:
    from sklearn.cluster import KMeans as Library

    starts = starts or (10 if k <= 1000 else 1)
    run = Library(k, n_init=starts, random_state=seeds.integer(seed, "kmeans")).fit(points.rows(slice(None)))
    return KMeans(run.labels_, float(run.inertia_), starts, int(run.n_iter_))
