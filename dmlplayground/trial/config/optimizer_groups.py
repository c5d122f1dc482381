"""The optimizers of a trial's parts: the trial's own, with what ``groups`` says of the backbone, the head and the loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...base import registry
from ...base.options import build
from ...parts import optimizers
from ...parts.layers import replaced
from .schema import Groups, Multipliers, Named

MULTIPLIERS = tuple(Multipliers.__dataclass_fields__)


def all_complete(base: Named, given: Groups) -> Groups:
    """All groups as the trial holds them."""
    return Groups(**{group: complete(base, own, f"groups.{group}") for group, own in vars(given).items()})


def complete(base: Named, given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A group as the trial holds it: all multipliers, and the checked settings of its optimizer."""
    own = {key: value for key, value in given.items() if key not in MULTIPLIERS}
    multipliers = build(Multipliers, {key: given[key] for key in MULTIPLIERS if key in given}, where)
    checked = resolved(base, own, where)
    return {**vars(multipliers), **{key: checked[key] for key in own}}


def optimizer_of(optimizer: Named, groups: Groups, group: str) -> Named:
    """The complete optimizer of the ``backbone``, the ``head`` or the ``loss``.

    >>> trial = dml.config.trial({"method": "npairs"}, ["groups.head.lr=0.5"])
    >>> dml.config.optimizer_of(trial.optimizer, trial.groups, "head")["lr"]
    0.5
    """
    own = {key: value for key, value in getattr(groups, group).items() if key not in MULTIPLIERS}
    return resolved(optimizer, own, f"groups.{group}")


def resolved(base: Named, own: Mapping[str, Any], where: str) -> Named:
    if not own:
        return base
    name, options = registry.split(replaced("optimizer", base, own))
    record = optimizers.get(name)
    return {"name": name, **record.fill(options, f"{where}: optimizer")}
