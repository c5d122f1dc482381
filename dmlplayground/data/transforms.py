"""Named image pipelines: what happens to an image between its file and a batch.

A pipeline says how images are stored once they are decoded (``stored``, and ``stored_for_test`` where that
differs) and what is drawn anew for every batch (``train``) or done alike for every image (``test``). Images
are any array-like (N, H, W, 3) of uint8, blocks are arrays (B, h, w, 3) of uint8; normalisation belongs to
the backbone and happens on the device. Everything random comes from the generator handed in, which is derived
from the trial's seed, the epoch and the batch.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..errors import UserError, unknown
from ..options import Option, fill_options, options_of
from . import opencv
from .decoding import Stored

ASPECTS = (math.log(3 / 4), math.log(4 / 3))  # of random-area crops, width to height
TRIES = 10


class Transform:
    """Base: how images are stored, and blocks of them for training and for test."""

    stored: Stored
    stored_for_test: Stored

    def train(self, images: Any, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        raise NotImplementedError

    def test(self, images: Any, rows: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def test_shape(self, images: Any) -> tuple[int, int]:
        """Height and width of a test block."""
        raise NotImplementedError


class Plain(Transform):
    """Images as they are, in training and in test; they must all be of one size."""

    stored = stored_for_test = Stored("none")

    def train(self, images, rows, rng):
        return images[rows]

    def test(self, images, rows):
        return images[rows]

    def test_shape(self, images):
        return _one_size(images, "plain")


class Paper(Transform):
    """The study's text: images of 256 x 256, a random crop of 224 and a flip in training, the centre crop in
    test.

    resize: the size all images are squashed to, whatever their proportions (bicubic).
    crop: the crop's share of height and width; of 256 it is 224. Data sets with a size of their own keep it.
    flip: whether half of the training images are mirrored.
    """

    def __init__(self, *, resize: int = 256, crop: float = 0.875, flip: bool = True):
        _require(0 < crop <= 1, f"transform paper: crop is a share above 0 and at most 1, not {crop}.")
        _require(resize >= 1, f"transform paper: resize must be at least 1, not {resize}.")
        self.stored = self.stored_for_test = Stored("squash", resize)
        self.crop = crop
        self.flip = flip

    def train(self, images, rows, rng):
        height, width = self.test_shape(images)
        count = len(rows)
        tops = rng.integers(0, images.shape[1] - height + 1, count)
        lefts = rng.integers(0, images.shape[2] - width + 1, count)
        flips = rng.random(count) < 0.5 if self.flip else np.zeros(count, bool)
        return windows(images, rows, tops, lefts, height, width, flips)

    def test(self, images, rows):
        height, width = self.test_shape(images)
        tops = np.full(len(rows), (images.shape[1] - height) // 2)
        lefts = np.full(len(rows), (images.shape[2] - width) // 2)
        return windows(images, rows, tops, lefts, height, width, np.zeros(len(rows), bool))

    def test_shape(self, images):
        height, width = _one_size(images, "paper")
        return round(height * self.crop), round(width * self.crop)


class AreaCrop(Transform):
    """What the two pipelines below share: in training a window of random area and proportions, resized to
    ``size``, and a flip; in test the centre of ``size``. A window that does not fit is drawn again, ten
    times, then it is the centre."""

    def __init__(self, size: int, smallest: float, interpolations: tuple[str, ...]):
        _require(size >= 1, f"the transform's size must be at least 1, not {size}.")
        self.size = size
        self.smallest = smallest
        self.interpolations = interpolations

    def train(self, images, rows, rng):
        # Every image takes as many numbers whatever its size, so that others' draws do not depend on it.
        shapes = rng.random((len(rows), TRIES, 2))
        places = rng.random((len(rows), 2))
        flips = rng.random(len(rows)) < 0.5
        kinds = rng.integers(len(self.interpolations), size=len(rows))
        block = np.empty((len(rows), self.size, self.size, 3), np.uint8)
        for target, row, *drawn, flip, kind in zip(block, rows.tolist(), shapes, places, flips, kinds):
            image = images[row]
            window = cut(image, *self._window(*image.shape[:2], *drawn))
            self._write(window, target, flip, self.interpolations[kind])
        return block

    def test(self, images, rows):
        block = np.empty((len(rows), self.size, self.size, 3), np.uint8)
        for target, row in zip(block, rows.tolist()):
            image = images[row]
            self._write(cut(image, *self._centre(*image.shape[:2])), target, False, "cubic")
        return block

    def test_shape(self, images):
        return self.size, self.size

    def _window(
        self, height: int, width: int, shapes: np.ndarray, place: np.ndarray
    ) -> tuple[int, int, int, int]:
        """Top, left, height and width of the first shape that fits, put at ``place``."""
        for share, turn in shapes.tolist():
            area = (self.smallest + (1 - self.smallest) * share) * (height * width)
            aspect = math.exp(ASPECTS[0] + (ASPECTS[1] - ASPECTS[0]) * turn)
            high, wide = round(math.sqrt(area / aspect)), round(math.sqrt(area * aspect))
            if 0 < high <= height and 0 < wide <= width:
                return int(place[0] * (height - high + 1)), int(place[1] * (width - wide + 1)), high, wide
        return self._centre(height, width)

    def _centre(self, height: int, width: int) -> tuple[int, int, int, int]:
        side = min(self.size, height, width)
        return (height - side) // 2, (width - side) // 2, side, side

    def _write(self, window: np.ndarray, target: np.ndarray, flip: bool, interpolation: str) -> None:
        if window.shape[:2] != (self.size, self.size):
            window = opencv.resize(window, self.size, self.size, interpolation)
        _copy(window, target, flip)


class Released(AreaCrop):
    """The study's released code: a window of 8 to 100 % of the area and 3:4 to 4:3, resized to 224 by one of
    OpenCV's five interpolations at random, and a flip; in test the shorter side to 256 and the centre 224.

    squash: the code cuts windows from images squashed to 256 x 256 first where batches are drawn by class
        (N-pairs, angular, margin, prototypical, ranked list), and from images as they are (0) where they are
        shuffled.
    squash_test: test images are squashed too, instead. Its DREML has squash 246 and this.
    size: of the crop, in pixels.
    """

    def __init__(self, *, squash: int = 256, squash_test: bool = False, size: int = 224):
        super().__init__(size, 0.08, tuple(opencv.INTERPOLATIONS))
        _require(squash >= 0, f"transform released: squash is a size in pixels or 0, not {squash}.")
        _require(squash or not squash_test, "transform released: squash_test needs a size to squash to.")
        self.stored = Stored("squash", squash) if squash else Stored("none")
        self.stored_for_test = self.stored if squash_test else Stored("short", 256)


class RealityCheck(AreaCrop):
    """A Metric Learning Reality Check: the shorter side to 256, a window of 16 to 100 % of the area and 3:4
    to 4:3 resized to 227, and a flip; in test the centre 227.

    size: of the crop, in pixels.

    Pillow's bilinear interpolation there averages where it makes images smaller; here ``area`` does when
    images are stored, and crops, which change little, are linear.
    """

    def __init__(self, *, size: int = 227):
        super().__init__(size, 0.16, ("linear",))
        self.stored = self.stored_for_test = Stored("short", 256, "area")


def windows(images: Any, rows: np.ndarray, tops, lefts, height: int, width: int, flips) -> np.ndarray:
    """One window of each image, some mirrored, as one block."""
    block = np.empty((len(rows), height, width, images.shape[3]), np.uint8)
    for target, row, top, left, flip in zip(
        block, rows.tolist(), tops.tolist(), lefts.tolist(), flips.tolist()
    ):
        _copy(cut(images[row], top, left, height, width), target, flip)
    return block


def cut(image: np.ndarray, top: int, left: int, height: int, width: int) -> np.ndarray:
    return image[top : top + height, left : left + width]


def _copy(window: np.ndarray, target: np.ndarray, flip: bool) -> None:
    if flip:
        opencv.flip(window, target)
    else:
        target[...] = window


def _one_size(images: Any, name: str) -> tuple[int, int]:
    _require(
        None not in images.shape,
        f"transform {name} needs images of one size, and these differ; choose another, or load them resized.",
    )
    return images.shape[1:3]


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise UserError(message)


TRANSFORMS: dict[str, type[Transform]] = {
    "plain": Plain,
    "paper": Paper,
    "released": Released,
    "reality_check": RealityCheck,
}


@dataclass(frozen=True)
class TransformRecord:
    name: str
    pipeline: type[Transform]

    @property
    def options(self) -> Mapping[str, Option]:
        return options_of(self.pipeline.__init__, skip=("self",)) if "__init__" in vars(self.pipeline) else {}

    @property
    def description(self) -> str:
        return inspect.getdoc(self.pipeline) or ""


def names() -> list[str]:
    return sorted(TRANSFORMS)


def get(name: Optional[str]) -> TransformRecord:
    if name not in TRANSFORMS:
        raise unknown("transform", name, TRANSFORMS)
    return TransformRecord(name, TRANSFORMS[name])


def create(name: str, **options: Any) -> Transform:
    """A pipeline by name: ``create("paper", crop=0.9).train(images, rows, rng)``."""
    record = get(name)
    return record.pipeline(**fill_options(record.options, options, where=f"transform {name}"))
