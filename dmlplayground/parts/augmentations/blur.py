import numpy as np

from ...base import opencv
from ...base.options import Share
from .shared.base import KIND, Augmentation


@KIND.register(title="Gaussian blur", also=("GaussianBlur",))
class Blur(Augmentation):
    """Some images are blurred by a Gaussian of random width.

    chance: the probability that an image is blurred.
    narrowest: the least width (standard deviation), in pixels.
    widest: the greatest width.
    """

    chance: Share = 0.5
    narrowest: float = 0.1
    widest: float = 2.0

    def __post_init__(self) -> None:
        self.require(
            0 < self.narrowest <= self.widest,
            f"the widths must be above 0, the narrowest first, not {self.narrowest} and {self.widest}.",
        )

    def __call__(self, block: np.ndarray, rng: np.random.Generator) -> None:
        widths = rng.uniform(self.narrowest, self.widest, len(block))
        for row in np.flatnonzero(rng.random(len(block)) < self.chance):
            block[row] = opencv.blur(block[row], widths[row])
