"""Every trial as data that the page opens on demand: configuration, scores, curves and health."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from ..parts import metrics
from ..parts.protocols import UNTRAINED
from ..trial.store.records import Record
from .figures import position
from .grouping import Arena, Cell, Problem, canonical, score

MOST = 5000  # trials; of more, none has curves in the page
POINTS = 120_000  # in all curves together: at about 15 characters each, what the page has room for


def of_arenas(arenas: Iterable[Arena]) -> list[dict[str, Any]]:
    """The cells of all arenas with their trials. To save room, a configuration is stored once per cell."""
    found = [(cell, arena) for arena in arenas for cell in arena.cells]
    curves = sum(len(cell.records) for cell, _ in found) <= MOST
    return [_cell(cell, arena, curves) for cell, arena in found]


def shared(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the trials were made with, each once; the trials have its number in its place."""
    known: dict[str, int] = {}
    for trial in (trial for cell in cells for trial in cell["trials"] if "made" in trial):
        trial["made"] = known.setdefault(canonical(trial["made"]), len(known))
    return [json.loads(made) for made in known]


def thinned(cells: Iterable[dict[str, Any]]) -> int:
    """If there are too many points, keep every n-th of each curve and the last. Returns n."""
    trials = [trial for cell in cells for trial in cell["trials"] if "curves" in trial]
    curves = [points for trial in trials for folds in trial["curves"].values() for points in folds.values()]
    step = max(1, math.ceil(sum(map(len, curves)) / POINTS))
    for points in curves:
        points[:] = [*points[:-1:step], points[-1]]
    return step


def _cell(cell: Cell, arena: Arena, curves: bool) -> dict[str, Any]:
    trials = [*(_finished(record, cell, curves) for record in cell.records), *map(_problem, cell.problems)]
    return {
        "key": cell.key,
        "label": cell.label,
        "arena": arena.title,
        "headline": arena.headline,
        "shown": [cell.primary, cell.secondary],
        "config": {key: value for key, value in cell.settings.items() if key != "seed"},
        "factors": list(cell.factors),
        "trials": sorted(trials, key=lambda trial: trial["seed"]),
    }


def _finished(record: Record, cell: Cell, curves: bool) -> dict[str, Any]:
    results = (cell.primary, cell.secondary)
    shown = [score(record, which, cell.headline) if cell.tells(which) else None for which in results]
    return {
        "id": record.id,
        "seed": record.seed,
        "status": record.status,
        "seconds": round(record.seconds, 1),
        "started": record.started,
        "made": {**record.data, **record.machine, **record.versions},
        "shown": rounded(shown),
        "scores": rounded(_scores(record, cell)),
        **({"curves": rounded(_curves(record))} if curves else {}),
    }


def _problem(problem: Problem) -> dict[str, Any]:
    seed = problem.config["seed"]
    trial = {"id": problem.id, "seed": seed, "status": problem.status, "reason": problem.reason}
    if problem.record:
        trial["curves"] = rounded(_curves(problem.record))
        trial["traceback"] = problem.record.error or ""
    return trial


def _scores(record: Record, cell: Cell) -> dict[str, dict[str, Any]]:
    """The metrics of every result; those of a fold are listed under the fold's name."""
    scores = {}
    for which, outcome in record.results.items():
        if not cell.tells(which):
            continue
        if isinstance(outcome, list):
            scores.update({f"fold {number}": _scaled(one["metrics"]) for number, one in enumerate(outcome)})
        elif which != UNTRAINED:
            scores[which] = _scaled(outcome["metrics"])
    return scores


def _scaled(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as shown: in percent, or as they are."""
    return {name: None if one is None else metrics.get(name).scale * one for name, one in values.items()}


def in_percent(cells: Iterable[dict[str, Any]]) -> set[str]:
    """The metrics among their trials' scores that are shown in percent."""
    trials = (trial for cell in cells for trial in cell["trials"])
    scores = (values for trial in trials for values in trial.get("scores", {}).values())
    return {name for name in {name for values in scores for name in values} if metrics.get(name).percent}


def _curves(record: Record) -> dict[str, dict[str, list]]:
    """Every quantity's points (epoch, value): quantity -> fold -> points."""
    curves: dict[str, dict[str, list]] = defaultdict(lambda: defaultdict(list))
    for entry in record.epochs:
        values = entry.get("metrics", {})
        found = _scaled({name: values[name] for name in metrics.leading(values)})
        found.update({"loss": entry.get("loss"), **(entry.get("health") or {})})
        for quantity, value in found.items():
            if value is not None:
                curves[quantity][f"fold {entry['fold']}"].append([position(record, entry), value])
    return curves


def rounded(content: Any) -> Any:
    """The same content, with numbers rounded to five significant digits."""
    if isinstance(content, float):
        return float(f"{content:.5g}")
    if isinstance(content, Mapping):
        return {key: rounded(value) for key, value in content.items()}
    return [rounded(one) for one in content] if isinstance(content, (list, tuple)) else content
