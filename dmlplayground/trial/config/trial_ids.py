"""The id of a trial: a readable name, also of its folder, that ends in a digest of what differs from the neutral values.

So adding a key or an option renames no trial, if its neutral value keeps the old behaviour.
"""

import functools
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...base.errors import UserError
from ...base.options import options_of
from ...base.registry import Kind
from ...parts import optimizers
from ...parts.layers import COMPONENTS, MULTIPLIERS
from .schema import NEUTRAL, Groups, Multipliers, Named, Trial, kind_of, plain
from .units import optimizer_of

#: The kind of device changes rounding, not the experiment, and a sweep may move a trial.
LEFT_OUT = ("device",)
DIGITS = 12  # of the digest
FORM = re.compile(rf".+-s\d+-[0-9a-f]{{{DIGITS}}}")


def name(trial: Trial) -> str:
    """The trial's id."""
    return named(trial, texts(departures(vars(trial))))


def texts(departures: Mapping[str, Any]) -> dict[str, str]:
    """Departures as the digest reads them."""
    return {key: json.dumps(value, sort_keys=True) for key, value in departures.items()}


def as_text(texts: Mapping[str, str]) -> str:
    """The text of a mapping of these ``texts``."""
    return "{" + ", ".join(f'"{key}": {texts[key]}' for key in sorted(texts)) + "}"


def named(trial: Trial, departures: Mapping[str, str]) -> str:
    """The id of a trial with these departures, which are ``texts``."""
    parts = (trial.method["name"], trial.data["name"], trial.backbone["name"].replace(":", "."))
    digest = hashlib.sha256(as_text(departures).encode()).hexdigest()
    return "-".join([*parts, f"e{trial.embed_dim}", f"s{trial.seed}", digest[:DIGITS]])


def departures(values: Mapping[str, Any]) -> dict[str, Any]:
    """Everything in which the values of a trial, or of some of its keys, differ from the neutral ones, by key."""
    apart = (*COMPONENTS, *LEFT_OUT, "groups", "id")
    content = plain({key: value for key, value in values.items() if key not in apart})
    if "parts" in content:  # what a file holds counts, not where it lies
        content["parts"] = sorted(source["sha256"] for source in content["parts"])
    found = _differing(content, neutral_values(Trial))
    for key in values:
        if key in COMPONENTS and (own := _of_part(key, values[key])):
            found[key] = own
    if "groups" in values:
        base, given = values["optimizer"], values["groups"]
        groups = {name: _of_group(base, given, name) for name in vars(given)}
        if differing := {name: own for name, own in groups.items() if own}:
            found["groups"] = differing
    return found


@functools.cache
def neutral_values(cls: type) -> Mapping[str, Any]:
    """The neutral value of every key that has one."""
    return {name: plain(option.default) for name, option in options_of(cls).items() if not option.required}


def _usual(kind: Kind, name: str) -> dict[str, Any]:
    """The values of a part's options that are the part's own."""
    return {option: known.default for option, known in kind.get(name).options.items()}


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
    usual = _usual(kind_of(key), component["name"])
    return _differing(component, {"name": NEUTRAL.get(key), **usual})


def _of_group(base: Named, given: Groups, group: str) -> dict[str, Any]:
    """The multipliers that have an effect, and the settings of an optimizer other than the trial's."""
    multipliers = {key: getattr(given, group)[key] for key in MULTIPLIERS}
    own, usual = optimizer_of(base, given, group), base
    if own["name"] != base["name"]:
        shared = {option: base[option] for option in optimizers.SHARED}
        usual = {**_usual(optimizers.KIND, own["name"]), **shared}
    multiplied = _differing(multipliers, neutral_values(Multipliers))
    return {**multiplied, **_differing(own, usual)}


class Places:
    """The folders of a store's trials, each named by the trial's id.

    >>> trial = dml.config.trial({"method": "npairs"})
    >>> dml.config.Places("runs").folder(trial).name == trial.id
    True
    """

    def __init__(self, store: str | Path):
        self.store = Path(store)
        if self.store.is_file():
            raise UserError(f"{self.store} is a file; a store is a folder.")
        for folder in self.store.parents:
            if folder.is_file():
                raise UserError(f"the store {self.store} cannot be made: {folder} is a file.")

    def folder(self, trial: Trial) -> Path:
        """The folder of the trial, whether or not it is there yet."""
        return self.store / trial.id
