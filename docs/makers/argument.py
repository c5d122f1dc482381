"""The Reality Check's argument, recomputed: what scores see, and how far apart the published methods are.

``python docs/makers/argument.py docs`` writes its page and the two figures on it.
"""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dmlplayground.base import files
from dmlplayground.parts import methods, metrics, protocols
from dmlplayground.parts.metrics import Ranks
from dmlplayground.reports.figure_files import COLOURS, INK, blank, saved
from dmlplayground.reports.tables import Column, Row, Table, body
from dmlplayground.studies import published
from dmlplayground.studies.published import Quote, Score

PAGE, SPACES, YEARS = "argument.md", "argument-spaces.svg", "argument-years.svg"
GAPS = (2.2, 2.5, 4.0)  # between the centres of the classes, whose radius is 1
SHOWN = ("NMI", "F1", "R@1", "RP", "MAP@R")
DATA = {"cub200": "CUB-200-2011", "cars196": "CARS196", "sop": "Stanford Online Products"}
STUDY, METRICS = "musgrave2020", ("R@1", "MAP@R")
OF_STUDY = {
    "N. Softmax": 2017
}  # the first paper with this loss; our record names the one that brought it here
FIRST = "contrastive"  # the oldest loss, with which the others are compared


# --- what scores see ----------------------------------------------------------------------------------------


def space(gap: float, size: int = 100) -> tuple[Any, Any]:
    """Three discs of points on a sunflower's spiral, a class each, with their centres ``gap`` apart; and their labels."""
    import numpy as np

    numbers = np.arange(size) + 0.5
    radius, angle = np.sqrt(numbers / size), numbers * math.pi * (3 - math.sqrt(5))
    centres = [(0.0, 0.0), (gap, 0.0), (gap / 2, gap * math.sqrt(3) / 2)]
    discs = [
        np.stack([x + radius * np.cos(angle + number), y + radius * np.sin(angle + number)], axis=1)
        for number, (x, y) in enumerate(centres)
    ]
    return np.concatenate(discs), np.repeat(np.arange(len(centres)), size)


def scores(points: Any, labels: Any) -> dict[str, float]:
    """In percent. k-means starts from the means of the classes, so chance plays no part."""
    measured = metrics.evaluate(points, labels, ks=[1], clustering=False)
    clusters = _clusters(points, labels)
    measured |= {"NMI": metrics.nmi(labels, clusters), "F1": metrics.pairwise_f1(labels, clusters)}
    return {name: 100 * measured[name] for name in SHOWN}


def _clusters(points: Any, labels: Any) -> Any:
    """Lloyd's k-means until nothing moves."""
    import numpy as np

    clusters, before = labels, None
    while before is None or (clusters != before).any():
        means = np.stack([points[clusters == one].mean(axis=0) for one in np.unique(labels)])
        before, clusters = clusters, ((points[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    return clusters


RETRIEVED = {  # of ten other images of the query's class, those among the ten nearest: their ranks
    "only the nearest": (1,),
    "the nearest and the tenth": (1, 10),
    "the two nearest": (1, 2),
    "all ten": tuple(range(1, 11)),
}


def retrieved() -> Table:
    """What a query's result is worth: the study's table 3."""
    rows = [Row([which, *_worth(hits)]) for which, hits in RETRIEVED.items()]
    columns = [Column("of the ten nearest, of the query's class", numeric=False), *map(Column, SHOWN[2:])]
    return Table("retrieved", "What is found of ten", "one query", columns, rows)


def _worth(hits: Sequence[int], relevant: int = 10) -> list[float]:
    ranks = Ranks.of([[*hits, *range(100, 100 + relevant - len(hits))]])
    found = metrics.recall_at_k(ranks, 1), metrics.r_precision(ranks), metrics.map_at_r(ranks)
    return [100 * float(value[0]) for value in found]


# --- papers and reality -------------------------------------------------------------------------------------


class Method(NamedTuple):
    """A row of a published table."""

    label: str
    year: int  # of the method's own paper
    scores: Mapping[str, Score]


def rows(data: str) -> list[Method]:
    """The study's table for a data set, the oldest method first."""
    leading = protocols.get(published.get(STUDY).protocol).leading
    found = [
        Method(quote.label, _year(quote), quote.scores)
        for quote in published.quotes()
        if (quote.study, quote.outcome, quote.conditions["data.name"]) == (STUDY, leading, data)
        and quote.conditions["method.name"] != published.UNTRAINED
    ]
    return sorted(found, key=lambda row: (row.year, row.label))


def _year(quote: Quote) -> int:
    return OF_STUDY.get(quote.label) or methods.get(quote.conditions["method.name"]).year


@dataclass(frozen=True)
class Spread:
    """How far apart the methods of a table are in one metric."""

    data: str
    metric: str
    found: Sequence[Method]

    def score(self, row: Method) -> Score:
        return row.scores[self.metric]

    @property
    def best(self) -> Method:
        return max(self.found, key=lambda row: self.score(row).value)

    @property
    def first(self) -> Method:
        return next(row for row in self.found if row.label.lower() == FIRST)

    @property
    def level(self) -> list[Method]:
        """Those whose interval meets that of the best."""
        low = _ends(self.score(self.best))[0]
        return [row for row in self.found if row is not self.best and _ends(self.score(row))[1] >= low]

    @property
    def gain(self) -> float:
        """Points by which the best is ahead of the oldest."""
        return self.score(self.best).value - self.score(self.first).value

    @property
    def trend(self) -> float:
        """Spearman's correlation of score and year."""
        from scipy import stats

        return float(
            stats.spearmanr(
                [row.year for row in self.found], [self.score(row).value for row in self.found]
            ).statistic
        )


def _ends(score: Score) -> tuple[float, float]:
    return score.value - (score.half or 0), score.value + (score.half or 0)


def spreads() -> list[Spread]:
    return [Spread(data, metric, rows(data)) for data in DATA for metric in METRICS]


def apart() -> Table:
    """How far apart the methods are, a row for each data set and metric."""
    columns = [
        Column("data set", numeric=False),
        Column("score", numeric=False),
        Column("contrastive (2006)"),
        Column("the best", numeric=False),
        Column("its score"),
        Column("gain since 2006"),
        Column("level with the best", numeric=False),
        Column("correlation with the year"),
    ]
    made = [
        Row(
            [
                DATA[one.data],
                metrics.get(one.metric).label,
                _interval(one.score(one.first)),
                f"{one.best.label} ({one.best.year})",
                _interval(one.score(one.best)),
                f"{one.gain:+.2f}",
                ", ".join(f"{row.label} ({row.year})" for row in one.level) or "none",
                one.trend,
            ]
        )
        for one in spreads()
    ]
    return Table("apart", "How far apart the methods are", "the published tables", columns, made)


def by_year(data: str) -> Table:
    """The published rows of a data set, the oldest first."""
    columns = [Column("method", numeric=False), Column("year"), *(Column(name) for name in METRICS)]
    made = [
        Row([row.label, row.year, *(_interval(row.scores[name]) for name in METRICS)]) for row in rows(data)
    ]
    return Table("by-year", "By year", DATA[data], columns, made)


def _interval(score: Score) -> str:
    return f"{score.value:.2f} ± {score.half:.2f}"


# --- the figures and the page -------------------------------------------------------------------------------


def spaces_figure() -> bytes:
    """The three spaces with their scores, as an SVG file."""

    def draw(axes, gap: float) -> None:
        points, labels = space(gap)
        for label in sorted(set(labels)):
            axes.scatter(*points[labels == label].T, s=4, color=COLOURS[label])
        told = scores(points, labels)
        same, telling = (
            ", ".join(f"{name} {told[name]:.1f}" for name in part) for part in (SHOWN[:3], SHOWN[3:])
        )
        axes.set(title=f"{same}\n{telling}", aspect="equal", xticks=[], yticks=[])

    return _panels(GAPS, draw)


def years_figure() -> bytes:
    """MAP@R of every method with its interval against the year of its paper, as an SVG file."""

    def draw(axes, data: str) -> None:
        found = rows(data)
        for year in sorted({row.year for row in found}):
            same = [row for row in found if row.year == year]
            for place, row in enumerate(same):  # beside one another, within their year
                score = row.scores["MAP@R"]
                x = year + 0.8 * ((place + 0.5) / len(same) - 0.5)
                axes.errorbar(x, score.value, yerr=score.half, fmt="o", ms=3, color=COLOURS[0], ecolor=INK)
        axes.set(
            title=DATA[data], xlabel="year of the method", ylabel="MAP@R, %", xticks=range(2006, 2020, 4)
        )

    return _panels(tuple(DATA), draw)


def _panels(parts: Sequence[Any], draw) -> bytes:
    with blank(9.6, 3.4) as sheet:
        for axes, part in zip(sheet.subplots(1, len(parts)), parts):
            draw(axes, part)
        return saved(sheet, ".svg")


def page() -> str:
    """The argument in Markdown; its figures are the files beside it."""
    return "\n".join(_blocks())


def _blocks() -> Iterator[str]:
    study = published.get(STUDY)
    yield f"""# What scores see, and how far apart methods are

This page makes the argument of {study.title}.
The scores of the first two sections are computed here; the numbers of the last are the study's.
`python docs/makers/argument.py docs` writes the page.

## Three scores that see no difference

Each of these three spaces holds three classes of a hundred points. In the first the classes almost touch; in the last they
are far apart. NMI, F1 and R@1 are the same for all three. R-precision and MAP@R differ.

![Three spaces and their scores]({SPACES})

## What each score makes of one search

There are ten other images of the query's class. R@1 looks at the nearest image alone. R-precision is the share of the ten
nearest that are of its class. MAP@R is higher if these come first.
"""
    yield body(retrieved())
    yield f"""## Papers and reality

Each of these methods was published as better than those before it. Under one protocol, with settings found by a search for
each, they are much closer, and the newest are not always the best. The numbers are those of four models joined: the mean of ten
runs ± half of the 95 % interval. A method is *level with the best* if its interval overlaps that of the best. The correlation
with the year is Spearman's; 1 would mean that every later method is better.

![MAP@R by year]({YEARS})
"""
    yield body(apart())
    for data, title in DATA.items():
        yield f"### {title}\n"
        yield body(by_year(data))


def write(folder: str | Path) -> None:
    """The page and its figures, into a folder."""
    content = {PAGE: page().encode(), SPACES: spaces_figure(), YEARS: years_figure()}
    for name, data in content.items():
        with files.replacing(Path(folder) / name, "wb") as stream:
            stream.write(data)


if __name__ == "__main__":
    write(*sys.argv[1:])
