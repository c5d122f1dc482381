"""What a search tries, and what comes of it on validation classes."""

import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base import seeds
from ..base.errors import UserError
from ..parts import methods, protocols
from ..trial import config
from ..trial.store import records
from ..trial.store.records import Record
from .search_space import Search


@dataclass
class Proposal:
    """Settings, and what they came to: on each rung that they reached, where there are rungs."""

    number: int
    values: dict[str, Any]
    reached: list[dict[str, Any]] = field(default_factory=list)

    @property
    def value(self) -> float | None:
        return self.reached[-1].get("value") if self.reached else None


def sobol(search: Search, number: int) -> dict[str, Any]:
    """The values of a trial of the search, counted from 0: from a Sobol sequence, which is evenly spread. So a search proposes
    the same with any number of workers and however often it was stopped, and searches with the same range propose the same
    values for it. The first trial has the method's own options and the middle of every other range."""
    from scipy.stats import qmc

    parameters = search.parameters
    # The sequence begins with a corner, which is left out; the middle of everything follows.
    shares = qmc.Sobol(len(parameters), scramble=False).fast_forward(number + 1).random()[0]
    if search.rungs and number:  # each of several searches has its own points: all of them moved by as much
        moves = [seeds.generator(search.seed, "search", search.number, key).random() for key in parameters]
        shares = (shares + moves) % 1.0
    values = {key: parameter.at(share) for (key, parameter), share in zip(parameters.items(), shares)}
    return {**values, **_own_options(search)} if number == 0 else values


def _own_options(search: Search) -> dict[str, Any]:
    """The method's own options, batches and head, where the search would find them."""
    record = methods.get(search.config["method"]["name"])
    own = {f"method.{name}": option.default for name, option in record.options.items()}
    own["sampler"] = dict(record.sampler)
    own |= {f"head.{key}": value for key, value in record.head.items()}
    return {key: own[key] for key, one in search.parameters.items() if key in own and one.holds(own[key])}


def none_can_be_trained(last: UserError | None) -> UserError:
    return UserError(f"none of the search's proposals can be trained; the last one: {last}")


def outcome(search: Search, folder: Path) -> dict[str, Any]:
    """What became of a trial: its score on the validation classes, and that after every epoch."""
    record = records.find(folder)
    found: dict[str, Any] = {"id": folder.name, "status": record.status if record else "missing"}
    if record is None or record.status != "finished":
        return found
    curve = curve_of(record)
    if search.rungs:
        scored = [(epoch, value) for epoch, value in enumerate(curve, 1) if value is not None]
        best = max if _criterion(record).higher_is_better else min  # of equals these give the first
        if scored:
            found["epoch"], found["value"] = best(scored, key=lambda one: one[1])
    elif (value := validation(record)) is not None:
        found["value"] = value
    else:
        found["problem"] = "its criterion is not finite"
    return {**found, "curve": curve}


def curve_of(record: Record) -> list[float | None]:
    """The criterion after every epoch, averaged over folds; the epochs of an ensemble's members are counted through."""
    key = _criterion(record).key
    folds: dict[int, list[float | None]] = {}
    for entry in record.epochs:
        if entry["epoch"]:
            folds.setdefault(entry["fold"], []).append(entry.get("metrics", {}).get(key))
    return [None if None in values else statistics.mean(values) for values in zip(*folds.values())]


def validation(record: Record) -> float | None:
    """What a search without rungs goes by: the criterion at its best on each fold, averaged; nothing if it is not finite."""
    return protocols.create(**record.config["protocol"]).judged(record.results)


def _criterion(record: Record) -> Any:
    trial = config.trial(record.config)
    return config.criterion(trial.protocol, trial.evaluation)
