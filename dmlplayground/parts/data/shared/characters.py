"""Drawing characters: which of them can be classes, and a single picture of one of them.

The typefaces are those inside matplotlib's wheel, so nothing is downloaded. What is drawn depends on the
arguments alone: the same Pillow, NumPy and typefaces give the same bytes on every machine. (Coefficients are
rounded before Pillow sees them, and similarities come from sums of whole numbers, so that rounding differences between
processors change nothing.)
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ....base import seeds

STYLES = ("", "-Bold", "-Oblique", "-BoldOblique")
FACES = (
    *(f"DejaVuSans{style}" for style in STYLES),
    *(f"DejaVuSansMono{style}" for style in STYLES),
    *(f"DejaVuSerif{style.replace('Oblique', 'Italic')}" for style in STYLES),
    *(f"STIXGeneral{style}" for style in ("", "Bol", "Italic", "BolIta")),
)
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


@cache
def characters_of(face: str) -> frozenset[str]:
    """The characters that this typeface has glyphs for."""
    from matplotlib.ft2font import FT2Font

    return frozenset(map(chr, FT2Font(str(_path(face))).get_charmap()))


def faces_of(text: str) -> list[str]:
    """The typefaces that have every character of ``text``: no picture shows the box of a missing glyph."""
    return [face for face in FACES if characters_of(face).issuperset(text)]


@lru_cache(maxsize=4096)
def ink(text: str, face: str, size: int) -> Image.Image:
    """The text in white on black, cut to its ink."""
    drawn_with = font(face, size)
    left, top, right, bottom = drawn_with.getbbox(text)
    drawn = Image.new("L", (math.ceil(right - left), math.ceil(bottom - top)))
    ImageDraw.Draw(drawn).text((-left, -top), text, fill=255, font=drawn_with)
    return drawn.crop(drawn.getbbox())


@cache
def font(face: str, size: int) -> ImageFont.FreeTypeFont:
    """One of the typefaces, at a size in pixels."""
    return ImageFont.truetype(str(_path(face)), size, layout_engine=ImageFont.Layout.BASIC)


def _path(face: str) -> Path:
    import matplotlib

    return Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{face}.ttf"


# Which characters


@cache
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


# Pictures


def picture(text: str, index: int, size: int, strength: float, seed: int) -> np.ndarray:
    """Picture number ``index`` of ``text``: (size, size, 3) uint8, which depends only on the arguments.

    ``strength`` says how far it strays from dark on light, upright and in the middle, from 0 to 1: in colour,
    background, angle, slant, proportions, size, place and noise. The typeface changes at every strength.
    """
    stream = seeds.generator(seed, "glyphs", *map(ord, text), index)
    faces = faces_of(text)
    face = faces[stream.integers(len(faces))]
    shape = _placed(ink(text, face, size), size, strength, strength * stream.uniform(-1, 1, 6))
    background, foreground = _colours(size, strength, stream)
    noise = np.frombuffer(stream.bytes(size * size * 3), np.uint8).reshape(size, size, 3)
    cover = np.asarray(shape, np.float32)[:, :, None] / 255
    image = background + (foreground - background) * cover
    image += (noise - np.float32(127.5)) * np.float32(0.35 * strength)
    return np.clip(image, 0, 255, out=image).astype(np.uint8)


def _placed(drawn: Image.Image, size: int, strength: float, u: np.ndarray) -> Image.Image:
    """The ink turned, slanted, stretched, resized and shifted on an empty square, each as ``u`` says."""
    angle, slant, stretch = math.radians(30) * u[0], 0.35 * u[1], 1 + 0.3 * u[2]
    scale = size * (0.75 - 0.15 * strength + 0.25 * u[3]) / max(drawn.size)
    x, y = size * (0.5 + 0.14 * u[4]), size * (0.5 + 0.14 * u[5])
    cos, sin = math.cos(angle) / scale, math.sin(angle) / scale
    # Pillow wants the way back, from square to ink: undo the shift, turn and resize, slant and stretch.
    a, b = (cos + slant * sin) * stretch, (sin - slant * cos) * stretch
    c, d = -sin / stretch, cos / stretch
    matrix = (a, b, drawn.width / 2 - a * x - b * y, c, d, drawn.height / 2 - c * x - d * y)
    rounded = [round(value * 65536) / 65536 for value in matrix]
    return drawn.transform((size, size), Image.Transform.AFFINE, rounded, Image.Resampling.BILINEAR)


def _colours(size: int, strength: float, stream: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A wavy background, and a colour that contrasts with it: (size, size, 3) and (3,) float32."""
    dark, light = (25, 230) if stream.random() >= strength / 2 else (230, 25)
    ground = light + 0.4 * strength * stream.random() * (dark - light)
    grey = ground + (1 - 0.65 * strength * stream.random()) * (dark - light)
    tints = 80 * strength * stream.uniform(-1, 1, (2, 3))
    tints -= tints.mean(axis=1, keepdims=True)  # colour alone: the contrast stays
    grain = int(stream.integers(2, 6))
    coarse = ground + tints[0] + 75 * strength * stream.uniform(-1, 1, (grain, grain, 3))
    small = Image.fromarray(np.clip(coarse, 0, 255).astype(np.uint8))
    background = np.asarray(small.resize((size, size), Image.Resampling.BICUBIC), np.float32)
    return background, np.clip(grey + tints[1], 0, 255).astype(np.float32)
