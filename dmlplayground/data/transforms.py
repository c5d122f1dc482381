"""Named image pipelines: what happens to a block of stored images on its way into a batch.

A pipeline says how images are stored (``stored``: the size and the way to reach it, done once when a data set is
decoded) and what is drawn anew for every batch (``train``) or done alike for every image (``test``). Blocks are uint8
(B, H, W, 3) arrays; normalisation belongs to the backbone and happens on the device. Everything random comes from the
generator handed in, which is derived from the trial's seed, the epoch and the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..errors import UserError, unknown
from ..typed import Option, fill_options, options_of


class Plain:
    """Images as they are, in training and in test."""

    def train(self, images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return images

    def test(self, images: np.ndarray) -> np.ndarray:
        return images


class Paper(Plain):
    """The study's text: images of 256 x 256, a random crop of 224 and a flip in training, the centre crop in test.

    Images stored at another size keep its proportion: the crop is ``crop`` of their height and width.
    """

    def __init__(self, *, crop: float = 0.875, flip: bool = True):
        if not 0 < crop <= 1:
            raise UserError(f"transform paper: crop is a share above 0 and at most 1, not {crop}.")
        self.crop = crop
        self.flip = flip

    def train(self, images, rng):
        height, width = self._size(images)
        count = len(images)
        tops = rng.integers(0, images.shape[1] - height + 1, count)
        lefts = rng.integers(0, images.shape[2] - width + 1, count)
        flips = rng.random(count) < 0.5 if self.flip else np.zeros(count, bool)
        return crops(images, tops, lefts, height, width, flips)

    def test(self, images):
        height, width = self._size(images)
        top, left = (images.shape[1] - height) // 2, (images.shape[2] - width) // 2
        return images[:, top : top + height, left : left + width]

    def _size(self, images: np.ndarray) -> tuple[int, int]:
        return round(images.shape[1] * self.crop), round(images.shape[2] * self.crop)


def crops(images, tops, lefts, height: int, width: int, flips) -> np.ndarray:
    """One window of each image, some mirrored, as one block."""
    block = np.empty((len(images), height, width, images.shape[3]), images.dtype)
    for row, (top, left, flip) in enumerate(zip(tops.tolist(), lefts.tolist(), flips.tolist())):
        window = images[row, top : top + height, left : left + width]
        block[row] = window[:, ::-1] if flip else window
    return block


TRANSFORMS: dict[str, type[Plain]] = {"plain": Plain, "paper": Paper}


@dataclass(frozen=True)
class TransformRecord:
    name: str
    pipeline: type[Plain]

    @property
    def options(self) -> Mapping[str, Option]:
        return options_of(self.pipeline.__init__, skip=("self",)) if "__init__" in vars(self.pipeline) else {}


def get(name: Optional[str]) -> TransformRecord:
    if name not in TRANSFORMS:
        raise unknown("transform", name, TRANSFORMS)
    return TransformRecord(name, TRANSFORMS[name])


def create(name: str, **options: Any) -> Plain:
    record = get(name)
    return record.pipeline(**fill_options(record.options, options, where=f"transform {name}"))
