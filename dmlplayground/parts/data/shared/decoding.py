"""From an image file to pixels: (H, W, 3) uint8 RGB, whatever the file holds, or one clear error that names it.

The rules: grey becomes three equal channels; CMYK is converted, inverted or not as the file says; transparent pixels
become white; of 16-bit values the upper 8 bits are kept; a picture is turned upright by its EXIF data; only the first
frame of an animation counts; a truncated or damaged file, as far as its decoder notices, is an error and not a
half-grey picture. Only the formats below are ever tried, whatever a file is called: for some others Pillow would start
programs (Ghostscript for EPS).
"""

import contextlib
import io
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import numpy as np
import simplejpeg
from PIL import Image, ImageOps, UnidentifiedImageError

from ....base import files, opencv, optional
from ....base.errors import UserError, printable
from ...transforms.shared.stored import Stored
from .catalogue import HEIC, SUFFIXES, Box, Catalogue
from .images import Images

FORMATS = ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"]
KNOWN = f"{', '.join(FORMATS)}; HEIC after {optional.PACKAGES['pillow_heif'].install}"
if set(HEIC) <= set(SUFFIXES):
    optional.load("pillow_heif").register_heif_opener()
    FORMATS.append("HEIF")

DRAWING, SIDE = ".svg", 256  # the ending of a drawing, and its height and width where none are asked for
_MARKER = re.compile(rb"\xff+([^\x00\xd0-\xd7\xff])")  # of a JPEG; the others stand inside its data
_TRANSPARENT = ("RGBA", "RGBa", "LA", "La", "PA")
_SIDEWAYS = (5, 6, 7, 8)  # EXIF orientations that swap height and width


class Unreadable(UserError):
    """A file that is not an image, is broken, or does not exist."""

    def __init__(self, path: Path, reason: str):
        super().__init__(f"cannot read the image {printable(path)}: {reason}.")
        self.reason = reason


class Live(Images):
    """Image files, decoded each time they are read."""

    def __init__(self, catalogue: Catalogue, stored: Stored):
        fixed = stored.fixed(catalogue.size)
        super().__init__(len(catalogue), fixed, fixed)
        self.catalogue = catalogue
        self.stored = stored

    def fingerprint(self) -> bytes:
        looks = [self.catalogue.path(row).stat() for row in range(len(self))]
        known = [(look.st_size, look.st_mtime_ns) for look in looks]
        return repr((self.catalogue.files, self.catalogue.boxes, known, self.stored)).encode()

    def image(self, row: int) -> np.ndarray:
        catalogue = self.catalogue
        return read(catalogue.path(row), self.stored, catalogue.box(row), catalogue.size)


def read(path: Path, stored: Stored, box: Box | None = None, size: int | None = None) -> np.ndarray:
    """The image in this file, cut to its box and brought to its data set's size, if there are any, and then to be stored."""
    return pixels(content_of(path), path, stored, box, size)


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """What goes wrong inside is that this file cannot be read."""
    try:
        yield
    except UnidentifiedImageError:
        reason = f"it is not an image in a known format ({KNOWN})" if path.stat().st_size else "it is empty"
        raise Unreadable(path, reason) from None
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as problem:
        raise Unreadable(path, getattr(problem, "strerror", None) or str(problem).rstrip(".")) from None


def content_of(path: Path) -> bytes:
    with _readable(path):
        return files.read_bytes(path)


def pixels(
    content: bytes, path: Path, stored: Stored, box: Box | None = None, size: int | None = None
) -> np.ndarray:
    """``read``, where the file's content is known already."""
    with _readable(path):
        image = decode(drawn(content, size) if path.suffix == DRAWING else content)
    if box is not None:
        left, top, right, bottom = clamp(box, *image.shape[:2])
        image = image[top:bottom, left:right]
    return stored.apply(image if size is None else Stored("squash", size).apply(image))


def size(path: Path, box: Box | None = None) -> tuple[int, int]:
    """Height and width of what ``read`` would decode, from the file's first bytes."""
    with _readable(path), files.opened(path) as file, Image.open(file, formats=FORMATS) as opened:
        width, height = opened.size
        if opened.getexif().get(0x0112) in _SIDEWAYS:
            width, height = height, width
    if box is not None:
        left, top, right, bottom = clamp(box, height, width)
        height, width = bottom - top, right - left
    return height, width


def clamp(box: Box, height: int, width: int) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of a box in whole pixels, inside an image of this size and never empty."""
    x, y, wide, high = (int(value) for value in box)
    left, top = min(max(x, 0), width - 1), min(max(y, 0), height - 1)
    return left, top, min(max(x + wide, left + 1), width), min(max(y + high, top + 1), height)


def drawn(content: bytes, size: int | None) -> bytes:
    """A drawing of lines and areas (SVG) as PNG, by resvg: the same pixels on every machine, without its fonts. It is in the
    middle of a square, as large as fits, and transparent where nothing is drawn."""
    resvg, side = optional.load("resvg_py"), size or SIDE
    text = content.decode("utf-8")
    return bytes(resvg.svg_to_bytes(svg_string=text, width=side, height=side, skip_system_fonts=True))


def library(file: str) -> str:
    """What decides the pixels besides the file."""
    if not file.endswith(DRAWING):
        return opencv.library()
    optional.load("resvg_py")
    return f"resvg_py {metadata.version('resvg_py')}"


def decode(content: bytes) -> np.ndarray:
    # A JPEG has no checksum. Where its data stop making sense the decoder warns and fills in the rest, and OpenCV and
    # Pillow hide that. simplejpeg calls the same library, gives the same pixels, and takes the warning for an error.
    with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
        if opened.format in ("JPEG", "MPO"):
            _require_all_scans(content)
            if opened.mode in ("L", "RGB"):
                return _upright(simplejpeg.decode_jpeg(content, "RGB"), opened.getexif().get(0x0112))
            simplejpeg.decode_jpeg(content, "CMYK")  # raises if it is damaged; Pillow knows more about inks
        opened.load()
        return np.asarray(_as_rgb(ImageOps.exif_transpose(opened)))


def _require_all_scans(content: bytes) -> None:
    """``ValueError`` for a progressive JPEG that ends before its last scan: no decoder warns of that, it only looks blurred.
    It comes in scans, each with some bits of some of the 64 coefficients; all are there once there has been a scan with the
    lowest bit (``Al`` in the standard) of each coefficient of each component."""
    components, place = 0, 2
    complete: set[tuple[int, int]] = set()
    while found := _MARKER.search(content, place):
        marker, place = found[1][0], found.end()
        if marker in (0xC0, 0xC1, 0xD9):  # not progressive, or the end
            break
        length = int.from_bytes(content[place : place + 2], "big")
        segment = content[place + 2 : place + length]
        place += length
        if marker == 0xC2:
            components = segment[5]
        elif marker == 0xDA:
            *names, first, last, bits = segment[1 : 1 + 2 * segment[0] : 2] + segment[-3:]
            if bits & 15 == 0:
                complete.update((name, number) for name in names for number in range(first, last + 1))
    if components and len(complete) < 64 * components:
        raise ValueError("the file ends before its last scan")


def _upright(image: np.ndarray, orientation: object) -> np.ndarray:
    """Turned and mirrored as EXIF's number says."""
    if orientation in _SIDEWAYS:
        image = image.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        image = image[::-1]
    if orientation in (2, 3, 6, 7):
        image = image[:, ::-1]
    return np.ascontiguousarray(image)


def _as_rgb(image: Image.Image) -> Image.Image:
    if image.mode == "F" or (image.mode == "I" and image.format not in ("PNG", None)):
        raise ValueError("its pixels are 32-bit numbers without a stated range")
    if image.mode.startswith("I"):
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8)).convert("RGB")
    if image.mode in _TRANSPARENT or "transparency" in image.info:
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    return image.convert("RGB")
