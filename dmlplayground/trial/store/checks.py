"""What a file of a store must hold before a report can use it, so that damaged files are named at once.

Each function raises Wrong with the reason. Keys that are not checked here may be missing or hold anything, but a file holds a
checksum of all of them. Files that were written before there were checksums have none.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

STATUSES = ("running", "finished", "failed", "interrupted")
PARTS = ("method", "data", "backbone", "protocol")  # of a configuration, each with a name
CHECKSUM = "checksum"
#: Of an epoch.
NUMBERS = ("loss", "learning_rate", "steps", "images", "seconds", "processor_seconds", "evaluation_seconds")


class Wrong(ValueError):
    """The reason why a file cannot be used."""


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a file with its checksum."""
    written = json.loads(json.dumps(content, allow_nan=False))  # as it will be read
    return {**written, CHECKSUM: _checksum(written)}


def seal(content: Any) -> None:
    """The checksum, of a file that holds one."""
    need(isinstance(content, Mapping), "it does not hold a mapping")
    if CHECKSUM in content:
        agrees = content[CHECKSUM] == _checksum(content)
        need(agrees, "its content was changed after it was written, as its checksum shows")


def _checksum(content: Mapping[str, Any]) -> str:
    others = {key: value for key, value in content.items() if key != CHECKSUM}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()


def record(content: Any) -> None:
    """The content of a record's file."""
    seal(content)
    missing = [key for key in ("id", "config", "status") if key not in content]
    need(not missing, f"it has no {' and no '.join(missing)}")
    need(isinstance(content["id"], str) and content["id"], "its id is not a name")
    status = content["status"]
    need(status in STATUSES, f"its status {status!r} is not one of {', '.join(STATUSES)}")
    configuration(content["config"])
    need(is_number(content.get("seconds", 0.0)), "its seconds are not a number")
    for key in ("versions", "machine", "data", "results"):
        need(isinstance(content.get(key, {}), Mapping), f"its {key} are not a mapping")
    need(isinstance(content.get("started", ""), str), "it does not say when it started")
    need(isinstance(content.get("error") or "", str), "its error is not a text")
    cost = content.get("cost", {})
    numbers = isinstance(cost, Mapping) and all(map(is_number, cost.values()))
    need(numbers, "its cost is not a mapping of numbers")
    epochs, results = content.get("epochs", []), content.get("results", {})
    need(isinstance(epochs, list), "its epochs are not a list")
    for number, entry in enumerate(epochs):
        epoch(entry, f"entry {number} of its epochs")
    need(results or status != "finished", "it is finished, but has no results")
    for name, result in results.items():
        for entry in result if isinstance(result, list) else [result]:
            need(isinstance(entry, Mapping) and entry.get("metrics"), f"its result {name!r} has no metrics")
            metrics(entry["metrics"], f"its result {name!r}")
            weights = entry.get("weights") or []
            names = isinstance(weights, list) and all(isinstance(each, str) for each in weights)
            need(names, f"its result {name!r} does not name its weights")


def configuration(config: Any) -> None:
    need(isinstance(config, Mapping), "its config is not a mapping")
    for key in PARTS:
        part = config.get(key)
        named = isinstance(part, Mapping) and isinstance(part.get("name"), str)
        need(named, f"its config does not name the {key}")
    for key in ("seed", "embed_dim", "batch_size", "epochs"):
        need(is_count(config.get(key)), f"its config has no {key} that is a whole number")
    evaluation = config.get("evaluation", {})
    need(isinstance(evaluation, Mapping), "its config has an evaluation that is not a mapping")


def epoch(entry: Any, where: str = "it") -> None:
    """One epoch, of a record or of the stream."""
    need(isinstance(entry, Mapping), f"{where} is not a mapping")
    for key in ("epoch", "fold", "member"):
        need(is_count(entry.get(key)), f"{where} has no {key} that is a whole number")
    for key in NUMBERS:
        need(entry.get(key) is None or is_number(entry[key]), f"{where} has a {key} that is not a number")
    for key in ("metrics", "training", "health"):
        metrics(entry.get(key) or {}, where)


def metrics(values: Any, where: str) -> None:
    need(isinstance(values, Mapping), f"{where} has metrics that are not a mapping")
    for name, value in values.items():
        need(value is None or is_number(value), f"{where} has {name} {value!r}, which is not a number")


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def need(condition: Any, reason: str) -> None:
    """Raise Wrong with the reason unless the condition holds."""
    if not condition:
        raise Wrong(reason)
