"""How the published tables of the studies agree with each other where they overlap, and with the order found here."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ...parts import methods, metrics, protocols
from ...studies import published
from ...studies.published import Quote
from ..statistics import LEVEL, holm
from ..tables import Column, Row, Table, body
from . import kendall
from .sections import NOTHING, Section
from .sources import Network, Sources

ADDED = "rho_"  # rows with the regulariser that their study proposes beside the methods it compares
TOLD = ("backbone.name", "embed_dim", "batch_size", "protocol.name")  # what is told where tables differ
HOW = (
    "Where a table has several rows of one method, the highest stands for it; rows with the regulariser of rho are left "
    "out. p is the chance of a tau at least as far from zero if the orders had nothing to do with each other; it says nothing "
    "about the noise within a table."
)


@dataclass(frozen=True)
class Published:
    """A study's table for a data set and a network: the score of every method."""

    study: str
    source: str
    data: str
    backbone: str
    quotes: Mapping[str, Quote]  # by method

    @property
    def name(self) -> str:
        return f"{self.study}, {self.source}, {self.backbone}"

    def conditions(self, shared: list[str]) -> dict[str, list[str]]:
        """The values of what may differ, over these methods."""
        return {
            key: sorted({str(_value(self.quotes[method].conditions[key])) for method in shared})
            for key in TOLD
        }

    def scores(self, metric: str) -> dict[str, float]:
        return {
            method: quote.scores[metric].value
            for method, quote in self.quotes.items()
            if metric in quote.scores
        }


def _value(condition: Any) -> Any:
    return condition[0] if isinstance(condition, tuple) else condition  # the published one before its likes


def published_tables() -> list[Published]:
    """Those with enough methods for an order. Of a study's results, the one that leads."""
    metric = shared_metric()
    found: dict[tuple[str, str, str, str], dict[str, Quote]] = defaultdict(dict)
    for quote in published.quotes():
        if _counts(quote, metric):
            given = quote.conditions
            key = quote.study, quote.source, str(given["data.name"]), str(given["backbone.name"])
            known = found[key].get(_method(quote))
            if known is None or known.scores[metric].value < quote.scores[metric].value:
                found[key][_method(quote)] = quote
    tables = [Published(*key, quotes=quotes) for key, quotes in found.items() if len(quotes) >= kendall.LEAST]
    return [one for one in tables if not any(_holds(other, one) for other in tables)]


def shared_metric() -> str:
    """The metric that every study has published."""
    by_study = [
        {metric for quote in published.quotes() if quote.study == study for metric in quote.scores}
        for study in published.names()
    ]
    common = set.intersection(*by_study)
    return next(name for name in metrics.leading([one.key for one in metrics.chosen()]) if name in common)


def _counts(quote: Quote, metric: str) -> bool:
    """Whether it is a trained method's row of a table, with the result that leads there."""
    if quote.axis or quote.conditions["method.name"] == published.UNTRAINED or quote.label.startswith(ADDED):
        return False
    leading = protocols.get(str(quote.conditions["protocol.name"])).leading
    return metric in quote.scores and quote.outcome in ("", leading)


def _method(quote: Quote) -> str:
    """The method here that the row is of: its name there, if that is a method's here."""
    return quote.label if quote.label in methods.names() else str(quote.conditions["method.name"])


def _holds(other: Published, one: Published) -> bool:
    """Whether another table of the same study has all that this one has, and more."""
    same = (other.study, other.data, other.backbone) == (one.study, one.data, one.backbone)
    return same and other.quotes.keys() > one.quotes.keys()


@dataclass(frozen=True)
class Comparison:
    """The scores of the same methods on two sides."""

    data: str
    sides: tuple[str, str]
    methods: list[str]
    values: tuple[list[float], list[float]]
    differing: str = ""

    @property
    def tau(self) -> float:
        return float(kendall.taus(*self.values))

    @property
    def chance(self) -> float:
        from scipy import stats

        return float(stats.kendalltau(*self.values).pvalue)


def between_studies() -> list[Comparison]:
    metric = shared_metric()
    found = []
    for a, b in combinations(published_tables(), 2):
        ours, theirs = a.scores(metric), b.scores(metric)
        shared = [method for method in ours if method in theirs]
        if a.data == b.data and a.study != b.study and len(shared) >= kendall.LEAST:
            values = [ours[method] for method in shared], [theirs[method] for method in shared]
            found.append(Comparison(a.data, (a.name, b.name), shared, values, _differing(a, b, shared)))
    return found


def _differing(a: Published, b: Published, shared: list[str]) -> str:
    ours, theirs = a.conditions(shared), b.conditions(shared)
    return "; ".join(
        f"{key.removesuffix('.name')} {', '.join(ours[key])} / {', '.join(theirs[key])}"
        for key in TOLD
        if ours[key] != theirs[key]
    )


def with_ours(network: Network) -> list[Comparison]:
    """Our order on a network beside every published table."""
    metric = shared_metric()
    ours: dict[str, float] = {}
    for cell in network.cells:
        score = cell.scores(network.best, metric)
        if score:
            ours[cell.method] = max(score.mean, ours.get(cell.method, score.mean))
    found = []
    for table in published_tables():
        theirs = table.scores(metric)
        shared = [method for method in ours if method in theirs]
        if len(shared) >= kendall.LEAST:
            values = [ours[method] for method in shared], [theirs[method] for method in shared]
            found.append(Comparison(table.data, (network.name, table.name), shared, values))
    return found


def section(sources: Sources) -> Section:
    made = Section(["## How the published tables agree", HOW, "### With each other"])
    found = between_studies()
    made.say(_verdict(found))
    made.blocks.append(body(_table(found, "what differs, first / second")))
    made.blocks.append("### With the order found here")
    ours = [one for network in sources.networks for one in with_ours(network)]
    if not ours:
        made.say(NOTHING)
        return made
    made.say("Data, networks, conditions and tuning all differ here.", _verdict(ours))
    made.blocks.append(body(_table(ours, "")))
    return made


def adjusted(found: list[Comparison]) -> list[float | None]:
    return holm([one.chance for one in found])


def _verdict(found: list[Comparison]) -> str:
    beyond = sum(p is not None and p < LEVEL for p in adjusted(found))
    counts = [len(one.methods) for one in found]
    least = 2 / math.factorial(min(counts))
    told = (
        f"{len(found)} comparisons by {shared_metric()}, of {min(counts)} to {max(counts)} methods each: tau is above 0 in "
        f"{sum(one.tau > 0 for one in found)} of them, and p < {LEVEL} after Holm's adjustment in {beyond}."
    )
    few = f" With {min(counts)} methods even the same order has p = {least:.2g}, so such a comparison can show nothing."
    return told + (few if least >= LEVEL else "")


def _table(found: list[Comparison], differing: str) -> Table:
    columns = [
        Column("data set", numeric=False),
        Column("first", numeric=False),
        Column("second", numeric=False),
        Column("methods"),
        Column("tau"),
        Column("p"),
        Column("p, adjusted"),
        *([Column(differing, numeric=False)] if differing else []),
    ]
    rows = [
        Row(
            [
                one.data,
                *one.sides,
                len(one.methods),
                one.tau,
                f"{one.chance:.3f}",
                f"{p:.3f}",
                *([one.differing] if differing else []),
            ]
        )
        for one, p in zip(found, adjusted(found))
    ]
    return Table("agreement", "Agreement", "", columns, rows)
