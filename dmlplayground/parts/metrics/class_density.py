"""How close a class's embeddings lie together, and how far the classes lie apart."""

from typing import Any

import numpy as np

from ...base.errors import UserError
from .shared.engine.embeddings import Embeddings, as_labels, group_sums
from .shared.table import KIND


def density(embeddings: Any, labels: Any) -> dict[str, float]:
    """Mean cosine distances within classes and between them, and their ratio.

        intra = mean over classes of the mean over ordered pairs of its embeddings of 1 - cos,
        inter = mean over ordered pairs of classes of 1 - cos between their means,
        ratio = intra / max(inter, 1e-8).

    Embeddings count at unit length, and so do the means of classes. A class of one embedding has no pair and is left out
    of intra; it has a mean, and takes part in inter.

    >>> density([[1, 0], [0, 1], [-1, 0], [-1, 0]], [0, 0, 1, 1])["intra"]
    0.5
    """
    points = Embeddings(embeddings, "cosine")
    _, classes = np.unique(as_labels(labels, len(points), "labels"), return_inverse=True)
    sizes = np.bincount(classes)
    if len(sizes) < 2 or sizes.max() < 2:
        raise UserError("density needs two classes, and two embeddings of one of them.")
    squares = np.concatenate([np.einsum("ij,ij->i", *[points.rows(part)] * 2) for part in points.slices()])
    sums = group_sums(points, classes, len(sizes))
    pairs = (sizes * (sizes - 1))[sizes > 1]
    similar = np.einsum("ij,ij->i", sums, sums) - np.bincount(classes, weights=squares)
    intra = float(np.mean(1 - similar[sizes > 1] / pairs))

    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    means = sums / np.where(lengths > 0, lengths, 1.0)
    total = means.sum(axis=0)
    inter = float(1 - (total @ total - np.vdot(means, means)) / (len(means) * (len(means) - 1)))
    return {"intra": intra, "inter": inter, "ratio": intra / max(inter, 1e-8)}


_DENSITY = {"needs": "embeddings", "percent": False}


@KIND.register(
    "density_intra", title="Distance within classes", also=("pi_intra",), **_DENSITY, higher_is_better=False
)
def density_intra(embeddings: Any, labels: Any) -> float:
    """How far the embeddings of a class lie apart, in cosine distance:

        intra = mean over classes of the mean over ordered pairs of its embeddings of 1 - cos

    A class of one embedding is left out.
    """
    return density(embeddings, labels)["intra"]


@KIND.register("density_inter", title="Distance between classes", also=("pi_inter",), **_DENSITY)
def density_inter(embeddings: Any, labels: Any) -> float:
    """How far the means of classes lie apart, in cosine distance:

        inter = mean over ordered pairs of classes of 1 - cos between their means

    Embeddings count at unit length, and so do the means.
    """
    return density(embeddings, labels)["inter"]


@KIND.register("density_ratio", title="Embedding density", also=("pi_ratio",), **_DENSITY, separates=False)
def density_ratio(embeddings: Any, labels: Any) -> float:
    """The distance within classes over the distance between them:

        ratio = density_intra / max(density_inter, 1e-8)

    On CUB and Cars, methods whose training embeddings have a higher ratio transfer better, though classes overlap more.
    """
    return density(embeddings, labels)["ratio"]
