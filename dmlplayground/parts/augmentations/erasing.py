import math
from typing import Literal

import numpy as np

from ...base import opencv
from ...base.options import Fraction, Share
from .shared.base import KIND, Augmentation

TRIES = 10


@KIND.register(title="Random erasing", also=("random erasing", "cutout", "RandomErasing"))
class Erasing(Augmentation):
    """A rectangle of some images is erased (Zhong et al.: Random Erasing Data Augmentation, 2017).

    chance: the probability that an image loses a rectangle.
    smallest: the least share of the image's area.
    largest: the greatest.
    narrowest: the least ratio of height to width, or of width to height; the ratio's logarithm is uniform.
    fill: what stands there instead: ``noise``, a value of its own for every pixel and channel; ``mean``, the image's
        mean colour; ``black``.

    A rectangle that does not fit is drawn again, ten times; then the image stays whole.
    """

    chance: Share = 0.5
    smallest: float = 0.02
    largest: float = 0.4
    narrowest: Fraction = 0.3
    fill: Literal["noise", "mean", "black"] = "noise"

    def __post_init__(self) -> None:
        self.require(
            0 < self.smallest <= self.largest <= 1,
            f"the shares must be above 0 and at most 1, the smallest first, not {self.smallest} and {self.largest}.",
        )

    def __call__(self, block: np.ndarray, rng: np.random.Generator) -> None:
        count = len(block)
        chosen = rng.random(count) < self.chance
        areas = rng.uniform(self.smallest, self.largest, (count, TRIES))
        stretch = -math.log(self.narrowest)
        aspects = np.exp(rng.uniform(-stretch, stretch, (count, TRIES)))
        places = rng.random((count, 2))
        noise = rng.integers(0, 2**63, count)
        for row in np.flatnonzero(chosen):
            part = _rectangle(block[row], areas[row], aspects[row], places[row])
            if part is None:
                continue
            if self.fill == "noise":
                part[...] = np.random.default_rng(int(noise[row])).integers(0, 256, part.shape, np.uint8)
            else:
                part[...] = np.rint(opencv.mean(block[row])) if self.fill == "mean" else 0


def _rectangle(
    image: np.ndarray, areas: np.ndarray, aspects: np.ndarray, place: np.ndarray
) -> np.ndarray | None:
    """The first rectangle that fits, put at ``place``; None if none does."""
    height, width = image.shape[:2]
    for area, aspect in zip((areas * height * width).tolist(), aspects.tolist()):
        high, wide = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < high <= height and 0 < wide <= width:
            top, left = int(place[0] * (height - high + 1)), int(place[1] * (width - wide + 1))
            return image[top : top + high, left : left + wide]
    return None
