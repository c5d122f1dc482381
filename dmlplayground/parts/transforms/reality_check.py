from __future__ import annotations

from .shared.base import KIND, AreaCrop
from .shared.stored import Stored


@KIND.register(title="A Metric Learning Reality Check")
class RealityCheck(AreaCrop):
    """A Metric Learning Reality Check: the shorter side to 256, a window of 16 to 100 % of the area and 3:4 to 4:3
    resized to 227, and a flip; in test the centre 227.

    size: height and width of the crop, in pixels.

    Pillow's bilinear interpolation there averages where it makes images smaller; here ``area`` does when images are
    stored, and crops, which change little, are linear.
    """

    def __init__(self, *, size: int = 227):
        super().__init__(size, 0.16, ("linear",), large_centre=True)
        self.stored = self.stored_for_test = Stored("short", 256, "area")
