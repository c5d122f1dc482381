"""The few sums every reference needs, on single vectors and short lists."""

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


def norm(x: np.ndarray) -> float:
    return dot(x, x) ** 0.5


def sigmoid(x: float) -> float:
    """1 / (1 + e^-x), without overflow on either side."""
    return float(np.exp(-np.logaddexp(0.0, -x)))


def clipped_angle(cosine: float) -> float:
    """arccos of a cosine that is kept 1e-7 within -1 and 1."""
    return float(np.arccos(min(max(cosine, -1 + 1e-7), 1 - 1e-7)))


def class_cosines(x: np.ndarray, proxies: Sequence[np.ndarray]) -> list[float]:
    """x.p_k over all classes k, the proxies brought to unit length, x taken as it is."""
    return [dot(x, unit(proxy)) for proxy in proxies]


def smoothed_cross_entropy(logits: Sequence[float], label: int, smoothing: float) -> float:
    """-log softmax(logits) at the label, or in the mean over a smoothed target."""
    return cross_entropy(logits, smoothed_target(label, len(logits), smoothing))


def variance(x: Sequence[float]) -> float:
    """Over the coordinates."""
    middle = sum(float(a) for a in x) / len(x)
    return sum((float(a) - middle) ** 2 for a in x) / len(x)


def signal_to_noise(x: np.ndarray, y: np.ndarray) -> float:
    """var(x - y) / var(x), x the anchor; a variance below 1e-12 counts as that."""
    return variance([float(a) - float(b) for a, b in zip(x, y)]) / max(variance(x), 1e-12)
