import numpy as np

from ...base.options import Count
from .shared import KIND, BatchSampler, need_classes


@KIND.register(title="Few-shot episodes")
class Episodes(BatchSampler):
    """Few-shot episodes: the supports of one class after another, then the queries of the same classes likewise.

    supports: rows of each class that make its prototype.
    queries: rows of each class that are compared with the prototypes.
    """

    supports: Count = 5
    queries: Count = 5

    def check(self, batch_size: int, num_classes: int | None) -> None:
        rows = self.supports + self.queries
        self.require(
            batch_size % rows == 0,
            f"batch_size {batch_size} is not a whole number of classes with {self.supports} supports and "
            f"{self.queries} queries each ({rows} rows a class).",
        )
        need_classes(batch_size // rows, num_classes, f"an episode of {batch_size} rows")

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        classes = self.groups.classes(rng, self.batch_size // (self.supports + self.queries))
        images = self.groups.draw(rng, classes, self.supports + self.queries)
        return np.concatenate([images[:, : self.supports].ravel(), images[:, self.supports :].ravel()])
