import numpy as np

from ...base import opencv
from ...base.options import Share
from .colour_jitter import GREY, scaled
from .shared.base import KIND, Augmentation


@KIND.register(title="Grey images", also=("gray", "grayscale", "RandomGrayscale"))
class Grey(Augmentation):
    """Some images lose their colours.

    chance: the probability that an image becomes grey.
    """

    chance: Share = 0.2

    def __call__(self, block: np.ndarray, rng: np.random.Generator) -> None:
        for row in np.flatnonzero(rng.random(len(block)) < self.chance):
            block[row] = opencv.recolour(block[row], scaled(GREY))
