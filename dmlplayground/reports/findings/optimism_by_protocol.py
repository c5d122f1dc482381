"""How much each protocol adds to a score that the test classes chose nothing of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean

from ...base.layout import plural
from ..statistics import LEVEL, Summary, differences, holm, paired
from ..tables import Column, Row, Table, body, slug
from . import diagram
from .sections import NOTHING, Section, gap, listed
from .sources import Network, Sources


def section(sources: Sources) -> Section:
    made = Section(["## How much optimism each protocol adds"])
    if not sources.networks:
        made.say(NOTHING)
    for network in sources.networks:
        _of_network(made, network)
    return made


def gaps(network: Network, metric: str, which: str) -> dict[str, Summary]:
    """The best result less another one, by method and seed."""
    reported, other = network.scores(network.best, metric), network.scores(which, metric)
    found = {label: differences(reported[label], other[label]) for label in other}
    return {label: value for label, value in found.items() if value}


def average(found: Mapping[str, Summary]) -> Summary:
    """The mean over methods, by seed; of seeds that all methods have."""
    seeds = set.intersection(*(set(value.values) for value in found.values())) if found else set()
    return Summary({seed: fmean(value.values[seed] for value in found.values()) for seed in sorted(seeds)})


def _of_network(made: Section, network: Network) -> None:
    made.blocks.append(f"### On {network.name}")
    others = [which for which in network.outcomes if which != network.best]
    made.say(
        *(f"*{network.best} − {which}*: {_meaning(network, which)}" for which in others),
    )
    for metric in network.metrics:
        for which in others:
            made.say(_told(network, metric, which))
    made.blocks.append(body(_table(network, others)))
    metric = network.metrics[0]
    found = {which: gaps(network, metric, which) for which in others}
    rows: list[tuple[str, Sequence[Summary | None]]] = [
        (cell.label, [found[which].get(cell.label) for which in others]) for cell in network.cells
    ]
    names = [f"{network.best} − {which}" for which in others]
    title = f"{metric} on {network.name}: what choosing by test classes adds"
    made.show(
        f"findings-optimism-{slug(network.store)}.svg",
        partial(diagram.of_gaps, rows, names, title, "percentage points, mean and 95 % interval"),
        title,
    )


def _meaning(network: Network, which: str) -> str:
    cell = next(iter(network.outcomes[which].values()))
    meaning = cell.protocol.meaning(which).partition(":")[0].partition(";")[0]
    if which == network.last:
        return (
            f"what the choice of the test epoch adds to the same runs, {which} being {meaning}. It cannot be below zero in "
            f"{network.chooser}, which chose. In other metrics it can."
        )
    if which == cell.protocol.beside:
        return (
            f"{which} is {meaning}. These were trained on fewer classes, as validation classes were kept back, so this gap is "
            "an upper bound of the optimism, apart from noise."
        )
    return (
        f"{which} is {meaning}. These are several models in the place of one, each trained on fewer classes, so this gap is "
        "not that of optimism alone."
    )


def _told(network: Network, metric: str, which: str) -> str:
    found = gaps(network, metric, which)
    mean = average(found)
    if not mean:
        return ""
    beyond = dict(zip(found, holm([paired(value) for value in found.values()])))
    sure = [label for label, p in beyond.items() if p is not None and p < LEVEL]
    above, below = ([label for label in sure if sign * found[label].mean > 0] for sign in (1, -1))
    same = sum(not any(value.values.values()) for value in found.values())
    return (
        f"{metric}, {network.best} − {which}: {gap(mean)} points on average over {plural(len(found), 'method')}. By a "
        f"t-test over seeds with Holm's adjustment over the methods it is above zero for {_counted(above)} and below zero "
        f"for {_counted(below)}."
        + (f" For {plural(same, 'method')} it is exactly zero with every seed." if same else "")
    )


def _counted(labels: list[str]) -> str:
    return f"{len(labels)}{' (' + listed(labels) + ')' if labels else ''}"


def _table(network: Network, others: list[str]) -> Table:
    """The gaps of every method by both metrics, and their mean."""
    columns = [Column("method", numeric=False)]
    found = []
    for metric in network.metrics:
        for which in others:
            columns.append(Column(f"{metric} {network.best} − {which}"))
            found.append(gaps(network, metric, which))
    rows = [
        Row([cell.label, *(gap(one[cell.label]) if cell.label in one else None for one in found)])
        for cell in network.cells
    ]
    rows.append(Row(["mean of all methods", *(gap(average(one)) if average(one) else None for one in found)]))
    return Table("gains", "Gains", network.name, columns, rows)
