"""Configurations as layers: mappings such as a YAML file holds, merged key by key, the later ones winning."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ..errors import UserError
from .reading import parse_yaml
from .schema import Trial

__all__ = ["COMPONENTS", "dotted", "expand", "merge", "nested", "override"]

COMPONENTS = tuple(field.name for field in dataclasses.fields(Trial) if field.type == "Named")


def expand(layer: Mapping[str, Any]) -> dict[str, Any]:
    """A layer with its bare words written out: ``method: npairs`` is ``method: {name: npairs}``."""
    if not isinstance(layer, Mapping):
        raise UserError(f"a configuration is a mapping of keys to values, not {_short(layer)}.")
    words = (*COMPONENTS, "mining", "protocol", "optimizer")
    return {
        key: {"name": value} if key in words and isinstance(value, str) else value
        for key, value in layer.items()
    }


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def merge(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings joined key by key, the later ones winning. A component given another name forgets its old options."""
    result: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            old = result.get(key)
            if isinstance(old, Mapping) and isinstance(value, Mapping) and not _replaced(key, old, value):
                value = merge(old, value)
            result[key] = value
    return result


def _replaced(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return key in (*COMPONENTS, "mining") and "name" in new and "name" in old and new["name"] != old["name"]


def override(text: str, flag: str = "--set") -> dict[str, Any]:
    """``"schedule.steps=[3, 5]"`` as the mapping it stands for; the value is read as YAML."""
    path, equals, value = text.partition("=")
    if not equals or not all(part.strip() for part in path.split(".")):
        raise UserError(f"{flag} takes key=value (such as method.margin=0.5), not {text!r}.")
    return nested(path.strip(), parse_yaml(value, f"{flag} {path}"))


def nested(key: str, value: Any) -> dict[str, Any]:
    """``("schedule.factor", 0.1)`` as ``{"schedule": {"factor": 0.1}}``."""
    for part in reversed(key.split(".")):
        value = {part: value}
    return value


def dotted(layer: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The other way round: every value by its dotted key."""
    found: dict[str, Any] = {}
    for key, value in layer.items():
        found.update(
            dotted(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
        )
    return found
