"""From an image file to pixels: (H, W, 3) uint8 RGB, whatever the file holds, or one clear error that names
it.

What is decided: grey becomes three equal channels; CMYK is converted, inverted or not as its maker says;
transparent pixels show white; 16 bits keep their upper 8; a picture is turned upright as its EXIF data says;
of an animation the first frame counts; a truncated file is an error, not a half-grey picture.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from .. import opencv
from ..errors import UserError
from ..transforms.stored import Stored

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff")
Box = Sequence[float]  # x, y, width, height

_TRANSPARENT = ("RGBA", "RGBa", "LA", "La", "PA")
_SIDEWAYS = (5, 6, 7, 8)  # EXIF orientations that swap height and width
_PROBLEMS = (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError)


class Unreadable(UserError):
    """A file that is no image, or a broken one, or is not there."""

    def __init__(self, path: Path, reason: str):
        super().__init__(f"cannot read the image {path}: {reason}.")
        self.reason = reason


def read(path: Path, stored: Stored, box: Optional[Box] = None) -> np.ndarray:
    """The image in this file, cut to its box where one is given, and resized to be stored."""
    try:
        image = decode(path.read_bytes())
    except _PROBLEMS as problem:
        raise _unreadable(path, problem) from None
    if box is not None:
        left, top, right, bottom = clamp(box, *image.shape[:2])
        image = image[top:bottom, left:right]
    return stored.apply(image)


def size(path: Path, box: Optional[Box] = None) -> tuple[int, int]:
    """Height and width of what ``read`` would decode, from the file's first bytes."""
    try:
        with Image.open(path) as opened:
            width, height = opened.size
            if opened.getexif().get(0x0112) in _SIDEWAYS:
                width, height = height, width
    except _PROBLEMS as problem:
        raise _unreadable(path, problem) from None
    if box is not None:
        left, top, right, bottom = clamp(box, height, width)
        height, width = bottom - top, right - left
    return height, width


def clamp(box: Box, height: int, width: int) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of a box in whole pixels, inside an image of this size and never empty."""
    x, y, wide, high = (int(value) for value in box)
    left, top = min(max(x, 0), width - 1), min(max(y, 0), height - 1)
    return left, top, min(max(x + wide, left + 1), width), min(max(y + high, top + 1), height)


def decode(content: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(content)) as opened:
        if opened.format == "JPEG" and opened.mode in ("L", "RGB") and _ends_well(content):
            return opencv.decode(content)
        opened.load()  # unlike OpenCV this says where a file is cut short
        return np.asarray(_as_rgb(ImageOps.exif_transpose(opened)))


def _ends_well(content: bytes) -> bool:
    """With JPEG's mark of the end, which the data before it cannot hold; some files are padded."""
    return content[-64:].rstrip(b"\0\r\n ").endswith(b"\xff\xd9")


def _as_rgb(image: Image.Image) -> Image.Image:
    if image.mode == "F" or (image.mode == "I" and image.format not in ("PNG", None)):
        raise ValueError("its pixels are 32-bit numbers of no stated range")
    if image.mode.startswith("I"):
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8)).convert("RGB")
    if image.mode in _TRANSPARENT or "transparency" in image.info:
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    return image.convert("RGB")


def _unreadable(path: Path, problem: Exception) -> Unreadable:
    if isinstance(problem, UnidentifiedImageError):
        reason = "it is no image that Pillow knows" if path.stat().st_size else "it is empty"
    else:
        reason = getattr(problem, "strerror", None) or str(problem)
    return Unreadable(path, reason)
