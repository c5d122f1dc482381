"""A published number: its conditions, and how a trial differs from them."""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple

import yaml

from ...base import registry


@dataclass(frozen=True)
class Study(registry.Part):
    """A publication: its file's function gives the numbers."""

    year: int = 0
    warning: str = ""  # what a reader must know about all of them
    protocol: str = ""  # whose results its tables show under names of their own
    metrics: Mapping[str, str] = field(default_factory=dict)  # what those tables call the metrics


KIND: registry.Kind[Study, Any] = registry.Kind("study", "dmlplayground.studies.published", Study)
UNTRAINED = "no training"  # in a method's place: the network as it came


def method_of(config: Mapping[str, Any]) -> str:
    """What a table calls such a trial."""
    return UNTRAINED if config.get("epochs") == 0 else str(config["method"]["name"])


class Not(NamedTuple):
    """A condition: anything but this."""

    value: Any

    def __str__(self) -> str:
        return f"not {self.value}"


class Score(NamedTuple):
    """In percent; ``half`` is half of the 95 % interval of the mean, ``spread`` the standard deviation over runs."""

    value: float
    half: float | None = None
    spread: float | None = None
    doubt: str = ""

    def __str__(self) -> str:
        interval = "" if self.half is None else f" ± {self.half:g}"
        return f"{self.value:g}{interval}{'?' * bool(self.doubt)}"


@dataclass(frozen=True)
class Quoted:
    """A number that others published: always shown as theirs."""

    value: float
    source: str
    doubt: str = ""
    half: float | None = None  # of the 95 % interval of its mean, where that was published


@dataclass(frozen=True)
class Quote:
    """Scores that were published together, and under which conditions."""

    source: str  # where in the study
    # By dotted key of a trial's configuration: a value, a tuple of values, or Not(value).
    conditions: Mapping[str, Any]
    scores: Mapping[str, Score]
    runs: int | None = None  # how many runs the mean is of, if known
    outcome: str = ""  # the result of a trial that it is to be compared with; empty: the one that leads
    axis: str = ""  # a point of a curve against this key; empty: a row of a table
    label: str = ""  # the study's name for the row
    study: str = field(default="", compare=False)

    def differences(self, flat: Mapping[str, Any], runs: int) -> list[str]:
        """How a trial differs from the published one. Empty if the two may be compared."""
        found = [
            f"{key.removesuffix('.name')} {words(there)} there, {words(flat.get(key))} here"
            for key, there in self.conditions.items()
            if not agrees(there, flat.get(key))
        ]
        if self.runs is not None and runs < self.runs:
            found.append(f"{self.runs} run{'s' * (self.runs != 1)} there, {runs} here")
        return found


def agrees(there: Any, here: Any) -> bool:
    if isinstance(there, Not):
        return bool(here != there.value)
    return here in there if isinstance(there, tuple) else bool(here == there)


def words(value: Any) -> str:
    """A condition, or what a trial has in its place, as one reads it."""
    if isinstance(value, tuple) and not isinstance(value, Not):
        return " or ".join(dict.fromkeys(map(words, value)))
    return "none" if value is None or value == [] else str(value)


def table(study: str) -> Iterator[Quote]:
    """The quotes of ``STUDY.csv``, one a row: where it stands, its conditions by dotted key, doubts, its scores by metric.

    A condition may be several values, ``128 | 120``, or ``not none``; where a cell is empty there is none. A score may have
    half of its interval, ``63.6 ± 0.48``, or its deviation, ``62.1 sd 0.27``. A doubt is about the whole row, or about the
    metric that it begins with; several are divided by `` // ``.
    """
    with Path(__file__).with_name(f"{study}.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        names = next(rows)
        metrics = names[names.index("doubts") + 1 :]
        for source, label, runs, outcome, axis, *cells in rows:
            given = {name: cell for name, cell in zip(names[5:], cells) if cell}
            doubts = given.pop("doubts", "").split(" // ")
            scores = {name: _score(name, given.pop(name), doubts) for name in metrics if name in given}
            conditions = {name: _condition(cell) for name, cell in given.items()}
            yield Quote(source, conditions, scores, int(runs) if runs else None, outcome, axis, label)


def _condition(cell: str) -> Any:
    if cell.startswith("not "):
        return Not(yaml.safe_load(cell[4:]))
    values = tuple(yaml.safe_load(one) for one in cell.split(" | "))
    return values if len(values) > 1 else values[0]


def _score(metric: str, cell: str, doubts: list[str]) -> Score:
    match = re.fullmatch(r"(\S+)(?: ± (\S+))?(?: sd (\S+))?", cell)
    assert match, f"{metric}: {cell}"
    half, spread = (float(text) if text else None for text in match.groups()[1:])
    about = [doubt for doubt in doubts if doubt.startswith(f"{metric}: ") or not re.match(r"\S+: ", doubt)]
    return Score(float(match[1]), half, spread, "".join(about).removeprefix(f"{metric}: "))


def flat(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration by dotted keys, under the name of its method in tables."""
    return {**flatten(config), "method.name": method_of(config)}


def flatten(mapping: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as one, with dotted keys, each of which is held once by all that are flattened."""
    found: dict[str, Any] = {}
    for key, value in mapping.items():
        if isinstance(value, Mapping) and value:
            found.update(flatten(value, f"{prefix}{key}."))
        else:
            found[intern(prefix + key)] = value
    return found
