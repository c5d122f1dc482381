"""The evaluation of one set of embeddings by any metrics of the table."""

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....base.errors import UserError, unknown
from . import intervals as uncertainty
from .engine import MEMORY
from .engine.embeddings import Embeddings, as_labels, as_numbers, as_numpy
from .engine.kmeans import KMeans, kmeans
from .engine.rank_counting import ALL, positive_ranks
from .table import KS, STANDARD, Metric, chosen

INTERVALS = ("bootstrap", "normal")
WITHOUT_POSITIVES = ("drop", "miss")


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation found.

    >>> dml.metrics.assess(np.eye(2)[[0, 0, 1, 1]], [5, 5, 7, 7], metrics=["RP"]).queries
    4
    """

    scores: dict[str, float]  # by the metric's name; fractions, where the table says percent
    intervals: dict[str, tuple[float, float]]  # of the means over queries, where asked for
    clustering: KMeans | None  # the k-means run behind the scores that need clusters
    queries: int  # how many the means were taken over


def evaluate(
    embeddings: Any,
    labels: Any,
    ks: Sequence[int] = KS,
    clustering: bool = True,
    seed: int = 0,
    **options: Any,
) -> dict[str, float]:
    """The scores alone: {'R@1': ..., 'RP': ..., 'MAP@R': ..., 'NMI': ..., 'NMI_geometric': ..., 'AMI': ..., 'F1': ...}.
    Takes what ``assess`` takes.

    >>> scores = evaluate([[0.0], [1.0], [2.0], [9.0]], [0, 0, 1, 1], ks=[1, 2])
    >>> scores["R@1"], scores["R@2"], scores["RP"]
    (0.75, 0.75, 0.75)
    """
    return assess(embeddings, labels, ks, clustering, seed, **options).scores


def assess(
    embeddings: Any,
    labels: Any,
    ks: Sequence[int] = KS,
    clustering: bool = True,
    seed: int = 0,
    *,
    metrics: Sequence[str] = STANDARD,
    distance: str = "euclidean",
    gallery: Any = None,
    gallery_labels: Any = None,
    without_positives: str = "drop",
    starts: int | None = None,
    intervals: str | None = None,
    confidence: float = 0.95,
    memory: int = MEMORY,
    blocks: int = 1,
    run: Callable[[Callable, Iterable], Iterable] = map,
    lone: None = None,  # what without_positives was called before 0.3.0
) -> Evaluation:
    """Score embeddings (one row each) by their labels, whole numbers or words; arrays of NumPy or MXNet, or lists.

    ``metrics`` names what is computed; a family without a number (``R@K``) stands for one of each of ``ks``, and
    without ``clustering`` the metrics that need clusters are left out.

    Every row is a query. It searches all other rows, or the ``gallery`` where one is given, by ``distance``:
    "euclidean", "cosine" or "hamming" (see ``Embeddings``). For the metrics that need clusters the embeddings (not the
    gallery) are clustered into as many clusters as there are classes, the best of ``starts`` k-means runs (``kmeans``
    says how many by default). ``intervals`` asks for intervals of the means over queries: "bootstrap" or "normal"
    (see ``intervals``).

    What holds for every evaluation:

    * Neighbours are exact. Equal distances, as between duplicates, rank by index in the gallery; a query
      never finds itself, but does find its duplicates. Block sizes and threads change nothing.
    * Queries without positives are left out of the means; ``without_positives="miss"`` counts them as 0.
    * With fewer references than K all are looked at; precision@K still divides by K.
    * A row that is not finite is an error naming the row.
    * With fewer distinct points than classes there are fewer clusters.

    ``memory`` bounds the bytes that are allocated beyond the embeddings, which may be memory-mapped. As many
    threads are used as OMP_NUM_THREADS says, or one.

    The queries are divided into ``blocks``, and ``run`` has each of them searched, as ``map`` would: on many machines if
    it is ``on_ray()``. The scores are the same to the bit. ``memory`` is then that of a block. One block compares each two
    embeddings once, for both; with more of them each two are compared twice. The clusters are always computed here.

    >>> found = dml.metrics.assess(np.eye(2)[[0, 0, 1, 1]], [5, 5, 7, 7], ks=[1], metrics=["R@K"])
    >>> found.scores
    {'R@1': 1.0}
    """
    if lone is not None:
        raise UserError(f"the keyword lone is called without_positives: write without_positives={lone!r}.")
    _check(without_positives, intervals)
    seed, memory, blocks = _whole("seed", seed, 0), _whole("memory", memory, 1), _whole("blocks", blocks, 1)
    starts = None if starts is None else _whole("starts", starts, 1)
    wanted = chosen(metrics, ks, clustering)
    embeddings = as_numpy(embeddings)
    points = Embeddings(embeddings, distance)
    labels, gallery_labels = as_numbers(labels, gallery_labels)
    classes = as_labels(labels, len(points), "labels")
    pool = _gallery(gallery, gallery_labels, distance)
    scores = dict.fromkeys((metric.key for metric in wanted), np.nan)
    ranges, clusters, queries = {}, None, len(points)

    if ranked := [metric for metric in wanted if metric.needs == "ranks"]:
        values = per_query(ranked, points, classes, pool, without_positives, memory, blocks, run)
        scores.update({name: float(value.mean()) for name, value in values.items()})
        queries = len(next(iter(values.values())))
        if intervals == "bootstrap":
            ranges = uncertainty.bootstrap(values, seed, confidence)
        elif intervals == "normal":
            ranges = uncertainty.normal(values, confidence)
    if clustered := [metric for metric in wanted if metric.needs == "clusters"]:
        clusters = kmeans(points, len(np.unique(classes)), seed, starts=starts, memory=memory)
        scores.update({metric.key: metric.measure(classes, clusters.clusters) for metric in clustered})
    for metric in wanted:
        if metric.needs == "embeddings":
            bits = np.unpackbits(embeddings, axis=1) if points.packed else embeddings
            scores[metric.key] = metric.measure(bits, classes)
    return Evaluation(scores, ranges, clusters, queries)


def _check(without_positives: str, intervals: str | None) -> None:
    if without_positives not in WITHOUT_POSITIVES:
        raise unknown("treatment of queries without positives", without_positives, WITHOUT_POSITIVES)
    if intervals is not None and intervals not in INTERVALS:
        raise unknown("kind of interval", intervals, INTERVALS)


def _whole(name: str, number: Any, least: int) -> int:
    if not isinstance(number, (int, float, np.integer, np.floating)) or number % 1 != 0 or number < least:
        raise UserError(f"{name} must be a whole number of at least {least}, not {number!r}.")
    return int(number)


def _gallery(gallery: Any, gallery_labels: Any, distance: str) -> tuple[Embeddings | None, np.ndarray | None]:
    if (gallery is None) != (gallery_labels is None):
        raise UserError("a gallery needs both gallery and gallery_labels.")
    if gallery is None:
        return None, None
    points = Embeddings(gallery, distance, "gallery embedding")
    return points, as_labels(gallery_labels, len(points), "gallery_labels")


def per_query(
    metrics: list[Metric],
    points: Embeddings,
    classes: np.ndarray,
    pool: tuple[Embeddings | None, np.ndarray | None],
    without_positives: str,
    memory: int,
    blocks: int = 1,
    run: Callable[[Callable, Iterable], Iterable] = map,
) -> dict[str, np.ndarray]:
    """Each metric's value for every query that counts, in the order of the queries."""
    references = len(points if pool[0] is None else pool[0])
    depth = max(metric.depth(references) for metric in metrics)
    edges = np.linspace(0, len(points), min(blocks, len(points)) + 1).astype(int).tolist()
    parts = [ALL] if len(edges) == 2 else [slice(*both) for both in itertools.pairwise(edges)]
    search = functools.partial(positive_ranks, points, classes, *pool, depth, memory)
    found = run(functools.partial(_of_block, metrics, len(points), search), parts)
    relevant, values = (np.concatenate(each, axis=-1) for each in zip(*found))
    if not relevant.any():
        raise UserError("no query has a reference of its own class, so there is nothing to retrieve.")
    kept = values[:, relevant > 0] if without_positives == "drop" else values
    return {metric.key: value for metric, value in zip(metrics, kept)}


def _of_block(
    metrics: list[Metric], queries: int, search: Callable, block: slice
) -> tuple[np.ndarray, np.ndarray]:
    """How many positives each query of a block has, and every metric's values for them."""
    values, relevant = np.zeros((len(metrics), queries)), np.zeros(queries, np.int64)
    for rows, ranks in search(block):
        relevant[rows] = ranks.relevant
        for value, metric in zip(values, metrics):
            value[rows] = metric.measure(ranks)
    return relevant[block], values[:, block]
