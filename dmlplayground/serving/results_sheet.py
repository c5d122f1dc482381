"""A sheet of search results: queries, each with the images found for it, as one picture."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, ImageOps

from ..parts.data.shared import characters, decoding
from ..parts.transforms.shared.stored import Stored
from .index import Found
from .matching import Threshold

CELL, GAP, LINE = 128, 6, 13  # pixels
FACE = "DejaVuSans", 10  # has the letters of most alphabets
MATCH, NO_MATCH, PLAIN = "#1a7f37", "#8c959f", "black"


def draw(
    queries: Sequence[Path], found: Sequence[Sequence[Found]], threshold: Threshold | None = None
) -> Image.Image:
    """A row for every query. Below an image are its class and its distance, in green if it matches."""
    columns = 1 + max(map(len, found), default=0)
    height = CELL + 2 * LINE + GAP
    sheet = Image.new("RGB", (columns * (CELL + GAP) + GAP, len(queries) * height + GAP), "white")
    for number, (query, hits) in enumerate(zip(queries, found)):
        top = GAP + number * height
        _cell(sheet, (GAP, top), str(query), ["query", Path(query).name], PLAIN)
        for column, hit in enumerate(hits, 1):
            colour = PLAIN
            if threshold is not None:
                colour = MATCH if hit.distance <= threshold.distance else NO_MATCH
            lines = [hit.label or Path(hit.name).name, f"{hit.distance:.3f}"]
            _cell(sheet, (GAP + column * (CELL + GAP), top), hit.name, lines, colour)
    return sheet


def _cell(sheet: Image.Image, place: tuple[int, int], name: str, lines: Sequence[str], colour: str) -> None:
    drawing, (left, top) = ImageDraw.Draw(sheet), place
    image = ImageOps.contain(Image.fromarray(decoding.read(Path(name), Stored("none"))), (CELL, CELL))
    sheet.paste(image, (left + (CELL - image.width) // 2, top + CELL - image.height))
    font = characters.font(*FACE)
    for number, line in enumerate(lines):
        below = left, top + CELL + 1 + number * LINE
        drawing.text(below, _fitting(drawing, line, font), fill=colour, font=font)


def _fitting(drawing: ImageDraw.ImageDraw, text: str, font: ImageFont.FreeTypeFont) -> str:
    """The text, cut where it would run into the next image."""
    while drawing.textlength(text, font) > CELL and len(text) > 2:
        text = text[:-2] + "…"
    return text
