"""The rules by which a search stops trials early, and what it says of those that were stopped.

All go by what trials reached on validation classes. ``median``: a trial ends where it is behind the median of the others
at the same epoch. ``halving`` (successive halving, ASHA): trials are compared at a few rungs, each after three times as
many epochs as the one before, and the best third of those that came to a rung go on. ``hyperband``: the same, but some of
the trials are spared the first rungs, for settings that begin slowly.
"""

from __future__ import annotations

from typing import Any, Literal, Union

Rule = Union[bool, Literal["median", "halving", "hyperband"]]  # true is the median

KEPT = 3  # of so many trials one goes on
RUNGS = 3  # at most


def pruner(rule: Rule, epochs: int) -> Any:
    """Optuna's pruner for trials of so many epochs, those of all folds together."""
    import optuna

    if not rule:
        return optuna.pruners.NopPruner()
    if rule in (True, "median"):
        return optuna.pruners.MedianPruner(n_warmup_steps=1)
    first = max(1, -(-epochs // KEPT**RUNGS))
    if rule == "halving":
        return optuna.pruners.SuccessiveHalvingPruner(min_resource=first, reduction_factor=KEPT)
    most = max(epochs, first)
    return optuna.pruners.HyperbandPruner(min_resource=first, max_resource=most, reduction_factor=KEPT)


def why(rule: Rule, study: Any, number: int, epoch: int) -> str:
    """Where the trial of this number stood after so many epochs, when it was stopped."""
    values = {
        trial.number: trial.intermediate_values[epoch]
        for trial in study.get_trials(deepcopy=False)
        if epoch in trial.intermediate_values
    }
    sign = 1 if study.direction.name == "MAXIMIZE" else -1
    better = sum(sign * value > sign * values[number] for value in values.values())
    name = "median" if rule is True else rule
    return (
        f"{name}: after epoch {epoch} it had {values[number]:.4f}, and {better} of the {len(values) - 1} other "
        "trials that reached this epoch were better"
    )
