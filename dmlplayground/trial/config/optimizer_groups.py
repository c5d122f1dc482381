"""The optimizers of a trial's parts: the trial's own, with what ``groups`` says of the backbone, the head and the loss."""

from collections.abc import Mapping
from typing import Any

from ...base import registry
from ...base.options import build
from ...parts import optimizers
from ...parts.layers import MULTIPLIERS, replaced
from .schema import Groups, Multipliers, Named


def completed(base: Named, groups: Groups) -> Groups:
    """The groups as a trial holds them: with all multipliers, and the checked settings of their optimizers."""
    found = {}
    for group, given in vars(groups).items():
        where = f"groups.{group}"
        multipliers = build(Multipliers, {key: given[key] for key in MULTIPLIERS if key in given}, where)
        own = _own(given)
        checked = _resolved(base, own, where)
        found[group] = {**vars(multipliers), **{key: checked[key] for key in own}}
    return Groups(**found)


def optimizer_of(optimizer: Named, groups: Groups, group: str) -> Named:
    """The complete optimizer of the ``backbone``, the ``head`` or the ``loss``.

    >>> trial = dml.config.trial({"method": "npairs"}, ["groups.head.lr=0.5"])
    >>> dml.config.optimizer_of(trial.optimizer, trial.groups, "head")["lr"]
    0.5
    """
    return _resolved(optimizer, _own(getattr(groups, group)), f"groups.{group}")


def _own(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key not in MULTIPLIERS}


def _resolved(base: Named, own: Mapping[str, Any], where: str) -> Named:
    if not own:
        return base
    name, options = registry.split(replaced("optimizer", base, own))
    return {"name": name, **optimizers.get(name).fill(options, f"{where}: optimizer")}
