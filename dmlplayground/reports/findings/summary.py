"""The findings in short: a line for each question, made of the same numbers as the sections below it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ...base.layout import plural
from ..statistics import LEVEL
from . import agreement, optimism_by_protocol, prediction, protocol_order
from .protocol_order import Compared
from .sections import Section, gap
from .sources import Network, Sources


def section(sources: Sources) -> Section:
    lines = [f"* {line}" for line in _lines(sources)]
    return Section(["## In short", "\n".join(lines)])


def _lines(sources: Sources) -> Iterator[str]:
    for network in sources.networks:
        yield from _ranking(network)
    for network in sources.networks:
        yield from _orders(
            list(protocol_order.by_protocol(network)), f"Under the protocols on {network.name}"
        )
    for one, other in combinations(sources.networks, 2):
        compared = list(protocol_order.by_network(one, other))
        yield from _orders(compared, f"On {one.name} and {other.name}")
    for network in sources.networks:
        yield from _optimism(network)
    yield _published()
    for network in sources.networks:
        yield from _prediction(network)


def _ranking(network: Network) -> Iterator[str]:
    for metric in network.metrics:
        found = network.ranking(network.best, metric)
        if len(found.names) > 1:
            yield (
                f"On {network.name} **{found.best}** has the highest mean {metric} ({network.best}); {len(found.level)} of the "
                f"{plural(len(found.names) - 1, 'other method')} cannot be told apart from it, and {len(found.apart)} of "
                f"{plural(len(found.pairs), 'pair')} of methods can be told apart."
            )


def _orders(compared: list[Compared], where: str) -> Iterator[str]:
    taus = [tau for one in compared if (tau := one.agreement.tau) is not None]
    if taus:
        turned = {frozenset(pair) for one in compared for pair in one.reversed}
        span = " to ".join(dict.fromkeys(f"{tau:.2f}" for tau in (min(taus), max(taus))))
        yield (
            f"{where}, the orders of the methods have a tau of {span}; "
            f"{plural(len(turned), 'pair')} of methods that both sides tell apart {'is' if len(turned) == 1 else 'are'} in "
            "opposite order."
        )


def _optimism(network: Network) -> Iterator[str]:
    told = []
    for which in network.outcomes:
        for metric in network.metrics if which != network.best else ():
            mean = optimism_by_protocol.average(optimism_by_protocol.gaps(network, metric, which))
            told += [f"{metric} {network.best} − {which} {gap(mean)}"] if mean else []
    if told:
        yield f"On {network.name}, on average over the methods and in points: {'; '.join(told)}."


def _published() -> str:
    found = agreement.between_studies()
    beyond = sum(p is not None and p < LEVEL for p in agreement.adjusted(found))
    return (
        f"The studies' published tables overlap in {plural(len(found), 'comparison')}; in {beyond} of them the orders agree or "
        "disagree by more than chance."
    )


def _prediction(network: Network) -> Iterator[str]:
    """Of the figures of training embeddings, those that go along with the score."""
    found = prediction.of_training(network)
    if found:
        sure = [prediction.told(one) for one in found if prediction.excludes_zero(one)]
        yield (
            f"On {network.name}, {len(sure)} of {plural(len(found), 'figure')} of the training embeddings "
            f"{'goes' if len(sure) == 1 else 'go'} along with {network.arena.headline} ({network.last})"
            f"{': ' + '; '.join(sure) if sure else ''}."
        )
