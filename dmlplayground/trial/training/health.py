"""Health figures: the state of the embeddings, read once an epoch from its last batch, and warnings about bad ones."""

from typing import Any

import numpy as np
from mxnet import autograd, nd

from ...parts.methods.shared.objective import Objective
from .learner import Learner

COLLAPSE = 1e-3  # embeddings closer than this fraction of their length count as one point


def figures(learner: Learner, embeddings: nd.NDArray, labels: nd.NDArray) -> dict[str, float | None]:
    """Mean distances within and between classes, the share of rows that the loss still moves, embedding and gradient norms."""
    gradient = _gradient(learner.loss, embeddings, labels)
    points, labels = embeddings.asnumpy().astype(np.float64), labels.asnumpy()
    squares = (points**2).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0))
    same = labels[:, None] == labels
    positive, negative = same & ~np.eye(len(labels), dtype=bool), ~same
    norms = [float(p.list_grad()[0].norm().asscalar()) for p in learner.learned()]
    return {
        "positive_distance": float(distances[positive].mean()) if positive.any() else None,
        "negative_distance": float(distances[negative].mean()) if negative.any() else None,
        "active_share": float((np.abs(gradient).max(axis=1) > 0).mean()),
        "embedding_norm": float(np.sqrt(squares).mean()),
        "gradient_norm": float(np.sqrt(np.square(norms).sum())),
    }


def _gradient(loss: Objective, embeddings: nd.NDArray, labels: nd.NDArray) -> np.ndarray:
    """The loss's gradient at these embeddings. A row where it is zero takes part in no active term of any method."""
    points = embeddings.detach()
    points.attach_grad()
    with loss.memory_held(), autograd.record():
        value = loss(points, labels)
    return autograd.grad([value], [points])[0].asnumpy()


def collapsed(health: dict[str, Any]) -> bool:
    """Whether all embeddings have become (nearly) one point."""
    apart = health["negative_distance"]
    return apart is not None and apart < COLLAPSE * max(health["embedding_norm"], 1e-6)


COLLAPSED = (
    "epoch {epoch}: the embeddings have collapsed: different classes are {negative_distance:.2g} apart at a length of "
    "{embedding_norm:.2g}. A smaller learning rate or another margin may help."
)
