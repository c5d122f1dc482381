from typing import Annotated

import numpy as np

from ...base import opencv
from ...base.options import Share, within
from .shared.base import KIND, Augmentation

LUMA = np.array([0.299, 0.587, 0.114])  # how bright red, green and blue appear
GREY = np.tile(LUMA, (3, 1))
# Brightness and two axes of colour (YIQ), in which a change of hue is a turn.
_YIQ = np.array([LUMA, [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])


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
        matrix = scaled(np.eye(3))
        for which in order:
            factor = 1 + changes[which]
            if which == 0:
                change = scaled(factor * np.eye(3))
            elif which == 1:  # away from the image's mean grey, or towards it
                grey = LUMA @ (matrix[:, :3] @ mean + matrix[:, 3])
                change = scaled(factor * np.eye(3), (1 - factor) * grey)
            elif which == 2:  # away from every pixel's own grey, or towards it
                change = scaled(factor * np.eye(3) + (1 - factor) * GREY)
            else:
                change = turned(changes[3])
            matrix = after(matrix, change)
        return matrix


# Changes of colour are matrices (3, 4): a pixel times the first three columns, plus the last.
def scaled(colours: np.ndarray, offset: float = 0.0) -> np.ndarray:
    """The matrix with these three columns, and an offset shared by all channels."""
    return np.column_stack([colours, np.full(3, offset)])


def turned(share: float) -> np.ndarray:
    """The hue moved by a share of the circle of colours; brightness stays."""
    cosine, sine = np.cos(2 * np.pi * share), np.sin(2 * np.pi * share)
    turn = np.array([[1, 0, 0], [0, cosine, sine], [0, -sine, cosine]])
    return scaled(np.linalg.inv(_YIQ) @ turn @ _YIQ)


def after(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Both changes as one."""
    return np.column_stack([second[:, :3] @ first[:, :3], second[:, :3] @ first[:, 3] + second[:, 3]])
