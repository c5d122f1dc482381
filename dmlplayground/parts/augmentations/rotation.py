from typing import Annotated

import numpy as np

from ...base import opencv
from ...base.options import Share, within
from .shared.base import KIND, Augmentation


@KIND.register(title="Rotation", also=("RandomRotation",))
class Rotation(Augmentation):
    """Images are turned about their centre by random angles; the corners mirror what lies within.

    degrees: angles are drawn from -this to this.
    chance: the probability that an image is turned.
    """

    degrees: Annotated[float, within(0, 180)] = 10.0
    chance: Share = 1.0

    def __call__(self, block: np.ndarray, rng: np.random.Generator) -> None:
        angles = rng.uniform(-self.degrees, self.degrees, len(block))
        for row in np.flatnonzero(rng.random(len(block)) < self.chance):
            block[row] = opencv.rotate(block[row], angles[row])
