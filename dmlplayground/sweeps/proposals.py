"""What a search tries, and what comes of it on validation classes."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from ..base.errors import UserError
from ..parts import protocols
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
    def value(self) -> Optional[float]:
        return self.reached[-1].get("value") if self.reached else None


def none_can_be_trained(last: Optional[UserError]) -> UserError:
    return UserError(f"none of the search's proposals can be trained; the last one: {last}")


def outcome(search: Search, folder: Path) -> dict[str, Any]:
    """What became of a trial: its score on the validation classes, and that after every epoch."""
    record = records.find(folder)
    found: dict[str, Any] = {"id": folder.name, "status": record.status if record else "missing"}
    if record is None or record.status != "finished":
        return found
    curve = curve_of(record)
    if search.rungs:
        found.update(_best_of(curve, _criterion(record)))
    elif (value := validation(record)) is not None:
        found["value"] = value
    else:
        found["problem"] = "its criterion is not finite"
    return {**found, "curve": curve}


def _best_of(curve: list[Optional[float]], criterion: Any) -> dict[str, Any]:
    """The best epoch of a curve; the first of equals."""
    best: dict[str, Any] = {}
    for epoch, value in enumerate(curve, 1):
        if value is not None and (not best or criterion.better(value, best["value"])):
            best = {"epoch": epoch, "value": value}
    return best


def curve_of(record: Record) -> list[Optional[float]]:
    """The criterion after every epoch, averaged over folds; the epochs of an ensemble's members are counted through."""
    key = _criterion(record).key
    folds: dict[int, list[Optional[float]]] = {}
    for entry in record.epochs:
        if entry["epoch"]:
            folds.setdefault(entry["fold"], []).append(entry.get("metrics", {}).get(key))
    return [None if None in values else statistics.mean(values) for values in zip(*folds.values())]


def validation(record: Record) -> Optional[float]:
    """What a search without rungs goes by: the criterion at its best on each fold, averaged; nothing if it is not finite."""
    return protocols.create(**record.config["protocol"]).judged(record.results)


def _criterion(record: Record) -> Any:
    trial = config.trial(record.config)
    return config.criterion(trial.protocol, trial.evaluation)
