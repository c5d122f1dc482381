import numpy as np

from ...base.options import Share
from .shared import KIND, BatchSampler, need_classes


@KIND.register(title="Interleaved pairs", also=("N-pairs batches",))
class Pairs(BatchSampler):
    """Interleaved pairs a0 p0 a1 p1 ..., each of another class.

    same_image: the chance that a pair is one image twice (under two augmentations); otherwise it is two different
        images.
    """

    same_image: Share = 0.0

    def check(self, batch_size: int, num_classes: int | None) -> None:
        self.require(batch_size % 2 == 0, f"batch_size {batch_size} is odd; pairs need an even one.")
        need_classes(batch_size // 2, num_classes, f"batch_size {batch_size} as pairs")

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        classes = self.groups.classes(rng, self.batch_size // 2)
        pairs = self.groups.draw(rng, classes, 2)
        same = rng.random(len(pairs)) < self.same_image
        pairs[same, 1] = pairs[same, 0]
        return pairs.ravel()
