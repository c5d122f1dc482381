"""What a trial comes to: the units that it trains one after another, its criterion, its batches, the optimizers of its parts."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...base import registry
from ...base.options import build
from ...parts import metrics, optimizers, protocols, samplers
from ...parts.layers import MULTIPLIERS, replaced
from ...parts.protocols import Protocol
from .schema import Evaluation, Groups, Multipliers, Named, Trial


class Unit(NamedTuple):
    """One training: a fold of the protocol, and the members of an ensemble that learn there side by side.

    >>> dml.config.units(dml.config.trial({"method": "npairs"}))[0].fold
    0
    """

    fold: int
    members: range


def units(trial: Trial, protocol: Protocol | None = None) -> list[Unit]:
    """All trainings of a trial in order; each takes the trial's number of epochs.

    >>> trial = dml.config.trial({"method": "npairs", "protocol": {"name": "validated", "folds": 3}})
    >>> [unit.fold for unit in dml.config.units(trial)]
    [0, 1, 2]
    """
    count = trial.ensemble.members
    parallel = trial.ensemble.order == "parallel"
    groups = [range(count)] if parallel else [range(member, member + 1) for member in range(count)]
    folds = range(_made(protocol or trial.protocol).trainings)
    return [Unit(fold, members) for fold in folds for members in groups]


def total_epochs(trial: Trial) -> int:
    """How many epochs the trial has in all.

    >>> trial = dml.config.trial({"method": "npairs", "epochs": 3, "protocol": {"name": "validated", "folds": 4}})
    >>> dml.config.total_epochs(trial)
    12
    """
    return trial.epochs * len(units(trial))


def criterion(protocol: Named | Protocol, evaluation: Evaluation) -> metrics.Metric:
    """The metric that chooses an epoch: the protocol's, or the one that the evaluation is led by.

    >>> trial = dml.config.trial({"method": "npairs", "protocol": "validated"})
    >>> dml.config.criterion(trial.protocol, trial.evaluation).key
    'MAP@R'
    """
    name = _made(protocol).criterion
    return metrics.headline(dataclasses.asdict(evaluation)) if name is None else metrics.get(name)


def check_data(trial: Trial, num_classes: int | None) -> None:
    """Check that the configured batches can be made from this many training classes, or (None) from any number.

    >>> dml.config.check_data(dml.config.trial({"method": "npairs", "batch_size": 60}), 20)
    Traceback (most recent call last):
        ...
    dmlplayground.base.errors.UserError: batch_size 60 as pairs needs 30 classes, but the training split has 20.
    """
    check_batches(trial.sampler, trial.protocol, trial.batch_size, num_classes)


def check_batches(
    sampler: Named, protocol: Named | Protocol, batch_size: int, num_classes: int | None
) -> None:
    """``check_data`` for a sampler, a protocol and a batch size, without a trial.

    >>> dml.config.check_batches({"name": "pairs"}, {"name": "paper"}, 60, None)
    """
    batches = samplers.KIND.create(**sampler)
    folds = [] if num_classes is None else _made(protocol).folds(num_classes)
    trained: set[int | None] = {len(fold.train) for fold in folds} or {None}
    for classes in trained:
        batches.check(batch_size, classes)


def _made(protocol: Named | Protocol) -> Protocol:
    return protocol if isinstance(protocol, Protocol) else protocols.create(**protocol)


def completed_groups(base: Named, groups: Groups) -> Groups:
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
