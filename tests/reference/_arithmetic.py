"""The few sums every reference needs, on single vectors and short lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def squared_distance(x: np.ndarray, y: np.ndarray) -> float:
    return float(sum((float(a) - float(b)) ** 2 for a, b in zip(x, y)))


def distance(x: np.ndarray, y: np.ndarray) -> float:
    return squared_distance(x, y) ** 0.5


def dot(x: np.ndarray, y: np.ndarray) -> float:
    return float(sum(float(a) * float(b) for a, b in zip(x, y)))


def unit(x: np.ndarray) -> np.ndarray:
    """x / sqrt(|x|^2 + 1e-10), the framework's normalisation: finite for a zero vector."""
    x = np.asarray(x, dtype=np.float64)
    return x / (dot(x, x) + 1e-10) ** 0.5


def log_sum_exp(terms: Sequence[float]) -> float:
    """log(sum(exp(term))), minus infinity for no terms."""
    if len(terms) == 0:
        return -np.inf
    largest = max(terms)
    return float(largest + np.log(sum(np.exp(term - largest) for term in terms)))


def cross_entropy(logits: Sequence[float], target: Sequence[float]) -> float:
    """-sum_k target_k log softmax_k(logits), the target being a distribution."""
    normaliser = log_sum_exp(logits)
    return float(sum(share * (normaliser - logit) for logit, share in zip(logits, target)))


def smoothed_target(label: int, classes: int, smoothing: float) -> list[float]:
    """1 - smoothing on the label, the rest in equal shares on the other classes."""
    return [1 - smoothing if k == label else smoothing / (classes - 1) for k in range(classes)]
