import numpy as np

from .shared import KIND, BatchSampler, need_classes


@KIND.register(title="Random images and one positive pair", also=("SPC-R", "full random"))
class RandomPair(BatchSampler):
    """Random images, except the last: another image of the class of one of the others, so that every batch has a
    positive pair.

    Each of the first images is drawn alone: a class uniformly, then an image of it. The last image shares the class of
    a random one of them and is not that image, unless the class has no other.
    """

    def check(self, batch_size: int, num_classes: int | None) -> None:
        self.require(batch_size >= 2, f"batch_size must be at least 2, not {batch_size}.")
        need_classes(2, num_classes, "a batch")

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        classes = rng.integers(self.groups.count, size=self.batch_size - 1)
        images = self.groups.draw_freely(rng, classes, 1).ravel()
        anchor = images[rng.integers(len(images))]
        return np.append(images, self.groups.classmates(rng, np.array([anchor]), 1))
