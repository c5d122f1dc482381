"""How far a query is from points, by each of the distances that a trial can be evaluated with."""

from __future__ import annotations

import numpy as np


def distances(query: np.ndarray, points: np.ndarray, kind: str) -> np.ndarray:
    """(E,), (N, E) -> (N,), in double precision."""
    query, points = np.asarray(query, np.float64), np.asarray(points, np.float64)
    if kind == "hamming":
        return ((points > 0) != (query > 0)).sum(axis=1).astype(float)
    if kind == "cosine":
        return 1 - _unit(points) @ _unit(query)
    return np.linalg.norm(points - query, axis=1)


def _unit(points: np.ndarray) -> np.ndarray:
    return points / np.maximum(np.linalg.norm(points, axis=-1, keepdims=True), 1e-12)
