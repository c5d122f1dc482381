"""What every section of the findings is made of: paragraphs, tables and figures; and how it says a few things."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..answers import listing
from ..statistics import Summary
from ..tables import signed

NOTHING = "There are no records of methods compared under equal conditions yet."  # what every section says without records


@dataclass
class Section:
    """``blocks`` of Markdown, the first of which is the heading; what draws the ``figures``, by the names of their files."""

    blocks: list[str]
    figures: dict[str, Callable[[], bytes]] = field(default_factory=dict)

    def say(self, *sentences: str) -> None:
        """A paragraph, without its empty sentences."""
        told = " ".join(sentence for sentence in sentences if sentence)
        self.blocks += [told] if told else []

    def show(self, name: str, draw: Callable[[], bytes], about: str) -> None:
        """A figure in its place."""
        self.figures[name] = draw
        self.blocks.append(f"![{about}]({name})")


MANY = 12  # words of a list; of a longer one the rest is counted


def listed(words: Iterable[str], nothing: str = "none", most: int = MANY) -> str:
    """``a, b and c``"""
    words = list(words)
    more = len(words) - most
    if more > 1:
        words = [*words[:most], f"{more} more"]
    return listing(words) if words else nothing


def ends(interval: tuple[float, float] | None, digits: int = 2) -> str | None:
    """``1.20 to 3.40``"""
    if interval is None:
        return None
    return " to ".join(f"{end:.{digits}f}".replace("-", "−") for end in interval)


def gap(value: Summary) -> str:
    """A mean of differences with its 95 % interval: ``+0.21 (0.10 to 0.32)``."""
    found = ends(value.interval)
    return signed(value.mean) + (f" ({found})" if found else "")


def told_chance(value: float) -> str:
    """``p = 0.012``"""
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"
