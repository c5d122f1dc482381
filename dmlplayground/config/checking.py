"""What is refused before any work: values and combinations that cannot work."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional

from .. import metrics, parts
from ..errors import UserError
from ..metrics.table import HIGHEST_RANK
from .schema import Schedule, Trial

__all__ = ["check", "check_data"]

LARGEST_COUNT = 10**9
HIGHEST_RATE = 1e30  # what 32 bits hold, with room for a product


def check(trial: Trial) -> None:
    """Values and combinations that cannot work, found without any data; ``check_data`` finds the others."""
    from .. import methods, mining, regularizers, samplers, transforms

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
    _check_schedule(trial.schedule)
    for key in ("dropout", "bottleneck_dropout"):
        rate = getattr(trial.head, key)
        _require(0 <= rate < 1, f"head.{key} is a share from 0 to below 1, not {rate}.")
    name, options = parts.split(trial.method)
    loss = methods.create(name, 2, 2, **options)  # a loss refuses impossible values of its own
    mining.miner_for(loss, trial.mining)  # the two must go together
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
    if trial.protocol.name == "validated":
        metrics.among(trial.protocol.criterion, metrics.of_trial(chosen), "protocol.criterion")
    if chosen["training_metrics"]:
        metrics.chosen(chosen["training_metrics"], chosen["ks"], chosen["clustering"])


def _check_counts(trial: Trial) -> None:
    least: dict[int, dict[str, Optional[int]]] = {
        1: {
            "embed_dim": trial.embed_dim, "batch_size": trial.batch_size, "accumulate": trial.accumulate,
            "devices": trial.devices, "ensemble.members": trial.ensemble.members, "iterations": trial.iterations,
            "evaluation.every": trial.evaluation.every, "evaluation.training_every": trial.evaluation.training_every,
            "evaluation.kmeans_starts": trial.evaluation.kmeans_starts,
            "schedule.every": trial.schedule.every, "protocol.patience": trial.protocol.patience,
        },
        2: {"protocol.folds": trial.protocol.folds},
    }  # fmt: skip
    for low, counts in least.items():
        for key, value in counts.items():
            _require(value is None or value >= low, f"{key} must be at least {low}, not {value}.")
            _require(value is None or value <= LARGEST_COUNT, f"{key} must be at most {LARGEST_COUNT}.")
    for key in ("epochs", "warmup_epochs", "seed"):
        value = getattr(trial, key)
        _require(value >= 0, f"{key} must not be negative, not {value}.")
    _require(trial.seed < 2**63, "seed must be below 2**63.")
    _require(trial.epochs <= LARGEST_COUNT, f"epochs must be at most {LARGEST_COUNT}.")
    _require(
        trial.warmup_epochs <= trial.epochs,
        f"warmup_epochs {trial.warmup_epochs} is more than epochs {trial.epochs}.",
    )


def _check_schedule(schedule: Schedule) -> None:
    _require(
        0 < schedule.factor <= 1, f"schedule.factor must be above 0 and at most 1, not {schedule.factor}."
    )
    _require(
        all(step >= 1 for step in schedule.steps), f"schedule.steps are epochs from 1, not {schedule.steps}."
    )


def _check_optimizers(trial: Trial) -> None:
    for part, group in vars(trial.groups).items():
        optimizer = group.optimizer(trial.optimizer)
        where = f"the optimizer of the {part}"
        for multiplier in (1.0, group.lr_mult, *group.lr_mult_by_name.values()):
            rate = optimizer.lr * multiplier
            _require(0 <= rate <= HIGHEST_RATE, f"{where}: {rate:g} is no learning rate.")
        _require(
            0 <= optimizer.weight_decay <= HIGHEST_RATE,
            f"{where}: {optimizer.weight_decay:g} is no weight_decay.",
        )
        _require(optimizer.epsilon > 0, f"{where} needs an epsilon above 0, not {optimizer.epsilon}.")
        _require(
            optimizer.clip is None or optimizer.clip > 0,
            f"{where} needs a clip above 0, not {optimizer.clip}.",
        )
        for key in ("momentum", "beta1", "beta2", "rho"):
            value = getattr(optimizer, key)
            _require(0 <= value < 1, f"{where}: {key} must be from 0 to below 1, not {value}.")


def check_data(trial: Trial, num_classes: Optional[int]) -> None:
    """Whether batches as configured can be made from so many classes (None: not known yet)."""
    from .. import samplers

    samplers.KIND.create(**trial.sampler).check(trial.batch_size, num_classes)


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise UserError(message)
