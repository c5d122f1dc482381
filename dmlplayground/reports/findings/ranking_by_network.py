"""The methods in order on every network, and which differences are beyond the noise."""

from __future__ import annotations

from functools import partial

from ...base.layout import plural
from ...parts import metrics
from ..statistics import LEVEL, Summary, welch
from ..tables import Column, Row, Table, body, slug, text
from . import diagram
from .ranking import Ranking, seed_by_seed
from .sections import NOTHING, Section, ends, listed, told_chance
from .sources import Network, Sources

HOW = (
    f"Two methods are told apart if a t-test of their means gives p < {LEVEL} after Holm's adjustment over all pairs of "
    "methods of a ranking. Its spread is that of the seeds pooled over all methods, because so few seeds say too little about "
    "a pair's own spread to compare so many pairs. That two methods cannot be told apart does not mean that they are equally "
    "good. Methods with the same seed begin with the same network; the last column counts the pairs that a t-test of the gaps "
    "seed by seed tells apart, which uses that. Beside each diagram, a bar joins methods of which no two can be told apart."
)


def section(sources: Sources) -> Section:
    made = Section(["## The ranking on each network"])
    if not sources.networks:
        made.say(NOTHING)
        return made
    made.say(HOW)
    for network in sources.networks:
        _of_network(made, network)
    return made


def _of_network(made: Section, network: Network) -> None:
    made.blocks.append(f"### On {network.name}")
    _say_what_is_missing(made, network)
    for metric in network.metrics:
        leading = network.ranking(network.best, metric)
        if len(leading.names) < 2:
            made.say("Fewer than two methods have several seeds, so nothing can be told apart yet.")
            continue
        _say_who_leads(made, leading, f"{metric} ({network.best})")
        _say_whether_noise_is_shared(made, leading)
        _show(made, network, leading, metric)
    made.blocks.append(body(table(network)))
    made.say(
        f"Bold: the highest mean of the column, and all that cannot be told apart from it. {_meanings(network)}"
    )
    made.blocks.append(body(_separations(network)))


def _show(made: Section, network: Network, leading: Ranking, metric: str) -> None:
    """The diagram of a ranking. Beside its rows a bar joins methods of which no two can be told apart."""
    made.show(
        f"findings-{slug(network.store)}-{slug(metric)}.svg",
        partial(
            diagram.of_ranking,
            leading,
            f"{metric} on {network.name}",
            f"{metrics.get(metric).label}, {network.best} epoch, mean and 95 % interval",
        ),
        f"Methods by {metric} on {network.name}",
    )


def _meanings(network: Network) -> str:
    protocol = network.arena.protocol
    told = [f"*{which}*: {protocol.meaning(which)}." for which in (network.best, network.last)]
    return " ".join([*told, f"The metric that chose was {network.chooser}."])


def _say_what_is_missing(made: Section, network: Network) -> None:
    usual = max(len(cell.records) for cell in network.cells)
    fewer = [f"{cell.label} ({len(cell.records)})" for cell in network.cells if len(cell.records) < usual]
    made.say(f"Methods with fewer than {plural(usual, 'seed')}: {listed(fewer)}." if fewer else "")
    problems = [problem for cell in network.arena.cells for problem in cell.problems]
    told = [f"{problem.id} ({problem.status})" for problem in problems]
    made.say(f"Trials without a result: {listed(told)}." if told else "")


def _say_who_leads(made: Section, found: Ranking, of_what: str) -> None:
    top, others = found.scores[found.best], len(found.names) - 1
    level = found.level
    made.say(
        f"The highest mean {of_what} is that of **{found.best}**: {text(top)}, interval {ends(top.interval)}.",
        f"{len(level)} of the {others} other methods cannot be told apart from it"
        f"{': ' + listed(level) if level else ''}.",
        f"Of {plural(len(found.pairs), 'pair')} of methods, {len(found.apart)} are told apart.",
    )


def _say_whether_noise_is_shared(made: Section, found: Ranking) -> None:
    noise, freedom = found.noise
    spreads = list(found.spreads.items())
    (least, low), (most, high) = spreads[0], spreads[-1]
    told = f"The pooled spread is {noise:.2f} points ({freedom} degrees of freedom). The methods' own go from {low:.2f} "
    told += f"({least}) to {high:.2f} ({most})"
    chance = found.unequal
    made.say(f"{told}." if chance is None else f"{told}; {_verdict(chance)}", _doubt(found))


def _verdict(chance: float) -> str:
    test = f"that they are the same has {told_chance(chance)} (Brown and Forsythe's test)"
    if chance < LEVEL:
        return (
            f"{test}. So they are not: pairs of methods with large spreads are told apart too easily, and "
            "pairs with small ones not easily enough."
        )
    return f"{test}, so nothing speaks against pooling them."


def _doubt(found: Ranking) -> str:
    """How far the answer depends on the pooled spread."""
    told = len(found.separated(welch))
    alone = f"Welch's test, which takes each pair's own spreads, tells {plural(told, 'pair')} apart after the same adjustment."
    doubtful = [f"{one} / {other}" for one, other in found.doubtful]
    if not doubtful:
        return f"{alone} Each pair that is told apart here has p < {LEVEL} in Welch's test by itself, too."
    return (
        f"{alone} Of the pairs told apart here, {len(doubtful)} would not be by Welch's test even without an adjustment, and "
        f"should not be relied on: {listed(doubtful)}."
    )


def table(network: Network) -> Table:
    """Every method, the best first, with both metrics of both results."""
    columns = [Column("method", numeric=False), Column("seeds")]
    found: list[dict[str, Summary]] = []
    bold: list[set[str]] = []
    for metric in network.metrics:
        for which in (network.best, network.last):
            columns += [Column(f"{metric} {which}"), Column("interval")]
            found.append(network.scores(which, metric))
            ranked = network.ranking(which, metric)
            bold.append({ranked.best, *ranked.level} if len(ranked.names) > 1 else set())
    rows = []
    for cell in network.cells:
        values = [score.get(cell.label, Summary({})) for score in found]
        both = [part for score in values for part in (score, ends(score.interval) if score else None)]
        marked = {2 + 2 * number for number, names in enumerate(bold) if cell.label in names}
        rows.append(Row([cell.label, len(cell.records), *both], bold=marked))
    return Table("ranking", "Ranking", network.name, columns, rows)


def _separations(network: Network) -> Table:
    """How many pairs can be told apart, by every result and metric."""
    heads = (
        "result",
        "highest",
        "not told apart from it",
        "pairs",
        "told apart",
        "by Welch's test",
        "by seeds",
    )
    columns = [Column(head, numeric=number > 1) for number, head in enumerate(heads)]
    rows = []
    for metric in network.metrics:
        for which in network.outcomes:
            found = network.ranking(which, metric)
            if len(found.names) > 1:
                counts = [len(found.separated(test)) for test in (welch, seed_by_seed)]
                counted = [len(found.level), len(found.pairs), len(found.apart), *counts]
                rows.append(Row([f"{metric} {which}", found.best, *counted]))
    return Table("separations", "Pairs told apart", network.name, columns, rows)
