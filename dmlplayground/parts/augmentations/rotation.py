from __future__ import annotations

import numpy as np

from ...base import opencv
from .shared.base import KIND, Augmentation


@KIND.register(title="Rotation", also=("RandomRotation",))
class Rotation(Augmentation):
    """Images are turned about their centre by random angles; the corners mirror what lies within.

    degrees: angles are drawn from -this to this.
    chance: the probability that an image is turned.
    """

    def __init__(self, *, degrees: float = 10.0, chance: float = 1.0):
        self.require(0 <= degrees <= 180, f"degrees must be between 0 and 180, not {degrees}.")
        self.require_chance(chance)
        self.degrees = degrees
        self.chance = chance

    def __call__(self, block, rng):
        angles = rng.uniform(-self.degrees, self.degrees, len(block))
        for row in np.flatnonzero(rng.random(len(block)) < self.chance):
            block[row] = opencv.rotate(block[row], angles[row])
