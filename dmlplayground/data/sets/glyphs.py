"""glyphs: the built-in data set. A class is a character, an image is that character in another typeface and guise."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from PIL import features

from ... import seeds
from ...errors import UserError
from .. import Dataset, cache, glyphs, register

#: Raise it whenever the same options give other pictures than before: it names the cached ones.
GENERATION = 2


@register("glyphs", title="Printed characters in many typefaces", transform="plain")
def load(
    split: str,
    *,
    classes: int = 200,
    images_per_class: int = 45,
    size: int = 64,
    strength: float = 0.5,
    letters: int = 1,
    seed: int = 0,
) -> Dataset:
    """Characters drawn on the spot from the typefaces that come with matplotlib; nothing is downloaded.

    classes: how many in both splits together. They are drawn by the seed and halved: no class is in both.
    images_per_class: about so many; a class has from two thirds to four thirds of that, as its seed says.
    size: height and width in pixels.
    strength: how far pictures of a class differ in colour, background, angle, slant, size, place and noise, 0 to 1.
    letters: how many characters make a class, 1 or 2; with 2 there are classes by the tens of thousands.
    seed: another seed draws other characters and other pictures.

    A picture depends on the seed, its class, its number within the class, size and strength only, so more classes or images
    add to what is there. The same versions of Pillow, NumPy and matplotlib draw the same bytes on every machine.
    """
    _check(classes, images_per_class, size, strength, letters, seed)
    options = dict(
        classes=classes, images_per_class=images_per_class, size=size, strength=strength, letters=letters
    )
    key = {**options, "seed": seed, "split": split, **_versions()}
    stored = cache.arrays("glyphs", key, lambda: _draw(split, seed=seed, **options))
    names = tuple(str(name) for name in stored["class_names"])
    return Dataset("glyphs", split, stored["images"], np.asarray(stored["labels"]), names)


def _check(classes: int, images_per_class: int, size: int, strength: float, letters: int, seed: int) -> None:
    """Every option within its bounds, before anything is drawn."""
    bounds = {
        "classes": (classes, 2, None),
        "images_per_class": (images_per_class, 2, None),
        "size": (size, 16, 512),
        "strength": (strength, 0, 1),
        "letters": (letters, 1, 2),
        "seed": (seed, 0, None),
    }
    for option, (value, low, high) in bounds.items():
        if not (low <= value and (high is None or value <= high)):
            wanted = f"{low} or more" if high is None else f"from {low} to {high}"
            raise UserError(f"data set 'glyphs': {option} must be {wanted}, not {value}.")


def _versions() -> dict[str, str | int]:
    """What decides the bytes drawn, besides the options."""
    return {
        "generation": GENERATION,
        "matplotlib": version("matplotlib"),
        "numpy": np.__version__,
        "pillow": version("pillow"),
        "freetype": str(features.version("freetype2")),
    }


def _draw(
    split: str, *, classes: int, images_per_class: int, size: int, strength: float, letters: int, seed: int
):
    texts = _classes(classes, letters, seed)
    half = (classes + 1) // 2
    texts = texts[:half] if split == "train" else texts[half:]
    counts = [_count(text, images_per_class, seed) for text in texts]
    images = np.empty((sum(counts), size, size, 3), np.uint8)
    jobs = ((text, index) for text, count in zip(texts, counts) for index in range(count))
    for row, (text, index) in enumerate(jobs):
        images[row] = glyphs.picture(text, index, size, strength, seed)
    labels = np.repeat(np.arange(len(texts), dtype=np.int32), counts)
    return {"images": images, "labels": labels, "class_names": np.array(texts)}


def _classes(classes: int, letters: int, seed: int) -> list[str]:
    """The texts that are the classes: the first so many of all there are, shuffled by the seed."""
    alphabet = cache.arrays("glyphs-alphabet", _versions(), lambda: {"alphabet": np.array(glyphs.alphabet())})
    characters = [str(character) for character in alphabet["alphabet"]]
    available = len(characters) ** letters
    if classes > available:
        more = f"; with letters=2 there are {len(characters) ** 2}" if letters == 1 else ""
        raise UserError(
            f"data set 'glyphs' has {available} classes of {letters} letter(s), not {classes}{more}."
        )
    order = seeds.generator(seed, "glyphs", "classes", letters).permutation(available)[:classes]
    return ["".join(_spell(int(number), characters, letters)) for number in order]


def _spell(number: int, characters: list[str], letters: int) -> list[str]:
    """The text with this number, were all texts of so many letters listed in the dictionary's order."""
    spelled = []
    for _ in range(letters):
        number, digit = divmod(number, len(characters))
        spelled.append(characters[digit])
    return spelled[::-1]


def _count(text: str, images_per_class: int, seed: int) -> int:
    """Natural sets have classes of unequal size: two thirds to four thirds of the number asked for, two at the least."""
    low, high = round(images_per_class * 2 / 3), round(images_per_class * 4 / 3)
    return max(2, int(seeds.generator(seed, "glyphs", "count", *map(ord, text)).integers(low, high + 1)))
