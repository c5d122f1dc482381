"""The first screen: which method is best, by how much, is it beyond the noise, against what was published, at what cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Optional

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
    cells = champions(arena)
    if not cells:
        return []
    kind = cells[0].primary
    scores = [cell.scores(kind, "R@1") for cell in cells]
    top = best(scores)
    chances = against_best(scores)
    return [
        _winner(arena, cells[top]),
        _margin(cells, scores, chances, top),
        _published(arena, cells[top]),
        _cost(arena, cells[top], [cell for cell, p in zip(cells, chances) if p is not None and p >= LEVEL]),
    ]


def champions(arena: Arena) -> list[Cell]:
    """Every method's best cell."""
    methods: dict[str, list[Cell]] = {}
    for cell in arena.finished:
        methods.setdefault(cell.method, []).append(cell)
    return [cells[best([cell.scores(cell.primary, "R@1") for cell in cells])] for cells in methods.values()]


def _winner(arena: Arena, cell: Cell) -> Answer:
    score = cell.scores(cell.primary, "R@1")
    details = [f"R@1 {text(score)} % ({cell.primary}), {score.n} seed{'s' * (score.n != 1)}"]
    if score.interval:
        details.append(f"95 % interval {score.interval[0]:.2f} to {score.interval[1]:.2f}")
    untrained = arena.untrained("R@1").get(cell.config["backbone"]["name"])
    if untrained and arena.protocol == "paper":
        details.append(f"the untrained network: {untrained.mean:.2f}")
    return Answer("Best method", cell.label, details)


def _margin(cells: list[Cell], scores: list, chances: list[Optional[float]], top: int) -> Answer:
    question = "By how much, beyond the noise?"
    others = sorted((i for i in range(len(cells)) if i != top), key=lambda i: -scores[i].mean)
    if not others:
        return Answer(question, "There is no other method to compare with")
    second = others[0]
    gap = scores[top].mean - scores[second].mean
    lead = f"{abs(gap):.2f} points {'ahead of' if gap >= 0 else 'behind'} {cells[second].label}"
    level = [i for i in others if chances[i] is not None and chances[i] >= LEVEL]
    untested = [cells[i].method for i in others if chances[i] is None]
    details = [lead + (f" (p {_p(chances[second])})" if chances[second] is not None else "")]
    if scores[top].spread is None:
        answer = "Cannot be said: single runs"
    elif level:
        answer = "No: level with " + listing(cells[i].method for i in level)
    else:
        answer = "Yes" if len(untested) < len(others) else "Cannot be said: the others are single runs"
    if untested and scores[top].spread is not None:
        details.append(f"single runs, not tested: {listing(untested)}")
    last = max(cells, key=lambda cell: cell.scores(cell.secondary, "R@1").mean)
    if cells[top].primary == "best" and last is not cells[top]:
        details.append(f"after the last epoch {last.method} leads with {text(last.scores('last', 'R@1'))}")
    return Answer(question, answer, details)


def _published(arena: Arena, cell: Cell) -> Answer:
    question = "Against what was published?"
    pairs = [
        (each, each.scores(each.primary, "R@1").mean - published.find(each.config)["R@1"].value)
        for each in arena.finished
        if "R@1" in published.find(each.config)
    ]
    if not pairs:
        return Answer(
            question,
            "Nothing published corresponds",
            ["the study's tables are of CUB-200-2011, Cars196 and SOP"],
        )
    mean = sum(gap for _, gap in pairs) / len(pairs)
    details = [f"R@1 here minus published, mean of {len(pairs)} cell{'s' * (len(pairs) != 1)}: {mean:+.2f}"]
    furthest, gap = max(pairs, key=lambda pair: abs(pair[1]))
    details.append(f"furthest: {furthest.label} {gap:+.2f}")
    own = published.find(cell.config).get("R@1")
    if own is None:
        return Answer(question, f"{mean:+.2f} points on average", details)
    here = cell.scores(cell.primary, "R@1").mean
    return Answer(
        question,
        f"{here - own.value:+.2f} points for {cell.method}",
        [f"published {own.value:.1f} (quoted)", *details],
    )


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
    return f"= {value:.2g}" if value >= 0.001 else "< 0.001"
