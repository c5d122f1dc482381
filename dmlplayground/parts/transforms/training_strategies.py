from typing import Literal

import numpy as np

from .shared.base import KIND, AreaCrop, Side, Window
from .shared.stored import Stored


@KIND.register(
    title="Revisiting Training Strategies", also=("Roth et al.", "roth", "revisiting training strategies")
)
class TrainingStrategies(AreaCrop):
    """Revisiting Training Strategies and Generalization Performance: a window of 8 to 100 % of the area and 3:4 to 4:3
    resized to 224, and a flip; in test the shorter side to 256 and the centre 224.

    crop: ``area`` is that window; ``window`` is the study's augmentation "red": the shorter side to 256 in training
        too, and a window of the size itself.
    size: height and width of the crop in training, in pixels; the study's augmentation "big" has 256.
    test_size: those of the crop in test.

    The study's augmentation "adv" is augment: [grey, colour_jitter] at their defaults.
    """

    interpolations = ("antialiased",)
    large_centre = True
    stored_for_test = Stored("short", 256, "area")

    crop: Literal["area", "window"] = "area"
    test_size: Side = 224

    def __post_init__(self) -> None:
        self.stored = self.stored_for_test if self.crop == "window" else Stored("none")

    def _window(self, height: int, width: int, shapes: np.ndarray, place: np.ndarray) -> Window:
        if self.crop == "area":
            return super()._window(height, width, shapes, place)
        side = min(self.size, height, width)
        return int(place[0] * (height - side + 1)), int(place[1] * (width - side + 1)), side, side
