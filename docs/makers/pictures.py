"""The figures of the findings, as SVG."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dmlplayground.reports.figure_files import COLOURS, DASHES, INK, blank, saved
from dmlplayground.reports.repeated import Repeated

ROW, WIDTH = 0.2, 7.2  # inches: of a method, of a figure


def drawn(height: float, draw: Callable[[Any], None]) -> bytes:
    """One pair of axes as a file."""
    with blank(WIDTH, height) as sheet:
        draw(sheet.add_subplot())
        return saved(sheet, ".svg")


def means(found: Repeated, label: str) -> bytes:
    """A row for every method, the best on top: its mean with its interval, and every search's mean beside it. Those that
    cannot be told apart from the best have another colour; a line for every network as it came. An interval that is far longer
    than the others' leaves the figure."""
    compared = found.compared()
    shown = [
        end
        for name in compared.methods
        if name not in compared.unlike
        for end in compared.interval(name) or ()
    ]
    shown += [float(one) for cells in compared.means.values() for one in cells.mean(axis=0)]
    shown += [before.mean(name) for name, before in found.before().items() if before.methods]
    margin = 0.04 * (max(shown) - min(shown)) or 1.0

    def draw(axes: Any) -> None:
        for place, name in enumerate(compared.methods):
            low, high = compared.interval(name) or (compared.mean(name),) * 2
            colour = COLOURS[0] if name in compared.leaders else INK
            axes.plot([low, high], [place, place], color=colour, lw=1.2)
            axes.plot(compared.mean(name), place, "o", color=colour, ms=4.5)
            searches = compared.means[name].mean(axis=0)
            axes.plot(searches, [place] * len(searches), "|", color=colour, ms=7)
        for number, (name, before) in enumerate(found.before().items()):
            if before.methods:
                dash = DASHES[(number + 1) % len(DASHES)]
                axes.axvline(before.mean(name), color=COLOURS[1], lw=1, ls=dash, label=name)
        axes.set(xlabel=f"{label}, %: mean, interval, and each search (|)")
        axes.set_xlim(min(shown) - margin, max(shown) + margin)
        axes.set_yticks(range(len(compared.methods)), compared.methods)
        axes.set_ylim(len(compared.methods) - 0.4, -0.6)
        if found.before():
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))

    return drawn(1 + ROW * len(compared.methods), draw)


def places(orders: Mapping[str, Sequence[str]]) -> bytes:
    """A column for every order, and a line for every method through its places, the best on top."""
    first, last = (list(orders.values())[end] for end in (0, -1))

    def draw(axes: Any) -> None:
        for number, name in enumerate(first):
            found = [order.index(name) if name in order else math.nan for order in orders.values()]
            colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
            axes.plot(range(len(orders)), found, color=colour, ls=dash, lw=1.4, marker="o", ms=3)
        axes.set_xticks(range(len(orders)), [name.replace(", ", ",\n") for name in orders])
        axes.set_yticks(range(len(first)), first)
        axes.set_ylim(max(len(first), len(last)) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
        right = axes.secondary_yaxis("right")
        right.set_yticks(range(len(last)), last)
        right.spines["right"].set_visible(False)

    return drawn(1 + ROW * len(first), draw)
