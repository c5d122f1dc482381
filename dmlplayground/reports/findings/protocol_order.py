"""How the order of the methods changes with the protocol, and with the network."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from ...base.layout import plural
from ..tables import Column, Row, Table, body, slug
from . import diagram, kendall
from .kendall import Agreement
from .ranking import crossings, reversed_pairs
from .sections import Section, ends, listed, told_chance
from .sources import Network, Sources

HOW = (
    "Kendall's tau is the share of pairs of methods in the same order less the share in opposite order: 1 is the same "
    "order, 0 no more agreement than chance. Its interval is tau ± 1.96 standard errors by bootstrap: every method's "
    f"seeds are drawn anew {kendall.DRAWS:,} times, the same ones for both sides. Noise alone lowers tau, so a tau below 1 "
    "does not show that the orders differ; *reversed* counts the pairs of methods that both sides tell apart, in "
    "opposite order."
)


class Side(NamedTuple):
    """A result on a network."""

    network: Network
    which: str


class Compared(NamedTuple):
    metric: str
    a: Side
    b: Side
    agreement: Agreement
    reversed: list[tuple[str, str]]


def section(sources: Sources) -> Section:
    made = Section(["## How the order changes with the protocol and the network", HOW])
    protocols = [one for network in sources.networks for one in by_protocol(network)]
    networks = [one for pair in combinations(sources.networks, 2) for one in by_network(*pair)]
    if sources.validated is None:
        made.say("There are no records of the same settings under the validated protocol yet.")
    if protocols:
        made.blocks.append("### With the protocol")
        for network in sources.networks:
            made.say(*(_leaders(network, metric) for metric in network.metrics))
        _tell(made, protocols)
        for network in sources.networks:
            if network is sources.validated:
                _show(made, network)
    for network in sources.networks:
        made.say(_noise(network), _validation(network))
    made.blocks.append("### With the network")
    if networks:
        _tell(made, networks)
    else:
        made.say("All methods were compared on one network only so far.")
    return made


def by_protocol(network: Network) -> Iterator[Compared]:
    for metric in network.metrics:
        for a, b in combinations(network.outcomes, 2):
            yield from _compared(metric, Side(network, a), Side(network, b))


def by_network(one: Network, other: Network) -> Iterator[Compared]:
    for metric in one.metrics:
        for which in (one.best, one.last):
            if metric in other.metrics:
                yield from _compared(metric, Side(one, which), Side(other, which))


def _compared(metric: str, a: Side, b: Side) -> Iterator[Compared]:
    agreement = Agreement.of(a.network.scores(a.which, metric), b.network.scores(b.which, metric))
    if agreement.tau is not None:
        reversals = reversed_pairs(*(side.network.ranking(side.which, metric) for side in (a, b)))
        yield Compared(metric, a, b, agreement, reversals)


def _tell(made: Section, found: list[Compared]) -> None:
    made.blocks.append(body(_table(found)))
    for one in found:
        if one.reversed:
            pairs = listed(f"{better} above {worse}" for better, worse in one.reversed)
            made.say(f"{one.metric}, {_between(one)}: the first has {pairs}; the second has them reversed.")
    if not any(one.reversed for one in found):
        made.say("No pair of methods that both sides tell apart is in opposite order.")


def _table(found: list[Compared]) -> Table:
    heads = ("score", "between", "methods", "tau", "interval", "reversed")
    columns = [Column(head, numeric=number > 1) for number, head in enumerate(heads)]
    rows = [
        Row(
            [
                one.metric,
                _between(one),
                len(one.agreement.methods),
                one.agreement.tau,
                ends(one.agreement.interval),
                len(one.reversed),
            ]
        )
        for one in found
    ]
    return Table("orders", "Orders", "", columns, rows)


def _between(one: Compared) -> str:
    if one.a.network is one.b.network:
        return f"{one.a.which} and {one.b.which} on {one.a.network.name}"
    return f"{one.a.network.name} and {one.b.network.name}, {one.a.which}"


def _show(made: Section, network: Network) -> None:
    """The orders side by side, and how many of their crossings are beyond the noise."""
    metric = network.metrics[0]
    rankings = {which: network.ranking(which, metric) for which in network.outcomes}
    if not all(found.names for found in rankings.values()):
        return
    title = f"Places by {metric} on {network.name}, by result"
    orders = {which: found.names for which, found in rankings.items()}
    name = f"findings-order-{slug(network.store)}.svg"
    made.show(name, partial(diagram.of_orders, orders, title), title)
    neighbours = list(zip([*rankings.values()], [*rankings.values()][1:]))
    lines = sum(len(crossings(a.names, b.names)) for a, b in neighbours)
    beyond = sum(len(reversed_pairs(a, b)) for a, b in neighbours)
    made.say(
        f"Between neighbouring columns, lines cross {plural(lines, 'time')}; in {beyond} of these both columns tell the two "
        "methods apart."
    )


def _leaders(network: Network, metric: str) -> str:
    """Which method has the highest mean, by result."""
    leaders: dict[str, list[str]] = {}
    for which in network.outcomes:
        found = network.ranking(which, metric)
        if found.names:
            leaders.setdefault(found.best, []).append(which)
    told = [f"{name} ({', '.join(where)})" for name, where in leaders.items()]
    return f"On {network.name} the highest mean {metric} is that of {listed(told)}." if told else ""


def _noise(network: Network) -> str:
    """What seeds alone do to the order."""
    metric = network.metrics[0]
    found = kendall.with_itself(network.scores(network.best, metric))
    if not found:
        return ""
    return (
        f"What noise alone does: on {network.name}, the order by half of the seeds and the order by the others "
        f"({metric}, {network.best}) have a tau of {fmean(found):.2f} on average over all ways to halve them "
        f"({min(found):.2f} to {max(found):.2f}). Halves are noisier than all seeds together."
    )


def _validation(network: Network) -> str:
    """How far the scores by which settings were chosen order the methods as the test does."""
    from scipy import stats

    winners = {one.method: one.winner for one in network.tunings}
    metric, which = network.metrics[0], network.last
    tested = network.scores(which, metric)
    shared = [label for label in tested if winners.get(label)]
    if len(shared) < kendall.LEAST or {one.criterion.key for one in network.tunings} != {metric}:
        return ""
    validated = [winner["value"] for label in shared if (winner := winners[label])]
    found = stats.kendalltau(validated, [tested[label].mean for label in shared])
    return (
        f"The order by the winners' scores on validation classes and that by the mean {metric} ({which}) on test classes have a "
        f"tau of {found.statistic:.2f} over {plural(len(shared), 'method')} ({told_chance(found.pvalue)} if they had nothing "
        "to do with each other)."
    )
