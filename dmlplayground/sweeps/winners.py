"""What a search tries, what comes of it on validation classes, and what it leaves: ``best.yaml``, the winner as
hyperparameters, and ``repeat.yaml``, which trains it ten times."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ..base import files, layout
from ..base.errors import UserError
from ..parts import metrics, protocols
from ..trial import config, hyperparams
from ..trial.store import records
from ..trial.store.records import Record
from .search_space import Search

BEST, REPEAT, TRIED = hyperparams.WINNER, "repeat.yaml", "search.json"
REPEATS = 10
# What a file of hyperparameters does not set.
OWN = ("method.name", "data.", "backbone.", "protocol.", "seed", "search", "device")


@dataclass
class Proposal:
    """Settings, and what they came to: on each rung that they reached, where there are rungs."""

    number: int
    values: dict[str, Any]
    reached: list[dict[str, Any]] = field(default_factory=list)

    @property
    def value(self) -> float | None:
        return self.reached[-1].get("value") if self.reached else None


def none_can_be_trained(last: UserError | None) -> UserError:
    return UserError(f"none of the search's proposals can be trained; the last one: {last}")


def outcome(search: Search, folder: Path) -> dict[str, Any]:
    """What became of a trial: its score on the validation classes, and that after every epoch, averaged over folds. The epochs
    of an ensemble's members are counted through."""
    record = records.find(folder)
    found: dict[str, Any] = {"id": folder.name, "status": record.status if record else "missing"}
    if record is None or record.status != "finished":
        return found
    trial = config.trial(record.config)
    criterion = config.criterion(trial.protocol, trial.evaluation)
    folds: dict[int, list[float | None]] = {}
    for entry in record.epochs:
        if entry["epoch"]:
            folds.setdefault(entry["fold"], []).append(entry.get("metrics", {}).get(criterion.key))
    curve = [None if None in values else statistics.mean(values) for values in zip(*folds.values())]
    if search.rungs:
        scored = [(epoch, value) for epoch, value in enumerate(curve, 1) if value is not None]
        best = max if criterion.higher_is_better else min  # of equals these give the first
        if scored:
            found["epoch"], found["value"] = best(scored, key=lambda one: one[1])
    elif (value := validation(record)) is not None:
        found["value"] = value
    else:
        found["problem"] = "its criterion is not finite"
    return {**found, "curve": curve}


def validation(record: Record) -> float | None:
    """What a search without rungs goes by: the criterion at its best on each fold, averaged; nothing if it is not finite."""
    return protocols.create(**record.config["protocol"]).judged(record.results)


def write(
    search: Search,
    winner: Record,
    store: Path,
    value: float,
    states: Mapping[str, int],
    further: Mapping[str, Any],
    chosen: Mapping[str, Any],
) -> Path:
    """Write both files; returns that of the hyperparameters. ``value`` is the winner's criterion, ``states`` how many trials
    ended how, ``further`` what else there is to say of the search, and ``chosen`` values that the search set."""
    given = config.trial(winner.config).mapping()  # an older record lacks keys that came later
    protocol, part = protocols.create(**given["protocol"]), protocols.get(given["protocol"]["name"])
    scores = {
        name: float(metrics.get(name).shown(score))
        for name, score in part.measured(winner.results, part.leading)[0].items()
        if score is not None
    }
    seen = (
        "the folds' models joined, on test classes, which took no part in the search"
        if part.tests
        else "the first fold's model on its validation classes, which chose it; the search looked at no test class"
    )
    folds = layout.plural(protocol.trainings, "fold")
    plain = config.dotted(given)
    ends = {key: one.edge(plain[key]) for key, one in search.parameters.items() if key in plain}
    edges = {key: end for key, end in ends.items() if end}
    backbone = given["backbone"]["name"]
    set_by_search = {key: {"value": one, "source": "search"} for key, one in chosen.items()}
    content = {
        "method": given["method"]["name"],
        "source": "search",
        "note": f"{search.title}. Listed: what was searched or chosen. The rest is the method's own.",
        "values": {**values(search, given, edges), **set_by_search},
        "reported": [{"backbone": backbone, "source": "search", "runs": 1, "scores": scores, "note": seen}],
        "search": {
            "data": given["data"],
            "trials": dict(states),
            "criterion": f"{protocol.criterion} on validation classes, mean of {folds}",
            "value": value,
            "winner": winner.id,
            "record": TRIED,
            "seed": search.seed,
            **further,
            **({"edges": edges} if edges else {}),
            "finished": records.now(),
            "versions": winner.versions,
        },
    }
    _save(store / BEST, content)
    base = {key: value for key, value in given.items() if key != "seed"}
    if not part.tests:
        names = {key: given[key] for key in ("method", "trainer", "data", "backbone", "search")}
        base = config.trial({**names, "hyperparams": str(store / BEST)}).mapping()
        del base["seed"]
    repeat = {
        "title": f"{search.title}: the winner, {REPEATS} times",
        "about": f"The settings of {winner.id}, which won the search, trained with new seeds.",
        "base": base,
        "grid": {"seed": [winner.seed + number for number in range(1, REPEATS + 1)]},
    }
    _save(store / REPEAT, repeat)
    return store / BEST


def _save(path: Path, content: Mapping[str, Any]) -> None:
    with files.replacing(path) as file:
        yaml.safe_dump(dict(content), file, sort_keys=False, width=110)


def values(search: Search, winner: Mapping[str, Any], edges: Mapping[str, str] = {}) -> dict[str, Any]:
    """The values that were searched, and those that differ from the method's own, with their sources."""
    parts = {part: {"name": winner[part]["name"]} for part in ("method", "backbone")}
    same = {key: winner[key] for key in ("trainer", "data")}
    plain = config.dotted(config.trial({**parts, **same}).mapping())
    given, names = config.dotted(winner), [f"{name}." for name in search.parameters]
    # The value of a key, or an entry of it where it is a list, may have been searched.
    searched = {key for key in given if any(name.startswith(f"{key}.") for name in names)}
    return {
        key: {
            "value": value,
            "source": "search" if key in searched else "chosen",
            **({"note": f"at the {edges[key]} end of its range"} if key in edges else {}),
        }
        for key, value in given.items()
        if not key.startswith(OWN) and (key in searched or key not in plain or plain[key] != value)
    }
