"""What is refused before any work: values and combinations that cannot work."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional

from .. import methods, metrics, mining, optimizers, parts, regularizers, samplers, schedules, transforms
from ..errors import UserError
from ..metrics.table import HIGHEST_RANK
from .optimizer_groups import optimizer_of
from .schema import Trial
from .units import criterion

__all__ = ["check", "check_seed"]

LARGEST_COUNT = 10**9


def check(trial: Trial) -> None:
    """Values and combinations that cannot work, found without any data; ``check_data`` finds the others."""
    _check_counts(trial)
    _require(
        trial.evaluation.ks and min(trial.evaluation.ks) >= 1 and max(trial.evaluation.ks) <= HIGHEST_RANK,
        f"evaluation.ks must be ranks from 1 to {HIGHEST_RANK}, not {trial.evaluation.ks}.",
    )
    _check_metrics(trial)
    _require(
        trial.batch_size % trial.devices == 0,
        f"batch_size {trial.batch_size} cannot be split over {trial.devices} devices.",
    )
    _check_optimizers(trial)
    _require(
        trial.head.reduction == "linear" or trial.epochs == 0,
        "head.reduction components is for networks as they are: it leaves nothing to train, so epochs must be 0.",
    )
    schedules.create(**trial.schedule)
    for key in ("dropout", "bottleneck_dropout"):
        rate = getattr(trial.head, key)
        _require(0 <= rate < 1, f"head.{key} is a share from 0 to below 1, not {rate}.")
    name, options = parts.split(trial.method)
    loss = methods.create(name, 2, 2, **options)  # a loss refuses impossible values of its own
    miner = mining.miner_for(loss, trial.mining)  # the two must go together
    if memory := methods.memory_for(loss, miner, dataclasses.asdict(trial.memory)):
        memory.check(trial.batch_size)
    for term in trial.regularizers:
        regularizers.of(term)
    transforms.create(**trial.transform)  # so does a transform
    sampler = samplers.get(trial.sampler["name"])
    _require(
        "proxies" in loss.weights or "proxies" not in sampler.needs,
        f"the sampler {sampler.key} looks at the proxies of the loss, and {name} has none.",
    )


def _check_metrics(trial: Trial) -> None:
    """Every metric that is asked for exists, and the one that chooses and the one that leads are computed."""
    chosen = dataclasses.asdict(trial.evaluation)
    metrics.headline(chosen)
    metrics.among(criterion(trial).key, metrics.of_trial(chosen), "protocol.criterion")
    if chosen["training_metrics"]:
        metrics.chosen(chosen["training_metrics"], chosen["ks"], chosen["clustering"])


def _check_counts(trial: Trial) -> None:
    least: dict[int, dict[str, Optional[int]]] = {
        1: {
            "embed_dim": trial.embed_dim, "batch_size": trial.batch_size, "accumulate": trial.accumulate,
            "devices": trial.devices, "ensemble.members": trial.ensemble.members, "iterations": trial.iterations,
            "evaluation.every": trial.evaluation.every, "evaluation.training_every": trial.evaluation.training_every,
            "evaluation.kmeans_starts": trial.evaluation.kmeans_starts,
        },
    }  # fmt: skip
    for low, counts in least.items():
        for key, value in counts.items():
            _require(value is None or value >= low, f"{key} must be at least {low}, not {value}.")
            _require(value is None or value <= LARGEST_COUNT, f"{key} must be at most {LARGEST_COUNT}.")
    for key in ("epochs", "frozen_epochs"):
        _require(getattr(trial, key) >= 0, f"{key} must not be negative, not {getattr(trial, key)}.")
    check_seed(trial.seed)
    _require(trial.epochs <= LARGEST_COUNT, f"epochs must be at most {LARGEST_COUNT}.")
    _require(
        trial.frozen_epochs <= trial.epochs,
        f"frozen_epochs {trial.frozen_epochs} is more than epochs {trial.epochs}.",
    )


def check_seed(seed: int) -> None:
    """A seed is a number from 0 that fits into 63 bits."""
    _require(seed >= 0, f"seed must not be negative, not {seed}.")
    _require(seed < 2**63, "seed must be below 2**63.")


def _check_optimizers(trial: Trial) -> None:
    """An optimizer refuses impossible values of its own."""
    for group, given in vars(trial.groups).items():
        optimizer = optimizers.create(**optimizer_of(trial, group))
        multipliers = (given["lr_mult"], *given["lr_mult_by_name"].values())
        for multiplier in (*multipliers, *given["wd_mult_by_name"].values()):
            _require(multiplier >= 0, f"groups.{group}: a multiplier must not be negative, not {multiplier}.")
        highest = optimizer.lr * max(multipliers)
        _require(highest <= optimizers.HIGHEST, f"groups.{group}: {highest:g} is no learning rate.")
    decay = trial.ema.decay
    _require(decay is None or 0 <= decay < 1, f"ema.decay must be from 0 to below 1, not {decay}.")


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise UserError(message)
