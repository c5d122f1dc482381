import numpy as np

from ...base.options import Count
from .shared import KIND, BatchSampler, need_blocks, need_classes


@KIND.register(title="Class blocks", also=("m per class", "PK batches", "class balanced"))
class Blocks(BatchSampler):
    """Class blocks: some images of one class, then as many of another; the classes of a batch differ.

    per_class: how many images of each class.
    """

    per_class: Count = 5

    def check(self, batch_size: int, num_classes: int | None) -> None:
        blocks = need_blocks(batch_size, self.per_class)
        need_classes(blocks, num_classes, f"batch_size {batch_size} in class blocks of {self.per_class}")

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        classes = self.groups.classes(rng, self.batch_size // self.per_class)
        return self.groups.draw(rng, classes, self.per_class).ravel()
