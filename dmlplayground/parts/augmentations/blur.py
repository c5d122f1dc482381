from __future__ import annotations

import numpy as np

from ...base import opencv
from .shared.base import KIND, Augmentation


@KIND.register(title="Gaussian blur", also=("GaussianBlur",))
class Blur(Augmentation):
    """Some images are blurred by a Gaussian of random width.

    chance: the probability that an image is blurred.
    narrowest: the least width (standard deviation), in pixels.
    widest: the greatest width.
    """

    def __init__(self, *, chance: float = 0.5, narrowest: float = 0.1, widest: float = 2.0):
        self.require_chance(chance)
        self.require(
            0 < narrowest <= widest,
            f"the widths must be above 0, the narrowest first, not {narrowest} and {widest}.",
        )
        self.chance = chance
        self.range = narrowest, widest

    def __call__(self, block, rng):
        widths = rng.uniform(*self.range, len(block))
        for row in np.flatnonzero(rng.random(len(block)) < self.chance):
            block[row] = opencv.blur(block[row], widths[row])
