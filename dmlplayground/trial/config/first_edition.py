"""Configurations of the first edition, as its records and weights hold them, in today's form.

There every key of every optimizer stood in every trial, and a trial's id was made of all of its keys. What its stores
hold keeps its ids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...base.errors import UserError
from ...parts import optimizers

__all__ = ["refuse", "translated"]

RENAMED = {"warmup_epochs": "frozen_epochs"}
ID = re.compile(r".+-s\d+-[0-9a-f]{10}")


def translated(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """A complete configuration of the first edition in the keys of today; any other as it is."""
    if not _complete(given):
        return given
    content = {RENAMED.get(key, key): value for key, value in given.items()}
    content["optimizer"] = _optimizer(given["optimizer"])
    protocol = given["protocol"]
    content["protocol"] = protocol if protocol["name"] == "validated" else {"name": protocol["name"]}
    content["groups"] = {part: _group(group, given["optimizer"]) for part, group in given["groups"].items()}
    return content


def _complete(given: Mapping[str, Any]) -> bool:
    return "warmup_epochs" in given and "groups" in given and "rho_decay" in (given.get("optimizer") or {})


def _optimizer(given: Mapping[str, Any]) -> dict[str, Any]:
    """Only the options that the named optimizer has."""
    known = optimizers.get(given["name"]).options
    return {key: value for key, value in given.items() if key == "name" or key in known}


def _group(given: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Only what the group sets itself; a different optimizer also inherits values from the trial's."""
    own = {key: value for key, value in given.items() if value is not None}
    if own.get("name", base["name"]) == base["name"]:
        return own
    multipliers = {key: value for key, value in own.items() if key not in base}
    return {**multipliers, **_optimizer({**base, **own})}


def refuse(given: Mapping[str, Any]) -> None:
    """Refuse a renamed key, and give its new name."""
    for old, new in RENAMED.items():
        if old in given:
            raise UserError(f"{old} is now called {new}: the backbone is frozen in these epochs.")
