"""The figures of the findings, as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..figure_files import COLOURS, DASHES, INK, STYLE, saved
from .ranking import Ranking

ROW, WIDTH = 0.2, 7.2  # inches: of a method, of a figure


def drawn(height: float, draw: Callable[[Any], None]) -> bytes:
    """One pair of axes as a file."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    with mpl.rc_context(STYLE):
        sheet = Sheet(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasAgg(sheet)
        draw(sheet.add_subplot())
        return saved(sheet, ".svg")


def of_ranking(ranking: Ranking, title: str, label: str) -> bytes:
    """A row for every method, the best on top: its mean with its interval, and beside the rows a bar for every group no
    two of which can be told apart."""

    def draw(axes: Any) -> None:
        for place, score in enumerate(ranking.scores.values()):
            low, high = score.interval or (score.mean, score.mean)
            axes.plot([low, high], [place, place], color=INK, lw=1)
            axes.plot(score.mean, place, "o", color=COLOURS[0], ms=4)
        _bars(axes, ranking.groups)
        axes.set(title=title, xlabel=label)
        axes.set_yticks(range(len(ranking.names)), ranking.names)
        axes.set_ylim(len(ranking.names) - 0.4, -0.6)

    return drawn(1 + ROW * len(ranking.names), draw)


def _bars(axes: Any, groups: Sequence[tuple[int, int]]) -> None:
    """To the right of the axes, so that a bar crosses no point."""
    for number, lane in enumerate(lanes(groups)):
        x = 1.02 + 0.018 * lane
        first, last = groups[number]
        axes.plot(
            [x, x],
            [first - 0.25, last + 0.25],
            transform=axes.get_yaxis_transform(),
            color=COLOURS[1],
            lw=3,
            solid_capstyle="butt",
            clip_on=False,
        )


def lanes(groups: Sequence[tuple[int, int]]) -> list[int]:
    """Of every bar the first lane in which it meets no other; bars that only touch are kept apart too."""
    ends: list[int] = []
    found = []
    for first, last in groups:
        lane = next((number for number, end in enumerate(ends) if end < first), len(ends))
        ends[lane : lane + 1] = [last]
        found.append(lane)
    return found


def of_orders(orders: Mapping[str, Sequence[str]], title: str) -> bytes:
    """A column for every order, and a line for every method through its places, the best on top."""
    first, last = (list(orders.values())[end] for end in (0, -1))

    def draw(axes: Any) -> None:
        for number, name in enumerate(first):
            places = [order.index(name) if name in order else math.nan for order in orders.values()]
            colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
            axes.plot(range(len(orders)), places, color=colour, ls=dash, lw=1.4, marker="o", ms=3)
        axes.set(title=title)
        axes.set_xticks(range(len(orders)), list(orders))
        axes.set_yticks(range(len(first)), first)
        axes.set_ylim(len(first) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
        right = axes.secondary_yaxis("right")
        right.set_yticks(range(len(last)), last)
        right.spines["right"].set_visible(False)

    return drawn(1 + ROW * len(first), draw)


def of_gaps(rows: Sequence[tuple[str, Sequence[Any]]], names: Sequence[str], title: str, label: str) -> bytes:
    """A row for every method with a point and an interval for each of its gaps."""

    def draw(axes: Any) -> None:
        step = 0.6 / len(names)
        for number, name in enumerate(names):
            shift = (number - (len(names) - 1) / 2) * step
            known = [(place, gaps[number]) for place, (_, gaps) in enumerate(rows) if gaps[number]]
            for place, gap in known:
                low, high = gap.interval or (gap.mean, gap.mean)
                axes.plot([low, high], [place + shift] * 2, color=COLOURS[number], lw=1)
            places = [place + shift for place, _ in known]
            means = [gap.mean for _, gap in known]
            axes.plot(means, places, "os^"[number % 3], color=COLOURS[number], ms=3.5, label=name)
        axes.axvline(0, color=INK, lw=1, ls="--", zorder=0.9)
        axes.set(title=title, xlabel=label)
        axes.set_yticks(range(len(rows)), [label for label, _ in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))

    return drawn(1 + (ROW + 0.05) * len(rows), draw)
