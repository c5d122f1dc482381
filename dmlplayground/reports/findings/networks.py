"""The networks compared: a few methods on each, and whether their order holds."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

from ...parts import metrics
from ..cost import images, processor
from ..grouping import Arena, Cell
from ..statistics import Summary
from ..tables import Column, Row, Seconds, Table, body
from .kendall import Agreement
from .ranking import Ranking, reversed_pairs
from .sections import Section, ends, listed
from .sources import Sources, network_name

ByNetwork = dict[str, dict[str, Cell]]  # the cell of every method, by network


def section(sources: Sources) -> Section:
    made = Section(["## The networks compared"])
    found = by_network(sources.backbones)
    if len(found) < 2:
        made.say("There are no records of the same methods on several networks yet.")
        return made
    cells = [cell for methods in found.values() for cell in methods.values()]
    metric, which = cells[0].headline, cells[0].primary
    made.say(
        f"{metric} ({which}) of the same methods on each network. The weights of a pretrained network come from photographs, "
        "so a gap between networks is one of architecture, weights and size of the images together."
    )
    made.blocks.append(body(_scores(found, metric, which)))
    made.blocks.append(body(_costs(found)))
    rankings = {name: _ranking(methods, metric, which) for name, methods in found.items()}
    made.blocks.append(body(_leaders(rankings)))
    made.say(*_order(rankings))
    made.blocks.append(body(_orders(found, rankings, metric, which)))
    return made


def by_network(arenas: list[Arena]) -> ByNetwork:
    found: ByNetwork = defaultdict(dict)
    for cell in (cell for arena in arenas if arena.protocol.watches == "test" for cell in arena.finished):
        found[network_name(cell)][cell.method] = cell
    return dict(sorted(found.items()))


def _scored(methods: dict[str, Cell], metric: str, which: str) -> dict[str, Summary]:
    scores = {name: cell.scores(which, metric) for name, cell in methods.items()}
    return {name: score for name, score in scores.items() if score}


def _ranking(methods: dict[str, Cell], metric: str, which: str) -> Ranking:
    return Ranking.of(_scored(methods, metric, which), metrics.get(metric).higher_is_better)


def _scores(found: ByNetwork, metric: str, which: str) -> Table:
    names = list(dict.fromkeys(name for methods in found.values() for name in methods))
    columns = [Column("network", numeric=False), Column("images of"), *map(Column, names)]
    rows = []
    for network, methods in found.items():
        scores = _scored(methods, metric, which)
        size = {cell.config["data"].get("size") for cell in methods.values()}
        rows.append(Row([network, listed(map(str, size)), *(scores.get(name) for name in names)]))
    return Table("networks", "Networks", "", columns, rows)


def _costs(found: ByNetwork) -> Table:
    """What the trials of a network cost on average."""
    heads = ("network", "trials", "images seen", "parameters", "processor time of training")
    columns = [Column(head, numeric=number > 0) for number, head in enumerate(heads)]
    rows = []
    for network, methods in found.items():
        records = [record for cell in methods.values() for record in cell.records]
        parameters = [record.cost["parameters"] for record in records if "parameters" in record.cost]
        worked = [seconds for record in records if (seconds := processor(record)) is not None]
        seen = [images(record) for record in records]
        rows.append(
            Row(
                [
                    network,
                    len(records),
                    round(sum(seen) / len(seen)),
                    round(sum(parameters) / len(parameters)) if parameters else None,
                    Seconds(sum(worked) / len(worked)) if worked else None,
                ]
            )
        )
    return Table("costs-of-networks", "What they cost", "", columns, rows)


def _leaders(rankings: dict[str, Ranking]) -> Table:
    """The best on every network, and what can be told apart."""
    heads = ("network", "highest mean", "not told apart from it", "pairs", "told apart")
    columns = [Column(head, numeric=number > 2) for number, head in enumerate(heads)]
    rows = [
        Row([name, found.best, listed(found.level), len(found.pairs), len(found.apart)])
        for name, found in rankings.items()
        if len(found.names) > 1
    ]
    return Table("leaders-of-networks", "Who leads", "", columns, rows)


def _order(rankings: dict[str, Ranking]) -> list[str]:
    """Whether the same methods lead everywhere."""
    orders = {tuple(ranking.names) for ranking in rankings.values()}
    first = (
        "All networks have the methods in the same order"
        if len(orders) == 1
        else "The order of means differs"
    )
    leaders = {ranking.best for ranking in rankings.values() if ranking.names}
    same = "the same method has the highest mean on all" if len(leaders) == 1 else "the highest mean changes"
    turned = {frozenset(pair) for a, b in combinations(rankings.values(), 2) for pair in reversed_pairs(a, b)}
    pairs = [" / ".join(sorted(pair)) for pair in sorted(turned, key=sorted)]
    beyond = (
        f"Beyond the noise, the order of {listed(pairs)} is reversed between two networks."
        if pairs
        else ("No pair that two networks both tell apart is in opposite order on them.")
    )
    return [f"{first}; {same}.", beyond]


def _orders(found: ByNetwork, rankings: dict[str, Ranking], metric: str, which: str) -> Table:
    heads = ("first", "second", "methods", "tau", "interval", "reversed")
    columns = [Column(head, numeric=number > 1) for number, head in enumerate(heads)]
    rows = []
    for a, b in combinations(found, 2):
        agreement = Agreement.of(*(_scored(found[name], metric, which) for name in (a, b)))
        turned = len(reversed_pairs(rankings[a], rankings[b]))
        rows.append(Row([a, b, len(agreement.methods), agreement.tau, ends(agreement.interval), turned]))
    return Table("orders-of-networks", "Orders", "", columns, rows)
