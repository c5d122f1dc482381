"""The base of every augmentation. It changes a block (B, h, w, 3) of uint8 where it is, image by image.

Everything random comes from the generator handed in. Every image uses the same number of random draws, so that others'
draws do not depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UserError
from ..parts import Kind, Part

KIND: Kind[Part] = Kind(
    "augmentation",
    "dmlplayground.augmentations",
    setting="augment",
    remark="Any transform takes them, in their order: transform: {name: paper, augment: [grey, {name: erasing, chance: 0.3}]}",
)


class Augmentation:
    """Base: called with a block of images and a generator.

    >>> dml.augmentations.create("grey").key
    'grey'
    """

    @property
    def key(self) -> str:
        """The augmentation's key: the name of the file that holds it."""
        return type(self).__module__.rpartition(".")[2]

    def __call__(self, block: np.ndarray, rng: np.random.Generator) -> None:
        raise NotImplementedError

    def require(self, condition: Any, message: str) -> None:
        if not condition:
            raise UserError(f"augmentation {self.key}: {message}")

    def require_chance(self, chance: float) -> None:
        self.require(0 <= chance <= 1, f"chance must be between 0 and 1, not {chance}.")
