"""How far a query is from points, by each of the distances that a trial can be evaluated with."""

import math
from collections.abc import Sequence

import numpy as np


def distances(query: np.ndarray, points: np.ndarray, kind: str) -> np.ndarray:
    """(E,), (N, E) -> (N,), in double precision. Each depends on its own point alone, whichever stand beside it."""
    query, points = as_seen(np.stack([query]), kind)[0], as_seen(points, kind)
    if kind == "hamming":
        return np.abs(points - query).sum(axis=1)
    if kind == "cosine":
        return 1 - (points * query).sum(axis=1)
    return np.linalg.norm(points - query, axis=1)


def as_seen(points: np.ndarray, kind: str) -> np.ndarray:
    """Points as the distance sees them, in double precision: as they are, at unit length, or as bits."""
    if kind == "hamming":
        return (np.asarray(points) > 0).astype(np.float64)
    points = np.asarray(points, np.float64)
    return unit(points) if kind == "cosine" else points


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
