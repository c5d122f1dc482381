"""Heads that need no training: linear maps of features, computed at once from those of the training images."""

import numpy as np

Head = dict[str, np.ndarray]  # the weights of a linear layer, as files of trained weights name them


def components(features: np.ndarray, width: int) -> Head:
    """The principal components of largest variance."""
    mean = features.mean(axis=0)
    _, _, axes = np.linalg.svd(features - mean, full_matrices=False)
    return _linear(axes[:width], mean)


def whitened(features: np.ndarray, labels: np.ndarray, width: int, shrinkage: float) -> Head:
    """The directions in which classes differ most for the spread that images of one class have there.

    Linear discriminant analysis: that spread is made equal in all directions, and the principal components of what
    results are taken. ``shrinkage`` is added to it in every direction, in units of its mean: with few images of a class
    it is known badly.
    """
    mean = features.mean(axis=0)
    classes, rows = np.unique(labels, return_inverse=True)
    means = np.stack([features[rows == place].mean(axis=0) for place in range(len(classes))])
    away = features - means[rows]
    spread = away.T @ away / len(features)
    values, axes = np.linalg.eigh(spread)
    level = shrinkage * values.mean()
    whiten = (axes / np.sqrt(np.maximum(values, 0) + level)) @ axes.T
    _, _, found = np.linalg.svd((features - mean) @ whiten, full_matrices=False)
    return _linear(found[:width] @ whiten, mean)


def _linear(weight: np.ndarray, mean: np.ndarray) -> Head:
    weight = weight.astype(np.float32)
    return {"0.weight": weight, "0.bias": -(weight @ mean).astype(np.float32)}


def apply(head: Head, features: np.ndarray) -> np.ndarray:
    return features @ head["0.weight"].T + head["0.bias"]
