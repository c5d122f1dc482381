"""glyphs, the built-in data set: a class is a character, drawn in many typefaces and colours."""

import math
from typing import Annotated, Any

import numpy as np

from ...base import seeds
from ...base.errors import UserError
from ...base.options import Must, within
from . import KIND, SPLITS, Dataset
from .shared import cache

#: Raise it whenever the same options give other pictures than before: it names the cached ones.
GENERATION = 4
ROOM = 100e9  # bytes that the pictures of both splits may take


def _training_classes(**options: Any) -> int:
    _check_room(**options)
    return math.ceil(options["classes"] / len(SPLITS))


@KIND.register(
    title="Printed characters in many typefaces",
    settings={"transform": "plain"},
    training_classes=_training_classes,
)
def load(
    split: str,
    *,
    classes: Annotated[int, within(2, 40_000)] = 200,
    images_per_class: Annotated[int, within(2, 100_000)] = 45,
    size: Annotated[int, within(16, 512)] = 64,
    strength: Annotated[float, within(0, 1)] = 0.85,
    seed: Annotated[int, Must("be 0 or more", lambda seed: seed >= 0)] = 0,
) -> Dataset:
    """Characters drawn from the typefaces that come with matplotlib; nothing is downloaded.

    classes: how many in both splits together, half in each. Beyond the two hundred or so characters that
        cannot be mistaken for another, a class is a pair of them: there are classes by the ten thousand.
    images_per_class: about how many; a class has between two thirds and four thirds of this number.
    size: height and width in pixels.
    strength: how far the pictures of a class differ in colour, background, angle, slant, proportions, size,
        place and noise, from 0 to 1. At 0 raw pixels recognise nearly everything, at 1 nearly nothing.
    seed: another seed draws other characters and other pictures.

    A picture depends on the seed, the class, its number within the class, size and strength alone, and a
    class stays in its split: more classes or more images only add to what was there. The same versions of
    Pillow, NumPy and matplotlib draw the same bytes on every machine.
    """
    _check_room(classes, images_per_class, size)
    from importlib.metadata import version  # these imported here, since listings load this file

    from PIL import features

    key = {  # all that decides the drawn bytes
        "split": split,
        "classes": classes,
        "images_per_class": images_per_class,
        "size": size,
        "strength": strength,
        "seed": seed,
        "generation": GENERATION,
        "matplotlib": version("matplotlib"),
        "numpy": np.__version__,
        "pillow": version("pillow"),
        "freetype": str(features.version("freetype2")),
    }
    drawn = (split, classes, images_per_class, size, strength, seed)
    stored = cache.arrays("glyphs", key, lambda: _draw(*drawn))
    names = tuple(str(name) for name in stored["class_names"])
    return Dataset("glyphs", split, stored["images"], np.asarray(stored["labels"]), names)


def _check_room(classes: int, images_per_class: int, size: int, **_: Any) -> None:
    room = classes * images_per_class * size**2 * 3
    if room > ROOM:
        raise UserError(
            f"data set glyphs: the pictures must take at most {ROOM / 1e9:,.0f} GB, not {room / 1e9:,.0f}: "
            "choose fewer classes or images_per_class, or a smaller size."
        )


def _draw(
    split: str, classes: int, images_per_class: int, size: int, strength: float, seed: int
) -> cache.Arrays:
    from .shared import characters  # imported here, since listings load this file and Pillow is slow to load

    # Every other class, so that a class stays in its split however many follow.
    texts = _texts(classes, seed)[SPLITS.index(split) :: len(SPLITS)]
    counts = [_count(text, images_per_class, seed) for text in texts]
    images = np.empty((sum(counts), size, size, 3), np.uint8)
    jobs = ((text, index) for text, count in zip(texts, counts) for index in range(count))
    for row, (text, index) in enumerate(jobs):
        images[row] = characters.picture(text, index, size, strength, seed)
    labels = np.repeat(np.arange(len(texts), dtype=np.int32), counts)
    return {"images": images, "labels": labels, "class_names": np.array(texts)}


def _texts(classes: int, seed: int) -> list[str]:
    """What the classes show: characters, then pairs of them, both in an order drawn from the seed."""
    from .shared.characters import ALPHABET as singles

    available = len(singles) + len(singles) ** 2
    if classes > available:
        raise UserError(f"data set glyphs: classes must be {available} or fewer, not {classes}.")
    order = seeds.generator(seed, "glyphs", "characters").permutation(len(singles))
    pairs = seeds.generator(seed, "glyphs", "pairs").permutation(len(singles) ** 2)
    texts = [singles[number] for number in order[:classes]]
    for number in pairs[: classes - len(texts)]:
        first, second = divmod(int(number), len(singles))
        texts.append(singles[first] + singles[second])
    return texts


def _count(text: str, images_per_class: int, seed: int) -> int:
    """Natural classes are of unequal size: two to four thirds of the number asked for, two at the least."""
    low, high = round(images_per_class * 2 / 3), round(images_per_class * 4 / 3)
    return max(2, int(seeds.generator(seed, "glyphs", "count", *map(ord, text)).integers(low, high + 1)))
