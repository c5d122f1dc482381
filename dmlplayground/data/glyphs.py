"""Drawing characters: which ones can serve as classes, and one picture of one of them.

The typefaces are those inside matplotlib's wheel, so nothing is downloaded. Everything drawn depends on its arguments
alone: the same Pillow and NumPy give the same bytes on every machine. (Coefficients are rounded before Pillow sees them and
similarities are counted in whole numbers, so that the last digit of a processor's arithmetic decides nothing.)
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageFont

from .. import seeds

STYLES = ("", "-Bold", "-Oblique", "-BoldOblique")
FACES = (
    *(f"DejaVuSans{style}" for style in STYLES),
    *(f"DejaVuSansMono{style}" for style in STYLES),
    *(f"DejaVuSerif{style.replace('Oblique', 'Italic')}" for style in STYLES),
    *(f"STIXGeneral{style}" for style in ("", "Bol", "Italic", "BolIta")),
)
#: Faces that differ enough to show every common shape of a character: a plain one, a serif, a wide and a slanted one.
TELLING_FACES = ("DejaVuSans", "DejaVuSerif", "DejaVuSansMono", "DejaVuSerif-Italic")
FEWEST_FACES = 12
#: Two characters whose plain drawings correlate more than this, in any faces and a little turned, look the same.
ALIKE = 0.85
#: Letters, digits and currency signs. Of marks, arrows, lines and shapes, a turned or resized one is often another one.
CATEGORIES = {"Lu", "Ll", "Lt", "Lo", "Nd", "Sc"}
PICTOGRAMS = range(0x2600, 0x2700)
GRID = 16  # with 8 bits a pixel, sums of products over 16 x 16 stay below 2**24: exact in float32


@lru_cache(maxsize=None)
def characters_of(face: str) -> frozenset[str]:
    """The characters that this typeface has glyphs for."""
    from matplotlib.ft2font import FT2Font

    return frozenset(map(chr, FT2Font(str(_path(face))).get_charmap()))


def _path(face: str) -> Path:
    import matplotlib

    return Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{face}.ttf"


@lru_cache(maxsize=None)
def _font(face: str, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(_path(face)), size, layout_engine=ImageFont.Layout.BASIC)


def faces_of(text: str) -> list[str]:
    """The typefaces that have every character of ``text``."""
    return [face for face in FACES if characters_of(face).issuperset(text)]


@lru_cache(maxsize=4096)
def ink(text: str, face: str, size: int) -> Image.Image | None:
    """The text in grey on nothing, cut to its ink; None where the glyph is blank."""
    mask = _font(face, size).getmask(text, mode="L")
    if not all(mask.size):
        return None
    drawn = Image.frombytes("L", mask.size, bytes(mask))
    box = drawn.getbbox()
    return drawn.crop(box) if box else None


def alphabet() -> list[str]:
    """The characters fit to be classes, in Unicode's order: plain ones, in enough faces, no two looking alike.

    Of characters that look alike the first is kept: Latin before Greek before Cyrillic, capitals before small letters.
    """
    candidates = _candidates()
    alike = _similarity(candidates) > ALIKE
    kept: list[int] = []
    for index in range(len(candidates)):
        if not alike[index, kept].any():
            kept.append(index)
    return [candidates[index] for index in kept]


def _candidates() -> list[str]:
    coverage = Counter(character for face in FACES for character in characters_of(face))
    return [c for c in sorted(coverage) if coverage[c] >= FEWEST_FACES and _is_plain(c)]


def _is_plain(character: str) -> bool:
    """A letter, digit or picture in its own right: no variant of another, and no letter with an accent."""
    chosen = unicodedata.category(character) in CATEGORIES or ord(character) in PICTOGRAMS
    return chosen and not unicodedata.decomposition(character)


def _similarity(texts: list[str]) -> np.ndarray:
    """The highest correlation of any two plain drawings of each two texts, one of them turned by up to 30 degrees."""
    owner, upright = _drawings(texts, 0)
    best = np.full((len(texts), len(texts)), -1.0)
    for degrees in (-30, -15, 0, 15, 30):
        _, turned = _drawings(texts, degrees)
        found = _correlation(upright, turned)
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        found = np.maximum.reduceat(np.maximum.reduceat(found, starts, axis=0), starts, axis=1)
        present = owner[starts]
        best[np.ix_(present, present)] = np.maximum(best[np.ix_(present, present)], found)
    return np.maximum(best, best.T)


def _drawings(texts: list[str], degrees: int) -> tuple[np.ndarray, np.ndarray]:
    """Each text in each telling face that has it, brought to one size: (index of the text, grey values) by row."""
    owner, rows = [], []
    for index, text in enumerate(texts):
        for face in TELLING_FACES:
            drawn = ink(text, face, 48) if characters_of(face).issuperset(text) else None
            if drawn is not None:
                owner.append(index)
                rows.append(_to_grid(drawn.rotate(degrees, Image.Resampling.BILINEAR, expand=True)))
    return np.array(owner), np.stack(rows)


def _to_grid(drawn: Image.Image) -> np.ndarray:
    """The ink alone, its longer side filling the grid, in the middle."""
    drawn = drawn.crop(drawn.getbbox())
    scale = GRID / max(drawn.size)
    drawn = drawn.resize([max(1, round(side * scale)) for side in drawn.size], Image.Resampling.BOX)
    grid = Image.new("L", (GRID, GRID))
    grid.paste(drawn, ((GRID - drawn.width) // 2, (GRID - drawn.height) // 2))
    return np.asarray(grid, np.float32).ravel()


def _correlation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    products = (a @ b.T).astype(np.float64) * a.shape[1]
    sums_a, sums_b = a.sum(1, dtype=np.float64), b.sum(1, dtype=np.float64)
    squares_a, squares_b = (a.astype(np.float64) ** 2).sum(1), (b.astype(np.float64) ** 2).sum(1)
    spread_a = np.sqrt(squares_a * a.shape[1] - sums_a**2)
    spread_b = np.sqrt(squares_b * b.shape[1] - sums_b**2)
    return (products - np.outer(sums_a, sums_b)) / np.maximum(np.outer(spread_a, spread_b), 1)


def picture(text: str, index: int, size: int, strength: float, seed: int) -> np.ndarray:
    """Picture number ``index`` of ``text``: (size, size, 3) uint8, depending on nothing but the arguments.

    ``strength`` says how far, from 0 (dark on light, upright, in the middle) to 1, the picture strays in colour, background, angle, slant,
    proportions, size, place and noise. The typeface changes at every strength.
    """
    stream = seeds.generator(seed, "glyphs", *map(ord, text), index)
    faces = faces_of(text)
    face = faces[stream.integers(len(faces))]
    shape = _placed(ink(text, face, size), size, strength, stream.uniform(-strength, strength, 6))
    background, foreground = _colours(size, strength, stream)
    noise = np.frombuffer(stream.bytes(size * size * 3), np.uint8).reshape(size, size, 3)
    image = np.asarray(shape, np.float32)[:, :, None] * np.float32(1 / 255)
    image = background + (foreground - background) * image
    image += (noise - np.float32(127.5)) * np.float32(0.3 * strength)
    return np.clip(image, 0, 255, out=image).astype(np.uint8)


def _placed(drawn: Image.Image, size: int, strength: float, u: np.ndarray) -> Image.Image:
    """The ink turned, slanted, stretched, resized and shifted on an empty square. ``u`` lies in -strength to strength."""
    angle, slant, stretch = math.radians(30) * u[0], 0.3 * u[1], 1 + 0.25 * u[2]
    scale = size * (0.75 - 0.1 * strength + 0.2 * u[3]) / max(drawn.size)
    room = 0.12 * size
    cos, sin = math.cos(angle) / scale, math.sin(angle) / scale
    # Pillow wants the way back, from the square to the ink: undo the shift, turn and resize, then slant and stretch.
    a, b = (cos + slant * sin) * stretch, (sin - slant * cos) * stretch
    d, e = -sin / stretch, cos / stretch
    x, y = size / 2 + room * u[4], size / 2 + room * u[5]
    matrix = (a, b, drawn.width / 2 - a * x - b * y, d, e, drawn.height / 2 - d * x - e * y)
    rounded = [round(value * 65536) / 65536 for value in matrix]
    return drawn.transform((size, size), Image.Transform.AFFINE, rounded, Image.Resampling.BILINEAR)


def _colours(size: int, strength: float, stream: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A wavy background and a colour that stands out from it, lighter or darker: (size, size, 3) and (3,) float32."""
    dark, light = (25, 230) if stream.random() >= strength / 2 else (230, 25)
    ground = light + 0.4 * strength * stream.random() * (dark - light)
    grey = ground + (1 - 0.55 * strength * stream.random()) * (dark - light)
    tints = 70 * strength * stream.uniform(-1, 1, (2, 3))
    tints -= tints.mean(axis=1, keepdims=True)  # colour alone: the contrast stays
    grain = int(stream.integers(2, 6))
    coarse = ground + tints[0] + 60 * strength * stream.uniform(-1, 1, (grain, grain, 3))
    small = Image.fromarray(np.clip(coarse, 0, 255).astype(np.uint8))
    background = np.asarray(small.resize((size, size), Image.Resampling.BICUBIC), np.float32)
    return background, np.clip(grey + tints[1], 0, 255).astype(np.float32)
