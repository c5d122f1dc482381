"""What the spectrum and the health of embeddings say about the score on test classes."""

from __future__ import annotations

from ...base.layout import plural
from .. import figure_files, transfer
from ..tables import body, slug
from .sections import Section, ends, listed
from .sources import Network, Sources

HOW = (
    "Each figure was measured at the end of training, and the score is that of the same epoch, which nothing has chosen. A point "
    "is a trial. Intervals are by bootstrap over methods, each with all of its seeds; they are not adjusted for how many "
    "figures there are, of which one in twenty would have an interval without 0 by chance. A correlation over methods does "
    "not say that changing the figure changes the score."
)


def section(sources: Sources) -> Section:
    made = Section(["## What rho and the health of training predict", HOW])
    told = [_of_network(made, network) for network in sources.networks]
    if not any(told):
        made.say("There are no records with the figures of training embeddings yet.")
    return made


def of_training(network: Network) -> list[transfer.Predictor]:
    """The figures of training embeddings at the end of training, the strongest first."""
    return [one for one in network.predictors if one.part == transfer.TRAINING]


def _of_network(made: Section, network: Network) -> bool:
    found = network.predictors
    if not found:
        return False
    made.blocks.append(f"### On {network.name}")
    shown = [one for one in found if excludes_zero(one)]
    made.say(
        f"Spearman's correlation with {network.arena.headline} ({network.last}) has an interval without 0 for {len(shown)} of "
        f"{plural(len(found), 'figure')}{': ' if shown else ''}{listed(map(told, shown), '')}.",
        *(_about(one) for one in found if one.part == transfer.TRAINING and one not in shown),
    )
    drawn = transfer.figure(network.arena, network.last)
    if drawn:
        name = f"findings-transfer-{slug(network.store)}.svg"
        made.show(name, lambda: figure_files.draw(drawn)[".svg"], f"{drawn.title}, on {network.name}")
    made.blocks.append(body(transfer.correlations(network.arena, found, network.last)))
    return True


def excludes_zero(one: transfer.Predictor) -> bool:
    interval = one.interval(ranked=True)
    return interval is not None and (interval[0] > 0 or interval[1] < 0)


def told(one: transfer.Predictor) -> str:
    value = one.correlation(ranked=True) or 0.0
    where = transfer.MEASURED_ON[one.part]
    return f"{one.figure} of {where} {value:+.2f}".replace("-", "−") + f" ({ends(one.interval(ranked=True))})"


def _about(one: transfer.Predictor) -> str:
    """Of a figure of the training embeddings that does not predict."""
    return f"No prediction by {told(one)}: its interval contains 0."
