from typing import Any

import numpy as np

from .shared.base import KIND, Transform
from .shared.stored import Stored


@KIND.register(title="Images as they are")
class Plain(Transform):
    """Images unchanged, in training and in test; all must have the same size. Also for features."""

    takes_features = True
    stored = stored_for_test = Stored("none")

    def train(self, images: Any, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return images[rows]

    def test(self, images: Any, rows: np.ndarray) -> np.ndarray:
        return images[rows]

    def test_shape(self, images: Any) -> tuple[int, int]:
        return self.one_size(images) if images.ndim > 2 else (1, images.shape[1])
