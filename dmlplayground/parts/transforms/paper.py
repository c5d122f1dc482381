from typing import Any

import numpy as np

from ...base.options import Fraction
from .shared.base import KIND, Side, Transform, copy, cut
from .shared.stored import Stored


@KIND.register(title="The first study's text")
class Paper(Transform):
    """The first study's text: images of 256 x 256, a random crop of 224 and a flip in training, the centre in test.

    resize: the size all images are squashed to, whatever their proportions (bicubic).
    crop: the crop's share of height and width; of 256 it is 224. Data sets with a size of their own keep it.
    flip: whether half of the training images are mirrored.
    """

    resize: Side = 256
    crop: Fraction = 0.875
    flip: bool = True

    def __post_init__(self) -> None:
        self.stored = self.stored_for_test = Stored("squash", self.resize)

    def train(self, images: Any, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        height, width = self.test_shape(images)
        count = len(rows)
        tops = rng.integers(0, images.shape[1] - height + 1, count)
        lefts = rng.integers(0, images.shape[2] - width + 1, count)
        flips = rng.random(count) < 0.5 if self.flip else np.zeros(count, bool)
        block = np.empty((count, height, width, images.shape[3]), np.uint8)
        drawn = (rows.tolist(), tops.tolist(), lefts.tolist(), flips.tolist())
        for target, row, top, left, flip in zip(block, *drawn):
            copy(cut(images[row], top, left, height, width), target, flip)
        return block

    def test(self, images: Any, rows: np.ndarray) -> np.ndarray:
        height, width = self.test_shape(images)
        top, left = (images.shape[1] - height) // 2, (images.shape[2] - width) // 2
        cuts = (cut(images[row], top, left, height, width) for row in rows.tolist())
        return np.fromiter(cuts, np.dtype((np.uint8, (height, width, images.shape[3]))), len(rows))

    def test_shape(self, images: Any) -> tuple[int, int]:
        height, width = self.one_size(images)
        return round(height * self.crop), round(width * self.crop)
