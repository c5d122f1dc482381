"""The whole evaluation of one set of embeddings: retrieval and clustering, as papers report them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .. import seeds
from ..errors import UserError, unknown
from . import clustering as agreement
from . import retrieval
from .engine import MEMORY
from .engine.embeddings import Embeddings, as_labels
from .engine.kmeans import KMeans, kmeans
from .engine.rank_counting import positive_ranks
from .engine.ranks import Ranks

Metric = Callable[[Ranks], np.ndarray]


@dataclass(frozen=True)
class Evaluation:
    """``scores`` are fractions by name; ``intervals`` are bounds of the retrieval scores, where asked for;
    ``queries`` is how many the means were taken over; ``clustering`` is the k-means run behind NMI, AMI and
    F1 (or None), with its starts, iterations and inertia."""

    scores: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    clustering: KMeans | None
    queries: int


def evaluate(
    embeddings,
    labels,
    ks: Sequence[int] = (1, 2, 4, 8, 16),
    clustering: bool = True,
    seed: int = 0,
    **options,
) -> dict[str, float]:
    """The scores alone, as fractions: {'R@1': ..., 'RP': ..., 'MAP@R': ..., 'NMI': ..., 'NMI_geometric': ...,
    'AMI': ..., 'F1': ...}. Takes what ``assess`` takes.

    >>> scores = evaluate([[0.0], [1.0], [2.0], [9.0]], [0, 0, 1, 1], ks=[1, 2])
    >>> scores["R@1"], scores["R@2"], scores["RP"]
    (0.75, 0.75, 0.75)
    """
    return assess(embeddings, labels, ks, clustering, seed, **options).scores


def assess(
    embeddings,
    labels,
    ks: Sequence[int] = (1, 2, 4, 8, 16),
    clustering: bool = True,
    seed: int = 0,
    *,
    distance: str = "euclidean",
    gallery=None,
    gallery_labels=None,
    precision_ks: Sequence[int] = (),
    map_ks: Sequence[int] = (),
    lone: str = "drop",
    starts: int | None = None,
    resamples: int = 0,
    confidence: float = 0.95,
    memory: int = MEMORY,
) -> Evaluation:
    """Score embeddings (one row each) by their labels (any integers).

    Every row is a query. It searches all other rows, or the ``gallery`` where one is given, by ``distance``:
    "euclidean", "cosine" or "hamming" (see ``Embeddings``). ``ks`` asks for Recall@K, ``precision_ks`` for 'P@K'
    and ``map_ks`` for the landmark form 'mAP@K'; R-precision and MAP@R are always there. With ``clustering``
    the embeddings (not the gallery) are clustered into as many clusters as there are classes, the best of
    ``starts`` k-means runs (``kmeans`` says how many by default). ``resamples`` asks for bootstrap intervals
    over queries.

    What is decided, once and for all:

    * Neighbours are exact. Equal distances, as between duplicates, rank by index in the gallery; a query
      never finds itself, but does find its duplicates. Block sizes and threads change nothing.
    * Lone queries, which have no positive, are left out of the means; ``lone="miss"`` counts them as 0.
    * With fewer references than K all are looked at; precision@K still divides by K.
    * A row that is not finite is an error naming the row.
    * With fewer distinct points than classes there are fewer clusters.

    ``memory`` bounds the bytes that are allocated beyond the embeddings, which may be memory-mapped. Products run on as
    many threads as MXNet has (OMP_NUM_THREADS when it was loaded; one if that is not set), everything else on
    one.
    """
    points = Embeddings(embeddings, distance)
    classes = as_labels(labels, len(points), "labels")
    metrics = _retrieval_metrics(ks, precision_ks, map_ks)
    depth = max([1, *ks, *precision_ks, *map_ks])
    blocks = positive_ranks(points, classes, *_gallery(gallery, gallery_labels, distance), depth, memory)
    values = _per_query(metrics, blocks, len(points), lone)
    scores = {name: float(value.mean()) for name, value in values.items()}
    intervals = bootstrap(values, seed, resamples, confidence) if resamples else {}
    run = kmeans(points, len(np.unique(classes)), seed, starts=starts, memory=memory) if clustering else None
    if run is not None:
        scores.update(_clustering_scores(classes, run.clusters))
    return Evaluation(scores, intervals, run, len(next(iter(values.values()))))


def _per_query(metrics: dict, blocks, size: int, lone: str) -> dict[str, np.ndarray]:
    """Each metric's value for every query that counts, in the order of the queries."""
    if lone not in ("drop", "miss"):
        raise unknown("treatment of lone queries", lone, ("drop", "miss"))
    values, relevant = np.zeros((len(metrics), size)), np.zeros(size, np.int64)
    for rows, ranks in blocks:
        relevant[rows] = ranks.relevant
        for row, metric in zip(values, metrics.values()):
            row[rows] = metric(ranks)
    if not relevant.any():
        raise UserError("no query has a reference of its own class, so there is nothing to retrieve.")
    kept = values[:, relevant > 0] if lone == "drop" else values
    return dict(zip(metrics, kept))


def bootstrap(
    values: dict[str, np.ndarray], seed: int, resamples: int = 1000, confidence: float = 0.95
) -> dict[str, tuple[float, float]]:
    """Percentile intervals of each metric's mean over queries, the same resampled queries for all metrics.

    Queries that all score 0.5 have no spread:

    >>> bootstrap({"RP": np.array([0.5, 0.5, 0.5])}, seed=0)
    {'RP': (0.5, 0.5)}
    """
    if resamples < 1 or not 0 < confidence < 1:
        raise UserError(
            f"a bootstrap needs resamples >= 1 and 0 < confidence < 1, not {resamples} and {confidence}."
        )
    table = np.column_stack(list(values.values()))
    random = seeds.generator(seed, "bootstrap")
    draws = (
        np.bincount(random.integers(len(table), size=len(table)), minlength=len(table))
        for _ in range(resamples)
    )
    means = np.array([weights @ table for weights in draws]) / len(table)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return {name: (float(one), float(other)) for name, one, other in zip(values, low, high)}


def _gallery(gallery, gallery_labels, distance: str) -> tuple[Embeddings | None, np.ndarray | None]:
    if (gallery is None) != (gallery_labels is None):
        raise UserError("a gallery needs both gallery and gallery_labels.")
    if gallery is None:
        return None, None
    points = Embeddings(gallery, distance)
    return points, as_labels(gallery_labels, len(points), "gallery_labels")


def _retrieval_metrics(ks, precision_ks, map_ks) -> dict[str, Metric]:
    for k in (*ks, *precision_ks, *map_ks):
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise UserError(f"K must be a whole number of at least 1, not {k!r}.")
    metrics: dict[str, Metric] = {f"R@{k}": partial(retrieval.recall_at_k, k=int(k)) for k in ks}
    metrics |= {"RP": retrieval.r_precision, "MAP@R": retrieval.map_at_r}
    metrics |= {f"P@{k}": partial(retrieval.precision_at_k, k=int(k)) for k in precision_ks}
    return metrics | {f"mAP@{k}": partial(retrieval.map_at_k, k=int(k)) for k in map_ks}


def _clustering_scores(classes: np.ndarray, clusters: np.ndarray) -> dict[str, float]:
    return {
        "NMI": agreement.nmi(classes, clusters),
        "NMI_geometric": agreement.nmi(classes, clusters, "geometric"),
        "AMI": agreement.ami(classes, clusters),
        "F1": agreement.pairwise_f1(classes, clusters),
    }
