"""Choose the characters that the data set glyphs is made of: python scripts/glyphs.py

It prints ``characters.ALPHABET``. They come from the typefaces inside matplotlib's wheel; similarities come from sums of whole
numbers, so that rounding differences between processors change nothing.
"""

import unicodedata
from collections import Counter

import numpy as np
from PIL import Image

from dmlplayground.parts.data.shared.characters import FACES, characters_of, ink

#: Faces that between them show every common shape of a character: plain, with serifs, of one width, slanted.
TELLING_FACES = ("DejaVuSans", "DejaVuSerif", "DejaVuSansMono", "DejaVuSerif-Italic", "STIXGeneral")
FEWEST_FACES = 12
#: Characters look the same if any plain drawings of theirs, one a little turned, correlate more than this.
ALIKE = 0.75
TURNS = (-30, -15, 0, 15, 30)
CATEGORIES = {"Lu", "Ll", "Lt", "Lo", "Nd", "Sc", "Sm", "So", "Po"}
#: Arrows, boxed operators, lines, blocks: turned or stretched, they pass for each other or a missing glyph.
SHAPELESS = (range(0x2190, 0x2200), range(0x229E, 0x22A2), range(0x2300, 0x2600), range(0x2B00, 0x2C00))
#: Stands for everything that is only a dot or a bar when its size is ignored; it is not a class itself.
BLOB = "\u25a0"
GRID = 16  # with 8 bits a pixel, sums of products over 16 x 16 stay below 2**24: exact in float32


def alphabet() -> tuple[str, ...]:
    """The characters that can be classes, in Unicode's order: plain, in enough typefaces, and no two alike. Of
    characters that look alike the first is kept: capitals before small letters, Latin before Greek.
    """
    candidates = [BLOB, *_candidates()]
    alike = _similarity(candidates) > ALIKE
    kept = [0]
    for index in range(1, len(candidates)):
        if not alike[index, kept].any():
            kept.append(index)
    return tuple(candidates[index] for index in kept[1:])


def _candidates() -> list[str]:
    coverage = Counter(character for face in FACES for character in characters_of(face))
    return [c for c in sorted(coverage) if coverage[c] >= FEWEST_FACES and _is_plain(c)]


def _is_plain(character: str) -> bool:
    """Whether it is a character in its own right: not a variant of another, not a letter WITH an accent, not a mere
    shape."""
    shapeless = any(ord(character) in block for block in SHAPELESS) or character in "\ufffc\ufffd"
    variant = unicodedata.decomposition(character) or " WITH " in unicodedata.name(character, "")
    return unicodedata.category(character) in CATEGORIES and not (variant or shapeless)


def _similarity(texts: list[str]) -> np.ndarray:
    """The highest correlation between any plain drawings of each two texts, one of them turned."""
    owner, upright = _drawings(texts, 0)
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    best = np.full((len(texts), len(texts)), -1.0)
    for degrees in TURNS:
        found = _correlation(upright, _drawings(texts, degrees)[1])
        found = np.maximum.reduceat(np.maximum.reduceat(found, starts, axis=0), starts, axis=1)
        np.maximum(best, found, out=best)
    return np.maximum(best, best.T)


def _drawings(texts: list[str], degrees: int) -> tuple[np.ndarray, np.ndarray]:
    """Each text in each face of the comparison that has it: which text it is, and its drawing on the grid, row by row."""
    pairs = [
        (i, face) for i, text in enumerate(texts) for face in TELLING_FACES if text in characters_of(face)
    ]
    turned = (
        ink(texts[i], face, 48).rotate(degrees, Image.Resampling.BILINEAR, expand=True) for i, face in pairs
    )
    return np.array([i for i, _ in pairs]), np.stack([_to_grid(drawn) for drawn in turned])


def _to_grid(drawn: Image.Image) -> np.ndarray:
    """The ink alone, stretched to fill the grid except for a rim, since pictures vary in place, size and proportions."""
    inside = drawn.crop(drawn.getbbox()).resize((GRID - 2, GRID - 2), Image.Resampling.BOX)
    grid = Image.new("L", (GRID, GRID))
    grid.paste(inside, (1, 1))
    return np.asarray(grid, np.float32).ravel()


def _correlation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Pearson's, between all rows of ``a`` and of ``b``, from sums that are exact."""
    products = (a @ b.T).astype(np.float64) * a.shape[1]
    (sums_a, spread_a), (sums_b, spread_b) = _moments(a), _moments(b)
    return (products - np.outer(sums_a, sums_b)) / np.outer(spread_a, spread_b)


def _moments(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows = rows.astype(np.float64)
    sums = rows.sum(axis=1)
    return sums, np.sqrt((rows**2).sum(axis=1) * rows.shape[1] - sums**2)


if __name__ == "__main__":
    print("".join(alphabet()))
