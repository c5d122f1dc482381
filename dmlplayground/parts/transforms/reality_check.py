from .shared.base import KIND, AreaCrop, Side
from .shared.stored import Stored


@KIND.register(title="A Metric Learning Reality Check")
class RealityCheck(AreaCrop):
    """A Metric Learning Reality Check: the shorter side to 256, a window of 16 to 100 % of the area and 3:4 to 4:3
    resized to 227, and a flip; in test the centre 227.

    size: height and width of the crop, in pixels.

    Pillow's bilinear interpolation there averages where it makes images smaller; here ``area`` does when images are
    stored, and crops, which change little, are linear.
    """

    smallest = 0.16
    interpolations = ("linear",)
    large_centre = True
    stored = stored_for_test = Stored("short", 256, "area")

    size: Side = 227

    def __post_init__(self) -> None:
        self.test_size = self.size
