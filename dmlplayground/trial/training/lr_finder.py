"""The learning-rate finder: one short training whose rate rises with every step, and what its losses suggest."""

import math
from collections.abc import Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from ...base import seeds
from ...base.errors import UserError
from ...parts import optimizers
from ..config import Trial
from . import folds, models
from .feed import Feed
from .learner import Learner

MOST_STEPS = 1_000_000
RECENT = 5  # steps whose mean loss shows whether the training has diverged


class Rates(NamedTuple):
    """The rate of every step (of ``optimizer.lr``; other rates keep their ratio to it), its loss, and the mean around it."""

    rates: list[float]
    losses: list[float]
    smoothed: list[float]

    @property
    def lowest(self) -> float:
        """The rate at which the smoothed loss is lowest."""
        return self.rates[int(np.argmin(self.smoothed))]

    @property
    def suggestion(self) -> float | None:
        """The rate where the loss falls fastest before its lowest point, by straight lines through a third of the way
        there, so that the noise of single steps does not decide; None if it does not fall."""
        way = int(np.argmin(self.smoothed)) + 1
        if way < 3:
            return None
        reach = max(1, way // 6)
        middles = range(reach, way - reach)
        around = (slice(middle - reach, middle + reach + 1) for middle in middles)
        slopes = [np.polyfit(np.log(self.rates[part]), self.losses[part], 1)[0] for part in around]
        steepest = int(np.argmin(slopes))
        return self.rates[middles[steepest]] if slopes[steepest] < 0 else None


def find(trial: Trial, low: float, high: float, steps: int, threads: int = 1) -> Rates:
    """Train for ``steps`` steps with rates from ``low`` up to ``high`` by a constant factor, or until the loss explodes."""
    check(trial, low, high, steps)
    feed, learner = first_fold(trial, threads)
    rates = np.geomspace(low, high, steps).tolist()
    losses: list[float] = []
    batches = chain.from_iterable(feed.batches(epoch) for epoch in count(1))
    for rate, step in zip(rates, batches):
        learner.scale_rates(rate / trial.optimizer["lr"])
        outcome = learner.step(step)
        feed.seen([outcome])
        losses.append(float(outcome.loss.asscalar()))
        first, recent = np.mean(losses[:RECENT]), np.mean(losses[-RECENT:])
        if not math.isfinite(losses[-1]) or recent > first + 2 * abs(first):  # three times as large
            break
    losses = losses if math.isfinite(losses[-1]) else losses[:-1]
    if not losses:
        raise UserError("the loss of the untrained network is not a finite number.")
    return Rates(rates[: len(losses)], losses, _smoothed(losses, steps))


def check(trial: Trial, low: float, high: float, steps: int) -> None:
    """Refuse rates that cannot be gone through."""
    if not 2 <= steps <= MOST_STEPS:
        raise UserError(f"the rate rises over 2 to {MOST_STEPS:,} steps, not {steps}.")
    if not 0 < low < high <= optimizers.HIGHEST:
        most = f"{optimizers.HIGHEST:g}, the lower one first"
        raise UserError(f"the rates must be above 0 and at most {most}, not {low:g} and {high:g}.")
    if not trial.optimizer["lr"]:
        raise UserError("optimizer.lr is 0: there is no rate to vary.")


def first_fold(trial: Trial, threads: int = 1) -> tuple[Feed, Learner]:
    """A learner of the trial's first fold, with its batches, to take some steps without a run around them."""
    division = folds.divide(trial)
    fold = division.folds[0]
    learner = Learner(trial, fold.train.num_classes, models.devices(trial), (fold.number, 0))
    learner.begin_epoch(trial.frozen_epochs + 1)  # includes the backbone, even if it is frozen at first
    seed = seeds.integer(trial.seed, "rates")
    return Feed(trial, fold.train, [learner], division.transform, seed=seed, threads=threads), learner


def _smoothed(losses: Sequence[float], steps: int) -> list[float]:
    """The mean of the losses at most a thirtieth of the steps away."""
    reach = max(1, round(steps / 30))
    return [float(np.mean(losses[max(0, i - reach) : i + reach + 1])) for i in range(len(losses))]
