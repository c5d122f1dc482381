"""How decoded images are stored."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ....base import opencv


@dataclass(frozen=True)
class Stored:
    """How decoded images are stored (each is decoded once): at what size, and how they are resized.

    ``squash`` makes them ``size`` x ``size``, ``short`` makes the shorter side ``size``, ``none`` leaves
    them.

    >>> dml.data.Stored("short", 256).shape(300, 600)
    (256, 512)
    """

    resize: Literal["squash", "short", "none"] = "squash"
    size: int = 256
    interpolation: str = "cubic"

    def shape(self, height: int, width: int) -> tuple[int, int]:
        """The stored size of an image of this height and width."""
        if self.resize == "squash":
            return self.size, self.size
        if self.resize == "short":
            shorter = min(height, width)
            return max(1, self.size * height // shorter), max(1, self.size * width // shorter)
        return height, width

    def fixed(self, size: int | None) -> int | None:
        """Height and width of all stored images, if they are alike: ``size`` is that of all images, where they have one."""
        if self.resize == "squash":
            return self.size
        return size and self.shape(size, size)[0]

    def apply(self, image: np.ndarray) -> np.ndarray:
        height, width = self.shape(*image.shape[:2])
        if (height, width) == image.shape[:2]:
            return image
        return opencv.resize(image, height, width, self.interpolation)

    def describe(self) -> str:
        if self.resize == "squash":
            return f"{self.size} x {self.size} pixels"
        return f"{self.size} pixels on the shorter side" if self.resize == "short" else "sizes as they are"
