"""Combinations that cannot work, and are refused before any work starts. The types of the schema refuse single values.

The parameters of a check are the keys of a trial that it looks at.
"""

import contextlib
import dataclasses
import functools
import inspect
import shlex
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...base import registry
from ...base.errors import UserError, unknown
from ...parts import methods, metrics, miners, optimizers, protocols, samplers, schedules, transforms
from ...parts import regularizers as terms
from ...parts.methods.shared.base import ExternalMethod
from ...parts.metrics.shared.table import HIGHEST_RANK
from .schema import WIDEST, Ensemble, Evaluation, Groups, Head, Memory, Named, Trainer, Trial
from .units import check_batches, criterion, optimizer_of


def check(trial: Trial) -> None:
    """Values and combinations that cannot work, found without any data; ``check_data`` finds the others.

    >>> dml.config.check(dml.config.trial({"method": "npairs"}))
    """
    for one in CHECKS:
        run(one, vars(trial))


def run(one: Callable[..., None], values: Mapping[str, Any]) -> None:
    """One check of the values of a trial."""
    one(*(values[key] for key in looks_at(one)))


@functools.cache
def looks_at(one: Callable[..., None]) -> tuple[str, ...]:
    """The keys that a check looks at."""
    return tuple(inspect.signature(one).parameters)


def _numbers(batch_size: int, devices: int, epochs: int, frozen_epochs: int) -> None:
    _require(batch_size % devices == 0, f"batch_size {batch_size} cannot be split over {devices} devices.")
    _require(frozen_epochs <= epochs, f"frozen_epochs {frozen_epochs} is more than epochs {epochs}.")


def _metrics(protocol: Named, evaluation: Evaluation) -> None:
    """Every requested metric exists, and the one that chooses and the one that leads are computed."""
    ranks = evaluation.ks
    there = ranks and min(ranks) >= 1 and max(ranks) <= HIGHEST_RANK
    _require(there, f"evaluation.ks must be a list of ranks from 1 to {HIGHEST_RANK}, not {ranks}.")
    chosen = dataclasses.asdict(evaluation)
    metrics.headline(chosen)
    metrics.among(criterion(protocol, evaluation).key, metrics.of_trial(chosen), "protocol.criterion")
    if chosen["training_metrics"]:
        metrics.chosen(chosen["training_metrics"], chosen["ks"], chosen["clustering"])


def _results(protocol: Named, epochs: int, ensemble: Ensemble, evaluation: Evaluation) -> None:
    """What a protocol is to report can come out of the training."""
    members = 1 if ensemble.order == "parallel" else ensemble.members
    protocols.create(**protocol).check(epochs, members, evaluation.every)


def _optimizers(optimizer: Named, groups: Groups) -> None:
    """An optimizer refuses impossible values of its own."""
    for group, given in vars(groups).items():
        rule = optimizers.create(**optimizer_of(optimizer, groups, group))
        multipliers = (given["lr_mult"], *given["lr_mult_by_name"].values())
        for multiplier in (*multipliers, *given["wd_mult_by_name"].values()):
            _require(multiplier >= 0, f"groups.{group}: a multiplier must not be negative, not {multiplier}.")
        highest = rule.lr * max(multipliers)
        fits = highest <= optimizers.HIGHEST
        _require(fits, f"groups.{group}: the learning rate {highest:g} is too large.")


def _head(head: Head, epochs: int) -> None:
    if head.reduction != "linear" and epochs:
        reason = "is for networks as they are: it leaves nothing to train, so epochs must be 0"
        raise UserError(f"head.reduction {head.reduction} {reason}.")
    for width in head.bottleneck:
        _require(1 <= width <= WIDEST, f"head.bottleneck: widths must be from 1 to {WIDEST}, not {width}.")
    for key in ("dropout", "bottleneck_dropout"):
        rate = getattr(head, key)
        _require(0 <= rate < 1, f"head.{key} must be at least 0 and below 1, not {rate}.")


def _objective(method: Named, mining: Named | None, memory: Memory, batch_size: int, sampler: Named) -> None:
    """The loss, its miner, its memory and the sampler go together."""
    name, options = registry.split(method)
    loss = methods.create(name, 2, 2, **options)  # a loss refuses impossible values of its own
    miner = miners.miner_for(loss, mining)  # the two must go together
    if remembered := methods.memory_for(loss, miner, dataclasses.asdict(memory)):
        remembered.check(batch_size)
    looking = samplers.get(sampler["name"])
    if "proxies" in looking.needs and "proxies" not in loss.weights:
        raise UserError(f"the sampler {looking.key} needs the proxies of the loss, but {name} has none.")
    if loss.reads == "batch":
        loss.check(batch_size, loss.embed_dim)
        reason: UserError | None = None
        for labels in _labels_of_batches(sampler, batch_size):
            try:
                loss.check_layout(labels)
                return
            except UserError as problem:
                reason = problem
        if reason:
            raise UserError(f"{name} cannot use the sampler {looking.key}: {reason}")


def _labels_of_batches(sampler: Named, batch_size: int) -> Iterator[np.ndarray]:
    """The labels of a batch that the sampler draws of two classes, if it can, and of as many as it can need: how many
    images of a class a batch has may depend on that."""
    name, options = registry.split(sampler)
    for classes in (2, batch_size):
        labels = np.repeat(np.arange(classes), 4 * batch_size // classes)
        same = functools.partial(np.ones, (len(labels), 2)), functools.partial(np.ones, (classes, 2))
        alike: Any = SimpleNamespace(embeddings=same[0], proxies=same[1])
        with contextlib.suppress(UserError):
            made = samplers.create(name, labels, batch_size, iterations=1, **options)
            yield labels[next(iter(made.batches(0, alike)))]


def _miner(mining: Named | None, memory: Memory, embed_dim: int, batch_size: int, devices: int) -> None:
    """The miner can read the rows that a device has."""
    if mining is not None:
        miners.create(**mining).check(max(batch_size // devices, memory.size or 0), embed_dim)


def _parts(schedule: Named, transform: Named, regularizers: list[Named]) -> None:
    """These refuse impossible values of their own."""
    schedules.create(**schedule)
    transforms.create(**transform)
    for term in regularizers:
        terms.of(term)


def _trainer(method: Named, trainer: Trainer, ensemble: Ensemble, evaluation: Evaluation) -> None:
    """A command can do what is asked of it."""
    if trainer.command is None:
        if isinstance(methods.get(method["name"]), ExternalMethod):  # the name of another trial's
            ours = (name for name in methods.names() if not isinstance(methods.get(name), ExternalMethod))
            raise unknown("method", method["name"], ours)
        return
    try:
        words = shlex.split(trainer.command)
    except ValueError as problem:
        raise UserError(f"trainer.command is not a command line: {problem}.") from None
    _require(any("{job}" in word for word in words), "trainer.command must hold {job}, the path of the job.")
    _require(ensemble.members == 1, "a command trains one network: ensemble.members must be 1.")
    _require(not evaluation.training_metrics, "a command gives no embeddings of its training images.")


def _batches(sampler: Named, protocol: Named, batch_size: int) -> None:
    check_batches(sampler, protocol, batch_size, num_classes=None)


CHECKS: tuple[Callable[..., None], ...] = (
    _numbers, _metrics, _results, _optimizers, _head, _batches, _objective, _miner, _parts, _trainer
)  # fmt: skip


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise UserError(message)
