from __future__ import annotations

from .shared.base import KIND, BatchSampler, need_classes


@KIND.register(title="Interleaved pairs", also=("N-pairs batches",))
class Pairs(BatchSampler):
    """Interleaved pairs a0 p0 a1 p1 ..., each of another class.

    same_image: the chance that a pair is one image twice (under two augmentations); otherwise it is two different
        images.
    """

    def __init__(self, *, same_image: float = 0.0):
        self.require(
            0 <= same_image <= 1,
            f"same_image is a probability and must be between 0 and 1, not {same_image}.",
        )
        self.same_image = same_image

    def check(self, batch_size, num_classes):
        self.require(batch_size % 2 == 0, f"batch_size {batch_size} is odd; pairs need an even one.")
        need_classes(batch_size // 2, num_classes, f"batch_size {batch_size} as pairs")

    def draw(self, rng):
        classes = self.groups.classes(rng, self.batch_size // 2)
        pairs = self.groups.draw(rng, classes, 2)
        same = rng.random(len(pairs)) < self.same_image
        pairs[same, 1] = pairs[same, 0]
        return pairs.ravel()
