"""list the miners and the losses they work with, or describe one"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from ...base import layout
from .. import listing

EXAMPLE = "miners semihard"
PAGE = "parts/miners/index"


def add_arguments(command: ArgumentParser) -> None:
    listing.add_name(command, "miners")


def run(arguments: Namespace) -> None:
    print(as_text(arguments.name) if arguments.name else table())


def table() -> str:
    from ...parts import methods

    rows = [("method", "own miner", "miners", "with a memory")]
    for key, found in methods.combinations().items():
        rows.append((key, found.own, _few_words(found.miners), _few_words(found.with_memory)))
    return f"{listing.as_text('miners', None)}\n\nWhich works with which:\n\n{layout.columns(rows)}"


def _few_words(names: tuple[str, ...]) -> str:
    """``all``, ``none``, or ``all but`` and the missing ones."""
    from ...parts import miners

    missing = [name for name in miners.names() if name not in names]
    if not names or not missing:
        return "none" if missing else "all"
    return f"all but {', '.join(missing)}"


def as_text(name: str) -> str:
    from ...parts import methods

    story = listing.as_text("miners", name)
    found = methods.combinations()
    takers = [key for key, each in found.items() if name in each.miners]
    remembering = [key for key, each in found.items() if name in each.with_memory]
    return "\n\n".join(
        [
            story,
            _losses("Losses that accept it:", takers),
            _losses("With a memory (memory.size):", remembering),
        ]
    )


def _losses(heading: str, keys: Iterable[str]) -> str:
    names = ", ".join(keys) or "none"
    return heading + "\n" + layout.fill(names, "  ")
