"""Configurations as layers: mappings such as a YAML file holds, merged key by key, where later ones win."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..base.errors import UserError, unknown
from ..base.safe_yaml import parse_yaml
from . import optimizers

T = TypeVar("T")

COMPONENTS = (
    "method", "data", "backbone", "sampler", "transform", "optimizer", "schedule", "protocol", "mining", "regularizers",
)  # fmt: skip
"""The keys of a trial that name a part, or several."""
GROUPS = ("head", "loss")
"""The parts of the model beside the backbone, each of which may have an optimizer of its own."""
MULTIPLIERS = ("lr_mult", "lr_mult_by_name", "wd_mult_by_name")
KEPT = dict.fromkeys(("optimizer", *GROUPS), (*optimizers.SHARED, *MULTIPLIERS))
"""Options that a part keeps when its name changes."""
SPLIT = ("train", "test", "seed")
"""Options of a data set that divide its classes, and that a configuration may also hold under ``data.split``."""


def expand(layer: Mapping[str, Any]) -> dict[str, Any]:
    """Without short forms: ``method: npairs`` is ``method: {name: npairs}``, and ``data.split.seed`` is ``data.seed``.

    >>> dml.config.expand({"method": "npairs", "epochs": 3})
    {'method': {'name': 'npairs'}, 'epochs': 3}
    """
    if not isinstance(layer, Mapping):
        text = repr(layer)
        text = text if len(text) <= 60 else f"{text[:57]}..."
        raise UserError(f"a configuration is a mapping of keys to values, not {text}.")
    expanded = {key: _named(value) if key in COMPONENTS else value for key, value in layer.items()}
    data = expanded.get("data")
    if isinstance(data, Mapping) and isinstance(data.get("split"), Mapping):
        options = {key: value for key, value in data.items() if key != "split"}
        for option in data["split"]:
            if option not in SPLIT:
                raise unknown("option of data.split", option, SPLIT)
            if option in options:
                raise UserError(f"data.{option} and data.split.{option} are the same; give one of them.")
        expanded["data"] = {**options, **data["split"]}
    return expanded


def _named(given: Any) -> Any:
    """A part, or a list of them, with names as mappings."""
    if isinstance(given, list):
        return [_named(one) for one in given]
    return {"name": given} if isinstance(given, str) else given


def merge(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings joined key by key, where later ones win. A part given another name loses its old options, except those
    that all parts of its kind share: another optimizer keeps the learning rate.

    >>> dml.config.merge({"optimizer": {"name": "sgd", "lr": 0.1}, "epochs": 3}, {"optimizer": {"lr": 0.2}})
    {'optimizer': {'name': 'sgd', 'lr': 0.2}, 'epochs': 3}
    """
    result: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            old = result.get(key)
            if isinstance(old, Mapping) and isinstance(value, Mapping):
                value = replaced(key, old, value) if key in COMPONENTS or key in GROUPS else merge(old, value)
            result[key] = value
    return result


def replaced(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The value of a part for which an earlier layer says ``old`` and a later one ``new``."""
    if "name" in new and "name" in old and new["name"] != old["name"]:
        old = {option: value for option, value in old.items() if option in KEPT.get(key, ())}
    return merge(old, new)


def overlay(below: Mapping[str, T], above: Mapping[str, T], plain: Callable[[T], Any]) -> dict[str, T]:
    """Values by dotted key laid over others, as ``merge`` does it; ``plain`` gives the value itself.

    >>> dml.config.overlay({"optimizer.lr": 0.1, "epochs": 3}, {"epochs": 5}, plain=lambda value: value)
    {'optimizer.lr': 0.1, 'epochs': 5}
    """
    found = dict(below)
    for key in COMPONENTS:
        name = f"{key}.name"
        if name in below and name in above and plain(below[name]) != plain(above[name]):
            kept = {f"{key}.{option}" for option in KEPT.get(key, ())}
            found = {k: v for k, v in found.items() if not k.startswith(f"{key}.") or k in kept}
    return {**found, **above}


def override(text: str, flag: str = "--set") -> dict[str, Any]:
    """``"schedule.steps=[3, 5]"`` as the mapping it stands for; the value is read as YAML.

    >>> dml.config.override("schedule.steps=[3, 5]")
    {'schedule': {'steps': [3, 5]}}
    """
    path, equals, value = text.partition("=")
    if not equals or not all(part.strip() for part in path.split(".")):
        raise UserError(f"{flag} takes key=value (such as method.margin=0.5), not {text!r}.")
    return nested(path.strip(), parse_yaml(value, f"{flag} {path}"))


def nested(key: str, value: Any) -> dict[str, Any]:
    """``("schedule.factor", 0.1)`` as ``{"schedule": {"factor": 0.1}}``.

    >>> dml.config.nested("schedule.factor", 0.1)
    {'schedule': {'factor': 0.1}}
    """
    for part in reversed(key.split(".")):
        value = {part: value}
    return value


def dotted(layer: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The reverse: every value by its dotted key.

    >>> dml.config.dotted({"schedule": {"factor": 0.1}, "epochs": 3})
    {'schedule.factor': 0.1, 'epochs': 3}
    """
    found: dict[str, Any] = {}
    for key, value in layer.items():
        below = dotted(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
        found.update(below)
    return found
