"""The base of every transform: the registry, and cutting windows out of images.

A transform says how images are stored once they are decoded (``stored``, and ``stored_for_test`` where that differs) and
what is drawn anew for every batch (``train``) or done alike for every image (``test``). Images are any array-like (N, H,
W, 3) of uint8, blocks are arrays (B, h, w, 3) of uint8; normalisation belongs to the backbone. All that is random comes
from the generator handed in, which is derived from the trial's seed, the epoch and the batch.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from ....base import opencv
from ....base.errors import UserError
from ....base.options import Must, Option
from ....base.registry import Kind, Named, Part, split
from ... import augmentations
from .stored import Stored

ASPECTS = (math.log(3 / 4), math.log(4 / 3))  # of random-area crops, width to height
TRIES = 10
Window = tuple[int, int, int, int]  # top, left, height and width
LARGEST = 4096  # pixels: a batch of larger images would fill any memory
Side = Annotated[int, Must(f"be from 1 to {LARGEST} pixels", lambda side: 1 <= side <= LARGEST)]
SideOrNone = Annotated[int, Must(f"be from 1 to {LARGEST} pixels, or 0", lambda side: 0 <= side <= LARGEST)]


@dataclass(frozen=True)
class Pipeline(Part):
    """A transform. Besides its own options each has ``augment``: augmentations by name, or as mappings with a name and
    options. A configuration without augmentations does not mention it."""

    shared_notes: ClassVar = {"augment": "what training images go through afterwards, in this order."}

    def further(self) -> Mapping[str, Option]:
        return {"augment": Option(list, [])}

    def fill(self, options: Mapping[str, Any], kind: str) -> dict[str, Any]:
        filled = super().fill(options, kind)
        if augment := [_augmentation(given) for given in filled.pop("augment")]:
            filled["augment"] = augment
        return filled


def _augmentation(given: Any) -> dict[str, Any]:
    given = {"name": given} if isinstance(given, str) else given
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise UserError(
            f"transform.augment lists augmentations, each a name or a mapping with a name and options, not {given!r}."
        )
    name, options = split(given)
    return {"name": name, **augmentations.get(name).fill(options, "augmentation")}


KIND: "Kind[Pipeline, Transform]" = Kind(
    "transform",
    "dmlplayground.parts.transforms",
    Pipeline,
    remark="Any of them takes augmentations: augment: [grey, {name: rotation, degrees: 15}] (dmlplayground augmentations)",
)


class Transform(Named):
    """Base: how images are stored, and blocks of them for training and for test.

    >>> dml.transforms.create("paper").stored.describe()
    '256 x 256 pixels'
    """

    kind = "transform"
    stored: Stored = field(init=False)
    stored_for_test: Stored = field(init=False)
    takes_features = False  # rows of numbers instead of images

    def train(self, images: Any, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        raise NotImplementedError

    def test(self, images: Any, rows: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def test_shape(self, images: Any) -> tuple[int, int]:
        """Height and width of a test block."""
        raise NotImplementedError

    def check(self, images: Any) -> None:
        """Raise UserError if no blocks can be made of these images."""
        self.require(
            self.takes_features or len(images.shape) > 2,
            "takes images, but these are features; choose plain.",
        )
        self.test_shape(images)

    def one_size(self, images: Any) -> tuple[int, int]:
        """Height and width of images that must all be alike."""
        self.require(
            None not in images.shape,
            "needs images of one size, but these differ; choose another transform, or load them resized.",
        )
        return images.shape[1:3]


class Augmented(Transform):
    """A transform whose training images go through augmentations."""

    def __init__(self, transform: Transform, steps: Sequence[augmentations.Augmentation]):
        self.transform = transform
        self.steps = steps
        self.stored, self.stored_for_test = transform.stored, transform.stored_for_test

    def train(self, images: Any, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        block = self.transform.train(images, rows, rng)
        for step in self.steps:
            step(block, rng)
        return block

    def test(self, images: Any, rows: np.ndarray) -> np.ndarray:
        return self.transform.test(images, rows)

    def test_shape(self, images: Any) -> tuple[int, int]:
        return self.transform.test_shape(images)


class AreaCrop(Transform):
    """What several transforms share: in training a window of random area and proportions, resized to ``size``, and a
    flip; in test the centre of ``test_size``. A window that does not fit is drawn again, ten times; then it is the
    centre of ``size``, or (``large_centre``) the largest of allowed proportions."""

    smallest = 0.08  # share of the area
    interpolations: ClassVar[tuple[str, ...]]
    large_centre = False
    test_size = 224

    size: Side = 224

    def train(self, images: Any, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        # Every image uses the same number of random draws, so that others' draws do not depend on it.
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

    def test(self, images: Any, rows: np.ndarray) -> np.ndarray:
        block = np.empty((len(rows), self.test_size, self.test_size, 3), np.uint8)
        wanted = self.stored_for_test
        for target, row in zip(block, rows.tolist()):
            image = images[row]
            # A training image is embedded too (for metrics, and for samplers that look), and may be stored larger.
            if wanted.resize == "short" and min(image.shape[:2]) > wanted.size:
                image = wanted.apply(image)
            centre = cut(image, *_centre(image.shape[0], image.shape[1], self.test_size))
            self._write(centre, target, False, "cubic")
        return block

    def test_shape(self, images: Any) -> tuple[int, int]:
        return self.test_size, self.test_size

    def _window(self, height: int, width: int, shapes: np.ndarray, place: np.ndarray) -> Window:
        """The first shape that fits, put at ``place``."""
        for share, turn in shapes.tolist():
            area = (self.smallest + (1 - self.smallest) * share) * (height * width)
            aspect = math.exp(ASPECTS[0] + (ASPECTS[1] - ASPECTS[0]) * turn)
            high, wide = round(math.sqrt(area / aspect)), round(math.sqrt(area * aspect))
            if 0 < high <= height and 0 < wide <= width:
                return int(place[0] * (height - high + 1)), int(place[1] * (width - wide + 1)), high, wide
        if not self.large_centre:
            return _centre(height, width, self.size)
        least, most = (math.exp(bound) for bound in ASPECTS)
        high, wide = min(height, round(width / least)), min(width, round(height * most))
        return (height - high) // 2, (width - wide) // 2, high, wide

    def _write(self, window: np.ndarray, target: np.ndarray, flip: bool, interpolation: str) -> None:
        if window.shape != target.shape:
            window = opencv.resize(window, target.shape[0], target.shape[1], interpolation)
        copy(window, target, flip)


def _centre(height: int, width: int, size: int) -> Window:
    side = min(size, height, width)
    return (height - side) // 2, (width - side) // 2, side, side


def cut(image: np.ndarray, top: int, left: int, height: int, width: int) -> np.ndarray:
    return image[top : top + height, left : left + width]


def copy(window: np.ndarray, target: np.ndarray, flip: bool) -> None:
    if flip:
        opencv.flip(window, target)
    else:
        target[...] = window
