from typing import Annotated

import numpy as np

from ...base import opencv
from ...base.options import Share, within
from .shared import colours
from .shared.base import KIND, Augmentation


@KIND.register(title="Colour jitter", also=("color jitter", "ColorJitter"))
class ColourJitter(Augmentation):
    """Brightness, contrast, saturation and hue of every image changed a little, in random order.

    brightness: pixels are multiplied by a factor drawn from 1 - this to 1 + this.
    contrast: the same for their distance from the image's mean grey.
    saturation: the same for their distance from their own grey.
    hue: the hue is moved by a share of the circle of colours drawn from -this to this.

    The four are one multiplication of every pixel, which is rounded and cut to 0 .. 255 once, at the end. The circle
    of colours is that of the YIQ axes.
    """

    brightness: Share = 0.2
    contrast: Share = 0.2
    saturation: Share = 0.2
    hue: Annotated[float, within(0, 0.5)] = 0.2

    def __post_init__(self) -> None:
        self.widths = np.array([self.brightness, self.contrast, self.saturation, self.hue])

    def __call__(self, block: np.ndarray, rng: np.random.Generator) -> None:
        drawn = rng.uniform(-1, 1, (len(block), 4)) * self.widths
        orders = rng.random((len(block), 4)).argsort(axis=1)
        for image, changes, order in zip(block, drawn, orders):
            image[...] = opencv.recolour(image, self._matrix(image, changes.tolist(), order.tolist()))

    def _matrix(self, image: np.ndarray, changes: list[float], order: list[int]) -> np.ndarray:
        mean = opencv.mean(image) if changes[1] else np.zeros(3)
        matrix = colours.brighter(1)
        for which in order:
            if which == 0:
                change = colours.brighter(1 + changes[0])
            elif which == 1:
                grey = colours.LUMA @ (matrix[:, :3] @ mean + matrix[:, 3])
                change = colours.contrasted(1 + changes[1], grey)
            elif which == 2:
                change = colours.saturated(1 + changes[2])
            else:
                change = colours.turned(changes[3])
            matrix = colours.after(matrix, change)
        return matrix
