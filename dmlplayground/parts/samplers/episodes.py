from __future__ import annotations

import numpy as np

from .shared.base import KIND, BatchSampler, need_classes


@KIND.register(title="Few-shot episodes")
class Episodes(BatchSampler):
    """Few-shot episodes: the supports of one class after another, then the queries of the same classes likewise.

    supports: rows of each class that make its prototype.
    queries: rows of each class that are compared with the prototypes.
    """

    def __init__(self, *, supports: int = 5, queries: int = 5):
        self.require(
            min(supports, queries) >= 1,
            f"supports and queries must be at least 1, not {supports} and {queries}.",
        )
        self.supports = supports
        self.queries = queries

    def check(self, batch_size, num_classes):
        rows = self.supports + self.queries
        self.require(
            batch_size % rows == 0,
            f"batch_size {batch_size} is not a whole number of classes with {self.supports} supports and "
            f"{self.queries} queries each ({rows} rows a class).",
        )
        need_classes(batch_size // rows, num_classes, f"an episode of {batch_size} rows")

    def draw(self, rng):
        classes = self.groups.classes(rng, self.batch_size // (self.supports + self.queries))
        images = self.groups.draw(rng, classes, self.supports + self.queries)
        return np.concatenate([images[:, : self.supports].ravel(), images[:, self.supports :].ravel()])
