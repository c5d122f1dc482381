"""Where the positives of queries stand among all references: what every metric of retrieval is computed from."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .....base.errors import UserError


@dataclass(frozen=True)
class Ranks:
    """The ranks of each query's positives: 1 is the nearest reference of all.

    ``rank`` lists them query after query, ascending within a query; ``counts`` says how many belong to each;
    ``relevant`` is R. Ranks are listed as far as ``depth`` (one number a query): what is missing lies deeper.

    >>> found = dml.metrics.Ranks(rank=np.array([1, 3]), counts=np.array([2]), relevant=np.array([2]), depth=np.array([4]))
    >>> dml.metrics.r_precision(found)
    array([0.5])
    """

    rank: np.ndarray
    counts: np.ndarray
    relevant: np.ndarray
    depth: np.ndarray

    @classmethod
    def of(cls, ranks: Sequence[Sequence[int]], relevant: Sequence[int] | None = None) -> "Ranks":
        """Ranks given as one list a query; ``relevant`` where a query has more positives than are listed."""
        counts = np.array([len(row) for row in ranks], dtype=np.int64)
        flat = np.array([rank for row in ranks for rank in sorted(row)], dtype=np.int64)
        wanted = counts if relevant is None else np.asarray(relevant, dtype=np.int64)
        return cls(flat, counts, wanted, np.full(len(counts), np.iinfo(np.int64).max))

    def __len__(self) -> int:
        return len(self.counts)

    def total(self, values: np.ndarray) -> np.ndarray:
        """The sum over each query's listed positives of ``values`` (one a positive)."""
        return np.bincount(self._query, weights=values, minlength=len(self))

    def hits(self) -> np.ndarray:
        """For each listed positive: how many are at its rank or nearer (1, 2, ... within a query)."""
        return np.arange(1, len(self.rank) + 1) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)

    def within(self, depth: np.ndarray | int) -> np.ndarray:
        """For each listed positive: is its rank at most ``depth`` (one number, or one a query)?"""
        depth = np.broadcast_to(depth, len(self))
        if np.any(depth > self.depth):
            raise UserError(f"ranks are known to depth {self.depth.min()} only, not to {depth.max()}.")
        return self.rank <= depth[self._query]

    @functools.cached_property
    def _query(self) -> np.ndarray:
        return np.repeat(np.arange(len(self)), self.counts)
