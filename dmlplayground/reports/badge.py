"""A badge: two texts side by side in a small picture (SVG), for a page that cites a place in an arena."""

from __future__ import annotations

from html import escape

LETTER, EDGE = 6.6, 6  # pixels: the width of a letter, about; beside a text


def of_place(arena: str, places: tuple[int, int], count: int) -> str:
    """The badge of a method in an arena."""
    texts = f"dmlplayground {arena}", f"place {among(places, count)}"
    left, right = (round(len(text) * LETTER) + 2 * EDGE for text in texts)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img">
<title>{escape(": ".join(texts))}</title>
<rect width="{left}" height="20" fill="#555"/><rect x="{left}" width="{right}" height="20" fill="#2b6cb0"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{EDGE}" y="14" textLength="{left - 2 * EDGE}">{escape(texts[0])}</text>
<text x="{left + EDGE}" y="14" textLength="{right - 2 * EDGE}">{escape(texts[1])}</text></g></svg>
"""


def among(places: tuple[int, int], count: int) -> str:
    """``1 to 6 of 13``"""
    first, last = places
    return f"{first} of {count}" if first == last else f"{first} to {last} of {count}"
