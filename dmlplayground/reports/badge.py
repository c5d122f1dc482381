"""A badge: two words or so side by side in a small picture (SVG), for a page that cites a result."""

from __future__ import annotations

from html import escape

LETTER, EDGE, HEIGHT = (
    6.6,
    6,
    20,
)  # pixels: the width of a letter of this size, about; beside the text; of the badge
COLOURS = ("#555", "#2b6cb0")


def badge(*texts: str) -> str:
    """The texts from left to right, each on a colour of its own."""
    widths = [round(len(text) * LETTER) + 2 * EDGE for text in texts]
    parts = []
    for place, (text, width, colour) in enumerate(zip(texts, widths, COLOURS)):
        left = sum(widths[:place])
        parts.append(
            f'<rect x="{left}" width="{width}" height="{HEIGHT}" fill="{colour}"/>'
            f'<text x="{left + EDGE}" y="14" textLength="{width - 2 * EDGE}">{escape(text)}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{sum(widths)}" height="{HEIGHT}" role="img" '
        f'aria-label="{escape(": ".join(texts))}"><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" '
        f'font-size="11">{"".join(parts)}</g></svg>\n'
    )


def of_place(arena: str, places: tuple[int, int], count: int) -> str:
    """The badge of a method in an arena."""
    return badge(f"dmlplayground {arena}", f"place {among(places, count)}")


def among(places: tuple[int, int], count: int) -> str:
    """``1 to 6 of 13``"""
    first, last = places
    return f"{first} of {count}" if first == last else f"{first} to {last} of {count}"
