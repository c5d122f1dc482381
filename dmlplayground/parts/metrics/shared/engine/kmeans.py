"""k-means by Lloyd's iterations from a greedy k-means++ start, for few clusters and for many thousands.

Where scikit-learn's ``KMeans`` spends its time at many clusters, two things are done differently. The start
draws a batch of centres a round, so that candidates are tried by large matrix products; each centre is still
the best of several candidates, which is what gives the greedy start its quality. And an iteration compares a
point only with the centres that moved, unless its own moved away from it; no comparison left out could matter.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .....base import seeds
from .....base.errors import UserError
from .....base.threads import for_each
from . import MEMORY, loops
from .embeddings import Embeddings
from .rounded import Coordinates, KeptRows

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
    Distances to centres are in float32, about the mean of all points: clusters 10,000 times smaller than that blur.

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
    runs = (_Run(data, k, seeds.generator(seed, "kmeans", start)) for start in range(starts))
    return min((run.improved(max_iterations, starts) for run in runs), key=lambda found: found.inertia)


class _Data:
    """The points, and what all steps need to know of them."""

    def __init__(self, points: Embeddings, memory: int):
        frame = Coordinates(points)
        self.dim, self.factor, self.rows = frame.dim, frame.factor, KeptRows(frame, points, memory)
        self.squares = np.concatenate([2 * _halved_squares(self.rows[part]) for part in points.slices()])

    def __len__(self) -> int:
        return len(self.squares)

    def parts(self, width: int, which: np.ndarray | None = None) -> list:
        """Points (all, or ``which``) in parts that have at most TILE products with ``width`` others."""
        step = max(1, TILE // max(width, self.dim))
        if which is None:
            return [slice(start, start + step) for start in range(0, len(self), step)]
        return [which[start : start + step] for start in range(0, len(which), step)]


class _Run:
    """One run: the centres, and of every point its cluster (``label``) and its ``value``, which is half of its squared
    distance to its centre, less half of its own square."""

    def __init__(self, data: _Data, k: int, random: np.random.Generator):
        self.data = data
        self.label = np.zeros(len(data), np.int64)
        self.value = np.full(len(data), np.inf, np.float32)
        self.centres = np.empty((k, data.dim), np.float32)
        self.centres = self.centres[: self._start(k, random)]

    def improved(self, max_iterations: int, starts: int) -> KMeans:
        """Lloyd's iterations, until no point moves."""
        changed = np.arange(len(self.centres))
        iteration = 0
        while len(changed) and iteration < max_iterations:
            iteration += 1
            changed = np.union1d(changed, self._fill_empty())
            moved = np.concatenate([self._move(some) for some in self.data.parts(4 * self.data.dim, changed)])
            before = self.label.copy()
            self._assign(moved)
            switched = self.label != before
            changed = np.union1d(before[switched], self.label[switched])
        differences = (away for _, away in self._away(np.arange(len(self.data))))
        inertia = sum(float(np.einsum("ij,ij->", away, away)) for away in differences)
        return KMeans(self.label, inertia / self.data.factor**2, starts, iteration, not len(changed))

    def _start(self, k: int, random: np.random.Generator) -> int:
        """Greedy k-means++: candidates are drawn by their squared distance from the centres so far, and of every
        few the one that lowers the sum of those most becomes a centre. Returns how many centres there are.

        With many clusters, the best of the other candidates stand again in the next round. What they gain then is cheap to
        tell, since few points have got a nearer centre meanwhile; so half as many new ones do as well.
        """
        trials, batch, found = 2 + int(np.log(k)), max(1, k // ROUNDS), 0
        kept, fresh = (0, trials) if batch == 1 else (2 * trials, trials // 2 + 1)
        chosen = random.integers(len(self.data), size=1)
        candidates, gains = np.empty((batch, 0), int), np.empty((batch, 0))
        while True:
            new, before = np.arange(found, found + len(chosen)), self.value.copy()
            self.centres[new] = self.data.rows[chosen]
            self._compare(new)
            found += len(chosen)
            total = np.cumsum(self._squared_distances())
            if found == k or total[-1] <= 0:
                return found
            groups = min(batch, k - found)
            candidates, gains = self._best_again(candidates[:groups], gains[:groups], before, kept)
            drawn = random.random((groups, fresh if gains.size else trials)) * total[-1]
            drawn = np.minimum(np.searchsorted(total, drawn, side="right"), len(self.data) - 1)
            candidates = np.concatenate([candidates, drawn], axis=1)
            gains = np.concatenate([gains, self._gains(drawn, self.value)], axis=1)
            best = np.arange(groups), gains.argmax(axis=1)
            chosen = self._apart(candidates[best], gains[best])

    def _best_again(
        self, candidates: np.ndarray, gains: np.ndarray, before: np.ndarray, count: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best ``count`` candidates of every group, and what they gain now that values are lower than ``before``."""
        if not count or not gains.size:
            return candidates[:, :0], gains[:, :0]
        gains = gains - self._gains(candidates, before, np.flatnonzero(self.value < before), self.value)
        order = np.argsort(-gains, axis=1, kind="stable")[:, :count]
        return np.take_along_axis(candidates, order, axis=1), np.take_along_axis(gains, order, axis=1)

    def _apart(self, points: np.ndarray, gains: np.ndarray) -> np.ndarray:
        """Of the best candidates of a round, those that are nearer to a centre so far than to any better candidate."""
        if len(points) == 1:
            return points
        points = points[np.argsort(-gains, kind="stable")]
        rows = self.data.rows[points]
        claimed = _halved_squares(rows) - rows @ rows.T < self.value[points][:, None]
        kept: list[int] = []
        for candidate in range(len(points)):
            if not claimed[candidate, kept].any():
                kept.append(candidate)
        return points[kept]

    def _away(self, which: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Of these points, part after part: which they are, and their differences from their centres."""
        for part in self.data.parts(4 * self.data.dim, which):
            yield part, self.data.rows[part].astype(np.float64) - self.centres[self.label[part]]

    def _squared_distances(self) -> np.ndarray:
        """Each point's squared distance from its centre, computed anew where rounding could hide a zero."""
        squares = 2.0 * self.value + self.data.squares
        for part, away in self._away(np.flatnonzero(squares < 1e-4 * self.data.squares)):
            squares[part] = np.einsum("ij,ij->i", away, away)
        return squares

    def _gains(
        self,
        candidates: np.ndarray,
        value: np.ndarray,
        which: np.ndarray | None = None,
        least: np.ndarray | None = None,
    ) -> np.ndarray:
        """By how much each candidate would lower the sum of the values (of all points, or of ``which``, and none of these
        further than to their ``least``)."""
        rows = self.data.rows[candidates.ravel()]
        bias = _halved_squares(rows)
        least = np.full(len(value), -np.inf, np.float32) if least is None else least

        def of_part(part: np.ndarray | slice) -> np.ndarray:
            return loops().gains(self.data.rows[part], rows, bias, value[part], least[part])

        found = for_each(of_part, self.data.parts(len(rows), which))
        return np.sum(found, axis=0, dtype=np.float64).reshape(candidates.shape)

    def _compare(self, ids: np.ndarray, which: np.ndarray | None = None) -> None:
        """Give points (all, or ``which``) to one of the centres ``ids`` where that is nearer than their own."""
        rows = self.centres[ids]
        bias = _halved_squares(rows)

        def compare(part: np.ndarray | slice) -> None:
            label, value = self.label[part], self.value[part]
            loops().nearest(self.data.rows[part], rows, bias, ids, label, value)
            self.label[part], self.value[part] = label, value

        for_each(compare, self.data.parts(1024, which))

    def _fill_empty(self) -> np.ndarray:
        """Give every empty cluster the point farthest from its centre; returns the clusters that this changed."""
        sizes = np.bincount(self.label, minlength=len(self.centres))
        empty, changed = np.flatnonzero(sizes == 0), []
        farthest = iter(
            np.argsort(-(2.0 * self.value + self.data.squares), kind="stable") if len(empty) else ()
        )
        for cluster in empty:
            point = next((p for p in farthest if sizes[self.label[p]] > 1), None)
            if point is None:
                break
            sizes[self.label[point]] -= 1
            changed += [self.label[point], cluster]
            self.label[point], self.value[point] = cluster, -self.data.squares[point] / 2
        return np.array(changed, np.int64)

    def _move(self, clusters: np.ndarray) -> np.ndarray:
        """Set the centres of these clusters to the means of their points; returns those that moved."""
        sizes = np.bincount(self.label, minlength=len(self.centres))
        clusters = clusters[sizes[clusters] > 0]
        place = np.full(len(self.centres), -1)
        place[clusters] = np.arange(len(clusters))
        members = np.flatnonzero(place[self.label] >= 0)
        members = members[np.argsort(self.label[members], kind="stable")]
        sums = np.zeros((len(clusters), self.data.dim))
        for part in self.data.parts(4 * self.data.dim, members):
            present, starts = np.unique(self.label[part], return_index=True)
            sums[place[present]] += np.add.reduceat(self.data.rows[part].astype(np.float64), starts, axis=0)
        means = (sums / sizes[clusters, None]).astype(np.float32)
        moved = np.any(means != self.centres[clusters], axis=1)
        self.centres[clusters[moved]] = means[moved]
        return clusters[moved]

    def _assign(self, moved: np.ndarray) -> None:
        """Embeddings whose centre moved away from them are compared with all centres, the others with the moved ones:
        those that stayed were not nearer before, so they cannot be nearer now."""
        affected = np.flatnonzero(np.isin(self.label, moved))
        half, now = _halved_squares(self.centres), np.empty(len(affected), np.float32)
        for places in self.data.parts(4 * self.data.dim, np.arange(len(affected))):
            part = affected[places]
            own = self.label[part]
            products = np.einsum("ij,ij->i", self.data.rows[part], self.centres[own], dtype=np.float64)
            now[places] = half[own] - products
        away = np.zeros(len(self.data), bool)
        away[affected] = now > self.value[affected]
        self.value[affected] = now
        self._compare(np.arange(len(self.centres)), np.flatnonzero(away))
        self._compare(moved, np.flatnonzero(~away))


def _halved_squares(rows: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64) / 2
