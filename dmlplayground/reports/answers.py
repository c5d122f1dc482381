"""The first screen of the page: which method is best, by how much, whether that is more than noise, and at what cost."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..base import layout
from ..parts import metrics
from ..parts.protocols import UNTOUCHED_FEATURES
from ..studies import published
from . import optimism
from .grouping import Arena, Cell
from .statistics import LEVEL, Lead, best, differences, leaders, leads, welch
from .tables import duration, signed, text

BELOW = "below the {}, {:.2f}: use these, or train with a lower rate or fewer steps"

POINTS = " points"  # of metrics in percent


class Answer(NamedTuple):
    question: str
    answer: str
    details: list[str]


def of_arena(arena: Arena, others: Sequence[Arena] = ()) -> list[Answer]:
    """A reader's first questions, answered from the arena's cells. Empty if nothing has finished."""
    cells = arena.champions()
    if not cells:
        return []
    # The network as it came is no method, unless there is nothing else.
    cells = [cell for cell in cells if cell.trained] or cells
    given = [cell.score for cell in cells], arena.metric.higher_is_better
    winner, ahead, level = cells[best(*given)], leads(*given), leaders(*given)
    every = [Rival(cell, ahead[index], index in level) for index, cell in enumerate(cells)]
    rivals = sorted((one for one in every if one.cell is not winner), key=lambda one: one.cell.rank)
    first = _winner(arena, winner, others), _lead(arena, winner, rivals)
    return [*first, _published(arena, winner), _cost(arena, winner, rivals)]


class Rival(NamedTuple):
    """Another method at its best setting, the winner's lead over it (if that can be tested), and whether they are level."""

    cell: Cell
    lead: Lead | None
    level: bool


def _winner(arena: Arena, cell: Cell, others: Sequence[Arena]) -> Answer:
    score = cell.score
    details = [f"{cell.headline} {text(score)} ({cell.primary}), {counted(score.n, 'seed')}"]
    untrained = arena.untrained(cell.headline).get(cell.backbone)
    if untrained and arena.untrained_on == {"test"}:
        chance = welch(score, untrained)
        better = cell.metric.better(score.mean, untrained.mean) and (chance is None or chance < LEVEL)
        words = "untrained network: " if better else "no better than the untrained network, "
        details.append(f"{words}{untrained.mean:.2f}")
    features = cell.untouched(cell.primary, cell.headline)
    if features is not None:
        below = metrics.get(cell.headline).better(features, score.mean)
        details.append((BELOW if below else "{}: {:.2f}").format(UNTOUCHED_FEATURES, features))
    for one in optimism.of_arena(arena, others):
        if one.cell is cell:
            gap = differences(one.reported, one.validated)
            validated = f", {signed(gap.mean)} against its validated folds" if gap else ""
            beside = f"against its {cell.protocol.beside} epoch"
            details.append(f"optimism: {signed(one.gain.mean)} {beside}{validated}")
    return Answer("Best method", cell.label, details)


def _lead(arena: Arena, winner: Cell, rivals: list[Rival]) -> Answer:
    question = "Is the lead more than noise?"
    settings = [cell for cell in arena.finished if cell.method == winner.method]
    ahead = zip(settings, leads([cell.score for cell in settings], winner.metric.higher_is_better))
    others = [_gap(winner, cell, lead) for cell, lead in ahead if cell is not winner]
    following = [f"{gap}, its next setting" for gap in others[:1]]
    if not rivals:
        return Answer(question, "There is no other method to compare it with", following)
    second = rivals[0]
    details = [_gap(winner, second.cell, second.lead), *following]
    untested = [rival.cell.method for rival in rivals if rival.lead is None]
    if untested and winner.score.n > 1:
        details.append(f"not tested, because they are single runs: {listing(untested)}")
    if winner.protocol.watches == "test":
        details += _beside_leader(winner, rivals)
    return Answer(question, _verdict(winner, rivals), details)


def _gap(winner: Cell, other: Cell, lead: Lead | None) -> str:
    """How far the winner is ahead of another cell, and how likely that is by chance."""
    gap = abs(winner.score.mean - other.score.mean)
    behind = winner.metric.better(other.score.mean, winner.score.mean)
    said = f"{gap:.2f}{POINTS * winner.metric.percent} {'behind' if behind else 'ahead of'} {other.label}"
    if lead is None:
        return said
    low, high = map(signed, lead.interval)
    chance = f"=\u00a0{lead.chance:.2g}" if lead.chance >= 0.001 else "<\u00a00.001"
    return f"{said} (95 % interval {low} to {high}, p\u00a0{chance})"


def _verdict(winner: Cell, rivals: list[Rival]) -> str:
    if winner.score.n == 1:
        return "Unknown: there are only single runs"
    if any(rival.level for rival in rivals):
        return "No: level with " + listing(rival.cell.method for rival in rivals if rival.level)
    if all(rival.lead is None for rival in rivals):
        return "Unknown: the others are single runs"
    return "Yes"


def _beside_leader(winner: Cell, rivals: list[Rival]) -> list[str]:
    """Who leads in the result beside the one that ranks, if that is another."""
    cells = [winner, *(rival.cell for rival in rivals)]
    beside = [cell.scores(cell.secondary, cell.headline) for cell in cells]
    if not any(beside) or (other := cells[best(beside, winner.metric.higher_is_better)]) is winner:
        return []
    when = winner.protocol.meaning(winner.secondary).partition(":")[0]
    return [f"{when} {other.method} leads with {text(other.scores(other.secondary, other.headline))}"]


def _published(arena: Arena, winner: Cell) -> Answer:
    question = "How does it compare with published numbers?"
    quotes = ((cell, cell.published(cell.primary).get(cell.headline)) for cell in arena.finished)
    gaps = {cell.label: cell.score.mean - quote.value for cell, quote in quotes if quote}
    if not gaps:
        details = []
        if near := published.differences(winner.config, len(winner.records)):
            quote, apart = near
            details = [f"nearest to {winner.method}: {quote.study}, {quote.source}: {'; '.join(apart)}"]
        return Answer(question, "No published number has the same conditions", details)
    mean = sum(gaps.values()) / len(gaps)
    furthest = max(gaps, key=lambda label: abs(gaps[label]))
    details = [
        f"{arena.headline} here − published (quoted), mean of {counted(len(gaps), 'row')}: {signed(mean)}",
        f"furthest: {furthest} {signed(gaps[furthest])}",
    ]
    gap, of = (gaps[winner.label], f"for {winner.method}") if winner.label in gaps else (mean, "on average")
    return Answer(question, f"{signed(gap)}{POINTS * winner.metric.percent} {of}", details)


def _cost(arena: Arena, winner: Cell, rivals: list[Rival]) -> Answer:
    details = []
    level = [rival.cell for rival in rivals if rival.level]
    cheaper = min(level, key=lambda cell: cell.seconds.mean, default=winner)
    if (seconds := cheaper.seconds.mean) < winner.seconds.mean:
        details.append(f"not significantly worse, and faster: {cheaper.method}, {duration(seconds)}")
    records = [record for cell in arena.finished for record in cell.records]
    spent = duration(sum(record.seconds for record in records))
    details.append(f"{layout.plural(len(records), 'trial')} in all: {spent}")
    machines = {record.machine.get("processor", "") for record in records} - {""}
    if len(machines) > 1:
        details.append(f"times are from {len(machines)} kinds of machine")
    else:
        details += sorted(machines)
    return Answer("What did it cost?", f"{duration(winner.seconds.mean)} a trial", details)


def counted(number: int, thing: str) -> str:
    return f"{number}\u00a0{thing}{'s' * (number != 1)}"


def listing(words: Iterable[str]) -> str:
    words = list(words)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
