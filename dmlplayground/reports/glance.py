"""The first screen: which method is best, by how much, is it beyond the noise, against what was published, at what cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from . import published
from .cells import Arena, Cell
from .statistics import LEVEL, against_best, best
from .tables import duration, text


@dataclass
class Answer:
    question: str
    answer: str
    details: list[str] = field(default_factory=list)


def answers(arena: Arena) -> list[Answer]:
    """The questions a reader comes with, answered from the arena's cells; empty where nothing has finished."""
    cells = arena.champions()
    if not cells:
        return []
    scores = [cell.score for cell in cells]
    top = best(scores)
    chances = against_best(scores)
    return [
        _winner(arena, cells[top]),
        _margin(cells, scores, chances, top),
        _published(arena, cells[top]),
        _cost(arena, cells[top], [cell for cell, p in zip(cells, chances) if p is not None and p >= LEVEL]),
    ]


def _winner(arena: Arena, cell: Cell) -> Answer:
    score = cell.score
    details = [f"{cell.headline} {text(score)} ({cell.primary}), {score.n}\u00a0seed{'s' * (score.n != 1)}"]
    if score.interval:
        details.append(f"95 % interval {score.interval[0]:.2f} to {score.interval[1]:.2f}")
    untrained = arena.untrained(cell.headline).get(cell.config["backbone"]["name"])
    if untrained and arena.untrained_on == {"test"}:
        details.append(f"the untrained network: {untrained.mean:.2f}")
    return Answer("Best method", cell.label, details)


def _margin(cells: list[Cell], scores: list, chances: list[float | None], top: int) -> Answer:
    question = "By how much, beyond the noise?"
    others = sorted((i for i in range(len(cells)) if i != top), key=lambda i: -scores[i].mean)
    if not others:
        return Answer(question, "There is no other method to compare with")
    second = others[0]
    gap = scores[top].mean - scores[second].mean
    lead = f"{abs(gap):.2f} points {'ahead of' if gap >= 0 else 'behind'} {cells[second].label}"
    level = [i for i in others if chances[i] is not None and chances[i] >= LEVEL]
    untested = [cells[i].method for i in others if chances[i] is None]
    details = [lead + (f" (p\u00a0{_p(chances[second])})" if chances[second] is not None else "")]
    if scores[top].spread is None:
        answer = "Cannot be said: single runs"
    elif level:
        answer = "No: level with " + listing(cells[i].method for i in level)
    else:
        answer = "Yes" if len(untested) < len(others) else "Cannot be said: the others are single runs"
    if untested and scores[top].spread is not None:
        details.append(f"single runs, not tested: {listing(untested)}")
    last = max(cells, key=lambda cell: cell.scores(cell.secondary, cell.headline).mean)
    if cells[top].primary == "best" and last is not cells[top]:
        details.append(
            f"after the last epoch {last.method} leads with {text(last.scores('last', last.headline))}"
        )
    return Answer(question, answer, details)


def _published(arena: Arena, winner: Cell) -> Answer:
    question = "Against what was published?"
    gaps = {cell.label: gap for cell in arena.finished if (gap := _against_published(cell)) is not None}
    if not gaps:
        return Answer(
            question,
            "Nothing published corresponds",
            ["the study's tables are of CUB-200-2011, Cars196 and SOP"],
        )
    mean = sum(gaps.values()) / len(gaps)
    furthest = max(gaps, key=lambda label: abs(gaps[label]))
    details = [
        f"{arena.headline} here minus published (quoted), mean of {len(gaps)} row{'s' * (len(gaps) != 1)}: {mean:+.2f}",
        f"furthest: {furthest} {gaps[furthest]:+.2f}",
    ]
    if winner.label not in gaps:
        return Answer(question, f"{mean:+.2f} points on average", details)
    return Answer(question, f"{gaps[winner.label]:+.2f} points for {winner.method}", details)


def _against_published(cell: Cell) -> float | None:
    quote = published.find(cell.config).get(cell.headline)
    return cell.score.mean - quote.value if quote else None


def _cost(arena: Arena, winner: Cell, level: list[Cell]) -> Answer:
    details = []
    cheaper = min(level, key=lambda cell: cell.seconds.mean, default=None)
    if cheaper and cheaper.seconds.mean < winner.seconds.mean:
        details.append(f"level with it and quicker: {cheaper.method}, {duration(cheaper.seconds.mean)}")
    records = [record for cell in arena.finished for record in cell.records]
    details.append(f"all {len(records)} trials: {duration(sum(record.seconds for record in records))}")
    machines = {record.machine.get("processor", "") for record in records} - {""}
    if len(machines) > 1:
        details.append(f"times are from {len(machines)} kinds of machine")
    else:
        details += sorted(machines)
    return Answer("What did it cost?", f"{duration(winner.seconds.mean)} a trial", details)


def listing(words: Iterable[str]) -> str:
    words = list(words)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _p(value: float) -> str:
    return f"=\u00a0{value:.2g}" if value >= 0.001 else "<\u00a00.001"
