"""Drawing characters: which of them can be classes, and a single picture of one of them.

The typefaces are those inside matplotlib's wheel. What is drawn depends on the arguments alone: the same Pillow, NumPy
and typefaces give the same bytes on every machine. (Coefficients are rounded before Pillow sees them, so that rounding
differences between processors change nothing.)
"""

import math
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
#: The characters that can be classes, in Unicode's order: plain, in at least twelve typefaces, and no two alike.
#: ``scripts/glyphs.py`` chooses them, in seconds of arithmetic that nobody else has to wait for.
ALPHABET = (
    '"#$%&*+,0234567:;<>?@ACEHJKMNPSTVWXYZbdfgikm~¢¤§¬®±¶¿ÆÞßæŒƎƕƢƦƧƪƸǂȜȸȹɄɛɣɥɮʁ'
    "ʍʎʕʖʞʤʦʧʩʪʬʭΞΦΨαβζημνςωϗϘϞϠ϶ϻЂЉЊЋЏДЖЛЩЫЮяћѢѵҥӋԱԲԴԷԸԹԾՀՁՃՄՇՊՋՎՑՔՖ՞՟թձչպֆ฿დლჟ"
    "რტფშჩჭჯჰჱჵჷჹ჻ᴞ‡‣‰⁋₣₤₦₧₯₴₹∑∓√∝∞∟∸∹∺≂≃≈≒≓≔≤≥⊃⊆⊇⊜⊢⊣⋄☸☿♂♃♅♡♤♧♩♪♫♬♭♯⟵Ⱶ"
)


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


def picture(text: str, index: int, size: int, strength: float, seed: int) -> np.ndarray:
    """Picture number ``index`` of ``text``: (size, size, 3) uint8, which depends only on the arguments. ``strength`` says how
    far it strays from dark on light, upright and in the middle, from 0 to 1: in colour, background, angle, slant,
    proportions, size, place and noise. The typeface changes at every strength."""
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
