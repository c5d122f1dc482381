from dataclasses import field

import numpy as np

from ...base.options import Count
from .blocks import Blocks
from .shared import KIND, need_blocks, need_classes


@KIND.register(title="n samples per class", also=("SPC-n", "SPC-2", "SPC-4", "SPC-8", "class random"))
class PerClass(Blocks):
    """Batches of n images of each class, class after class (SPC-n, for n samples per class).

    n: how many images of each class.
    replacement: whether classes and images are drawn with replacement, as in the study's released code: a class can
        come twice, and a "positive" can then be the same image (about 1 pair in 30 on CUB, 1 in 4 or 5 on SOP). By
        default classes differ, and images too where the class has enough.
    """

    per_class: int = field(init=False)
    n: Count = 2
    replacement: bool = False

    def __post_init__(self) -> None:
        self.per_class = self.n

    def check(self, batch_size: int, num_classes: int | None) -> None:
        if not self.replacement:
            super().check(batch_size, num_classes)
        need_classes(need_blocks(batch_size, self.per_class), None, f"batch_size {batch_size}")

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        if not self.replacement:
            return super().draw(rng)
        classes = rng.integers(self.groups.count, size=self.batch_size // self.per_class)
        return self.groups.draw_freely(rng, classes, self.per_class).ravel()
