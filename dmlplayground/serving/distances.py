"""How far a query is from points, by each of the distances that a trial can be evaluated with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def distances(query: np.ndarray, points: np.ndarray, kind: str) -> np.ndarray:
    """(E,), (N, E) -> (N,), in double precision."""
    query, points = np.asarray(query, np.float64), np.asarray(points, np.float64)
    if kind == "hamming":
        return ((points > 0) != (query > 0)).sum(axis=1).astype(float)
    if kind == "cosine":
        return 1 - unit(points) @ unit(query)
    return np.linalg.norm(points - query, axis=1)


def of_joined(parts: Sequence[float], kind: str) -> float:
    """The distance between embeddings that are several of unit length side by side, from the distances between those."""
    if kind == "hamming":
        return sum(parts)
    if kind == "cosine":
        return sum(parts) / len(parts)
    return math.hypot(*parts)


def unit(points: np.ndarray) -> np.ndarray:
    """At unit length."""
    return points / np.maximum(np.linalg.norm(points, axis=-1, keepdims=True), 1e-12)
