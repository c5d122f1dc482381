"""k-means by Lloyd's iterations from a greedy k-means++ start, for few clusters and for many thousands.

Where scikit-learn's ``KMeans`` spends its time at many clusters, two things are done differently. The start
draws a batch of centres a round, so that candidates are tried by large matrix products; each centre is still
the best of several candidates, which is what gives the greedy start its quality. And an iteration compares a
point only with the centres that moved, unless its own moved away from it; that leaves out no comparison that
could matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .....base import seeds
from .....base.errors import UserError
from .....base.threads import for_each
from . import MEMORY, loops
from .embeddings import Embeddings
from .rounded import Frame, Rows

ROUNDS = 176  # of a start with many clusters; fewer are faster, more are closer to one centre a round
TILE = 2**22  # products that are computed at once


@dataclass(frozen=True)
class KMeans:
    """The best of ``starts`` runs: the cluster of every point, the sum of squared distances to the clusters'
    centres, and the iterations of that run (``converged``: the last one moved no point).

    >>> dml.metrics.assess(np.eye(2)[[0, 0, 1, 1]], [5, 5, 7, 7], metrics=["NMI"]).clustering.inertia
    0.0
    """

    clusters: np.ndarray
    inertia: float
    starts: int
    iterations: int
    converged: bool


def kmeans(
    points: Embeddings,
    k: int,
    seed: int = 0,
    *,
    starts: int | None = None,
    max_iterations: int = 300,
    memory: int = MEMORY,
) -> KMeans:
    """Cluster into ``k`` (fewer, where there are fewer distinct points): the best of ``starts`` runs.

    By default ten starts to 1,000 clusters and one above, where runs hardly differ. Embeddings are clustered as
    their distance sees them: rows at unit length for "cosine", bits for "hamming". ``memory`` decides whether
    the points are kept in float32; tiles and centres come to some 50 MB and 8 bytes a number of the centres.
    Distances to centres are in float32, about the mean of all points: clusters blur that are some 10,000 times smaller
    than the whole.

    >>> from dmlplayground.parts.metrics.shared.engine.embeddings import Embeddings
    >>> dml.metrics.kmeans(Embeddings(np.eye(2)[[0, 0, 1, 1]]), 2).inertia
    0.0
    """
    starts = (10 if k <= 1000 else 1) if starts is None else starts
    if not 1 <= k <= len(points) or starts < 1 or max_iterations < 1:
        raise UserError(
            f"k-means needs 1 <= clusters <= {len(points)} points and at least one start and iteration."
        )
    data = _Data(points, memory)
    runs = (_run(data, k, seeds.generator(seed, "kmeans", start), max_iterations) for start in range(starts))
    clusters, inertia, iterations, converged = min(runs, key=lambda run: run[1])
    return KMeans(clusters, inertia / data.frame.factor**2, starts, iterations, converged)


class _Data:
    """The points, and what all steps need to know of them."""

    def __init__(self, points: Embeddings, memory: int):
        self.frame = Frame(points)
        self.rows = Rows(self.frame, points, memory)
        self.size = len(points)
        self.squares = np.concatenate([2 * _halved_squares(self.rows[part]) for part in points.slices()])

    def __len__(self) -> int:
        return self.size

    def slices(self, width: int) -> list[slice]:
        """All points in slices of so many that they have at most TILE products with ``width`` others."""
        step = max(1, TILE // max(width, self.frame.dim))
        return [slice(start, min(start + step, self.size)) for start in range(0, self.size, step)]


def _run(data: _Data, k: int, random: np.random.Generator, max_iterations: int) -> tuple:
    """One run. ``value`` is half of a point's squared distance to its centre, less half of its own square."""
    label, value, centres = _start(data, k, random)
    changed = np.arange(len(centres))
    iteration = 0
    while len(changed) and iteration < max_iterations:
        iteration += 1
        changed = np.union1d(changed, _fill_empty(data, label, value, len(centres)))
        moved = _move(data, label, centres, changed)
        before = label.copy()
        _assign(data, label, value, centres, moved)
        switched = label != before
        changed = np.union1d(before[switched], label[switched])
    return label, _inertia(data, label, centres), iteration, not len(changed)


def _start(data: _Data, k: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Greedy k-means++: candidates are drawn by their squared distance from the centres so far, and of every
    few the one that lowers the sum of those most becomes a centre. Returns labels, values and centres.

    With many clusters, the best of the other candidates stand again in the next round. What they gain then is cheap to
    tell, since few points have got a nearer centre meanwhile; so half as many new ones do as well.
    """
    label, value = np.zeros(len(data), np.int64), np.full(len(data), np.inf, np.float32)
    centres = np.empty((k, data.frame.dim), np.float32)
    trials, batch, found = 2 + int(np.log(k)), max(1, k // ROUNDS), 0
    kept, fresh = (0, trials) if batch == 1 else (2 * trials, trials // 2 + 1)
    chosen = random.integers(len(data), size=1)
    candidates, gains = np.empty((batch, 0), int), np.empty((batch, 0))
    while True:
        new, before = np.arange(found, found + len(chosen)), value.copy()
        centres[new] = data.rows[chosen]
        _compare(data, None, centres, new, label, value)
        found += len(chosen)
        total = np.cumsum(_squared_distances(data, label, value, centres))
        if found == k or total[-1] <= 0:
            return label, value, centres[:found]
        groups = min(batch, k - found)
        candidates, gains = _best_again(data, candidates[:groups], gains[:groups], before, value, kept)
        drawn = random.random((groups, fresh if gains.size else trials)) * total[-1]
        drawn = np.minimum(np.searchsorted(total, drawn, side="right"), len(data) - 1)
        candidates = np.concatenate([candidates, drawn], axis=1)
        gains = np.concatenate([gains, _gains(data, drawn, value)], axis=1)
        best = np.arange(groups), gains.argmax(axis=1)
        chosen = _apart(data, candidates[best], gains[best], value)


def _best_again(
    data: _Data, candidates: np.ndarray, gains: np.ndarray, before: np.ndarray, value: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The best ``count`` candidates of every group, and what they gain now that values are lower than ``before``."""
    if not count or not gains.size:
        return candidates[:, :0], gains[:, :0]
    changed = np.flatnonzero(value < before)
    gains = gains - _gains(data, candidates, before, changed, value)
    order = np.argsort(-gains, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(candidates, order, axis=1), np.take_along_axis(gains, order, axis=1)


def _apart(data: _Data, points: np.ndarray, gains: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Of the best candidates of a round, those that are nearer to a centre so far than to any better candidate."""
    if len(points) == 1:
        return points
    order = np.argsort(-gains, kind="stable")
    points = points[order]
    rows = data.rows[points]
    claimed = _halved_squares(rows) - rows @ rows.T < value[points][:, None]
    kept: list[int] = []
    for candidate in range(len(points)):
        if not claimed[candidate, kept].any():
            kept.append(candidate)
    return points[kept]


def _squared_distances(data: _Data, label: np.ndarray, value: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Each point's squared distance from its centre, computed anew where rounding could hide a zero."""
    squares = 2.0 * value + data.squares
    close = np.flatnonzero(squares < 1e-4 * data.squares)
    for part in _chunks(close, 4 * data.frame.dim):
        difference = data.rows[part].astype(np.float64) - centres[label[part]]
        squares[part] = np.einsum("ij,ij->i", difference, difference)
    return squares


def _gains(
    data: _Data,
    candidates: np.ndarray,
    value: np.ndarray,
    which: np.ndarray | None = None,
    least: np.ndarray | None = None,
) -> np.ndarray:
    """By how much each candidate would lower the sum of the values (of all points, or of ``which``, and none of these
    further than to their ``least``)."""
    rows = data.rows[candidates.ravel()]
    bias, width = _halved_squares(rows), max(len(rows), data.frame.dim)
    parts: list = data.slices(len(rows)) if which is None else _chunks(which, width)
    least = np.full(len(data), -np.inf, np.float32) if least is None else least

    def of_part(part: np.ndarray | slice) -> np.ndarray:
        return loops().gains(data.rows[part], rows, bias, value[part], least[part])

    return np.sum(for_each(of_part, parts), axis=0, dtype=np.float64).reshape(candidates.shape)


def _halved_squares(rows: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64) / 2


def _chunks(which: np.ndarray, width: int) -> list[np.ndarray]:
    step = max(1, TILE // width)
    return [which[start : start + step] for start in range(0, len(which), step)]


def _compare(
    data: _Data,
    which: np.ndarray | None,
    centres: np.ndarray,
    ids: np.ndarray,
    label: np.ndarray,
    value: np.ndarray,
) -> None:
    """Give points (all, or ``which``) to one of the centres ``ids`` where that is nearer than their own."""
    rows, width = centres[ids], max(1024, data.frame.dim)
    bias = _halved_squares(rows)
    parts: list = data.slices(width) if which is None else _chunks(which, width)

    def compare(part: np.ndarray | slice) -> None:
        nearest, least = label[part], value[part]
        loops().nearest(data.rows[part], rows, bias, ids, nearest, least)
        label[part], value[part] = nearest, least

    for_each(compare, parts)


def _fill_empty(data: _Data, label: np.ndarray, value: np.ndarray, k: int) -> np.ndarray:
    """Give every empty cluster the point farthest from its centre; returns the clusters that this changed."""
    sizes = np.bincount(label, minlength=k)
    empty, changed = np.flatnonzero(sizes == 0), []
    farthest = iter(np.argsort(-(2.0 * value + data.squares), kind="stable")) if len(empty) else iter(())
    for cluster in empty:
        point = next((p for p in farthest if sizes[label[p]] > 1), None)
        if point is None:
            break
        sizes[label[point]] -= 1
        changed += [label[point], cluster]
        label[point], value[point] = cluster, -data.squares[point] / 2
    return np.array(changed, np.int64)


def _move(data: _Data, label: np.ndarray, centres: np.ndarray, changed: np.ndarray) -> np.ndarray:
    """Set the centres of the ``changed`` clusters to the means of their points; returns those that moved."""
    moved = [_move_some(data, label, centres, some) for some in _chunks(changed, 4 * data.frame.dim)]
    return np.concatenate(moved)


def _move_some(data: _Data, label: np.ndarray, centres: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    sizes = np.bincount(label, minlength=len(centres))
    clusters = clusters[sizes[clusters] > 0]
    place = np.full(len(centres), -1)
    place[clusters] = np.arange(len(clusters))
    members = np.flatnonzero(place[label] >= 0)
    members = members[np.argsort(label[members], kind="stable")]
    sums = np.zeros((len(clusters), data.frame.dim))
    for part in _chunks(members, 4 * data.frame.dim):
        present, starts = np.unique(label[part], return_index=True)
        sums[place[present]] += np.add.reduceat(data.rows[part].astype(np.float64), starts, axis=0)
    means = (sums / sizes[clusters, None]).astype(np.float32)
    moved = np.any(means != centres[clusters], axis=1)
    centres[clusters[moved]] = means[moved]
    return clusters[moved]


def _assign(
    data: _Data, label: np.ndarray, value: np.ndarray, centres: np.ndarray, moved: np.ndarray
) -> None:
    """Embeddings whose centre moved away from them are compared with all centres, the others with the moved ones:
    those that stayed were not nearer before, so they cannot be nearer now."""
    is_moved = np.zeros(len(centres), bool)
    is_moved[moved] = True
    affected = np.flatnonzero(is_moved[label])
    now = _own_values(data, affected, label, centres)
    away = np.zeros(len(data), bool)
    away[affected] = now > value[affected]
    value[affected] = now
    _compare(data, np.flatnonzero(away), centres, np.arange(len(centres)), label, value)
    _compare(data, np.flatnonzero(~away), centres, moved, label, value)


def _own_values(data: _Data, which: np.ndarray, label: np.ndarray, centres: np.ndarray) -> np.ndarray:
    half = _halved_squares(centres)
    values = np.empty(len(which), np.float32)
    for part in _chunks(np.arange(len(which)), 4 * data.frame.dim):
        own = label[which[part]]
        values[part] = half[own] - np.einsum(
            "ij,ij->i", data.rows[which[part]], centres[own], dtype=np.float64
        )
    return values


def _inertia(data: _Data, label: np.ndarray, centres: np.ndarray) -> float:
    total = 0.0
    for part in _chunks(np.arange(len(data)), 4 * data.frame.dim):
        difference = data.rows[part].astype(np.float64) - centres[label[part]]
        total += float(np.einsum("ij,ij->", difference, difference))
    return total
