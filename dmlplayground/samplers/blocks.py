from __future__ import annotations

from .base import KIND, BatchSampler, need_classes


@KIND.register(title="Class blocks", also=("m per class", "PK batches", "class balanced"))
class Blocks(BatchSampler):
    """Class blocks: some images of one class, then as many of another; the classes of a batch differ.

    per_class: how many images of each class.
    """

    def __init__(self, *, per_class: int = 5):
        self.require(per_class >= 1, f"per_class must be at least 1, not {per_class}.")
        self.per_class = per_class

    def check(self, batch_size, num_classes):
        over = batch_size % self.per_class
        near = [str(size) for size in (batch_size - over, batch_size - over + self.per_class) if size]
        self.require(
            not over,
            f"batch_size {batch_size} is not a whole number of class blocks of {self.per_class} "
            f"(sampler.per_class); the nearest sizes are {', '.join(near)}.",
        )
        what = f"batch_size {batch_size} in class blocks of {self.per_class}"
        need_classes(batch_size // self.per_class, num_classes, what)

    def draw(self, rng):
        classes = self.groups.classes(rng, self.batch_size // self.per_class)
        return self.groups.draw(rng, classes, self.per_class).ravel()
