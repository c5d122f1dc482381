"""Drawings of lines and areas (SVG) as pixels, by resvg: the same ones on every machine."""

from __future__ import annotations

from typing import Optional

from ....base import optional

SUFFIX = ".svg"
SIZE = 256  # where none is asked for


def png(content: bytes, size: Optional[int]) -> bytes:
    """The drawing, as high and as wide as ``size``: in its middle, as large as fits. Where nothing is drawn it is
    transparent. No fonts of the machine are used."""
    resvg, text = optional.load("resvg_py"), content.decode("utf-8")
    side = size or SIZE
    return bytes(resvg.svg_to_bytes(svg_string=text, width=side, height=side, skip_system_fonts=True))


def library() -> str:
    """What decides the pixels besides the drawing."""
    from importlib.metadata import version  # imported here, since listings load this file

    optional.load("resvg_py")
    return f"resvg_py {version('resvg_py')}"
