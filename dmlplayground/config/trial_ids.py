"""The id of a trial: a readable name that ends in a digest of what differs from the neutral values.

So a key or an option that is added later, with a neutral value that does what was done before it, renames no trial.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from .. import optimizers
from . import optimizer_groups, part_keys
from .schema import COMPONENTS, Trial

__all__ = ["departures", "name", "of_departures"]

#: The kind of device changes rounding, not the experiment, and a sweep may move a trial.
LEFT_OUT = ("device",)
DIGITS = 12  # of the digest; ids of the first edition have 10, and are of another making (``first_edition``)


def name(trial: Trial) -> str:
    """The trial's id."""
    return of_departures(trial, departures(trial))


def of_departures(trial: Trial, departures: Mapping[str, Any]) -> str:
    """The id of a trial that differs from the neutral values in this."""
    content = json.dumps(departures, sort_keys=True)
    words = [
        trial.method["name"],
        trial.data["name"],
        trial.backbone["name"].replace(":", "."),
        f"e{trial.embed_dim}",
        f"s{trial.seed}",
        hashlib.sha256(content.encode()).hexdigest()[:DIGITS],
    ]
    return "-".join(words)


def departures(trial: Trial) -> dict[str, Any]:
    """Everything in which the trial differs from the neutral values, by key."""
    neutral = neutral_values(Trial)
    content = {
        key: value for key, value in trial.mapping().items() if key not in (*COMPONENTS, *LEFT_OUT, "groups")
    }
    found = _differing(content, neutral)
    for key in COMPONENTS:
        if own := _of_part(key, getattr(trial, key)):
            found[key] = own
    for group in vars(trial.groups):
        if own := _of_group(trial, group):
            found.setdefault("groups", {})[group] = own
    return found


@functools.cache
def neutral_values(cls: type) -> Mapping[str, Any]:
    """The neutral value of every key that has one."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        if field.default is not dataclasses.MISSING:
            held = dataclasses.is_dataclass(field.default)
            values[field.name] = dataclasses.asdict(field.default) if held else field.default
        elif field.default_factory is not dataclasses.MISSING:
            values[field.name] = field.default_factory()
    return values


def _differing(content: Mapping[str, Any], neutral: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in content.items():
        usual = neutral.get(key, ...)
        if isinstance(value, Mapping) and isinstance(usual, Mapping):
            value = _differing(value, usual)
            usual = {}
        if value != usual:
            found[key] = value
    return found


def _of_part(key: str, component: Any) -> Any:
    """The name, unless it is the neutral one, and the options that differ from the part's own; of several, of each."""
    if not isinstance(component, Mapping):
        return component and [_of_part(key, one) for one in component]
    options = part_keys.of(key).get(component["name"]).options
    usual = {
        "name": part_keys.NEUTRAL.get(key),
        **{option: known.default for option, known in options.items()},
    }
    return _differing(component, usual)


def _of_group(trial: Trial, group: str) -> dict[str, Any]:
    """The multipliers that do something, and what another optimizer than the trial's does there."""
    given = getattr(trial.groups, group)
    found = _differing(
        {key: given[key] for key in optimizer_groups.MULTIPLIERS},
        neutral_values(optimizer_groups.Multipliers),
    )
    own, base = optimizer_groups.optimizer_of(trial, group), trial.optimizer
    if own["name"] == base["name"]:
        return {**found, **_differing(own, base)}
    usual = {option: known.default for option, known in optimizers.get(own["name"]).options.items()}
    usual.update({option: base[option] for option in optimizers.SHARED})
    return {**found, **_differing(own, usual)}
