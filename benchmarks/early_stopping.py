"""How many epochs a search saves by stopping trials early, and whether it still finds the winner.

The finished trials of a store are played back under each rule, one after another, in many random orders: nothing is trained.
Their protocol must watch validation classes, as that of musgrave2020/table4_glyphs does.

    dmlplayground sweep musgrave2020/table4_glyphs --store runs/table4
    python benchmarks/early_stopping.py runs/table4 [--orders 200]
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import NamedTuple

import numpy as np
import optuna

from dmlplayground import metrics, protocols
from dmlplayground.sweeps import early_stopping, optuna_search
from dmlplayground.trial.store import records

RULES: tuple[early_stopping.Rule, ...] = (False, "median", "halving", "hyperband")


class Played(NamedTuple):
    id: str
    curve: dict[int, float]  # what a search would have been told after so many epochs
    validation: float
    test: float


def read(store: Path) -> list[Played]:
    found = []
    for record in records.load_store(store):
        if record.status != "finished":
            continue
        protocol = protocols.create(**record.config["protocol"])
        criterion = metrics.get(protocol.criterion)
        best: dict[int, float] = {}
        curve = {}
        for entry in record.epochs:
            if entry["epoch"] and "metrics" in entry:
                fold, value = entry["fold"], entry["metrics"][criterion.key]
                best[fold] = value if fold not in best or criterion.better(value, best[fold]) else best[fold]
                curve[fold * record.config["epochs"] + entry["epoch"]] = statistics.mean(best.values())
        leading = record.results[protocols.get(protocol.key).leading]
        validation, test = optuna_search.validation(record), leading["metrics"][criterion.key]
        found.append(Played(record.id, curve, validation, test))
    return found


def play(trials: list[Played], rule: early_stopping.Rule) -> tuple[int, Played]:
    """The epochs that trials in this order cost under the rule, and the winner."""
    longest = max(max(one.curve) for one in trials)
    study = optuna.create_study(
        direction="maximize", pruner=early_stopping.pruner(rule, longest), study_name="search"
    )
    epochs = 0
    for one in trials:
        trial = study.ask()
        for epoch, value in one.curve.items():
            trial.report(value, epoch)
            if trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
        else:
            study.tell(trial, one.validation)
        epochs += epoch
    return epochs, trials[study.best_trial.number]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path)
    parser.add_argument("--orders", type=int, default=200)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    trials = read(arguments.store)
    whole = sum(max(one.curve) for one in trials)
    best = max(trials, key=lambda one: one.validation)
    print(
        f"{len(trials)} trials, {whole} epochs, {arguments.orders} orders; the winner's score on validation and test"
    )
    print(f"{'rule':10} {'epochs':>7} {'saved':>7} {'same winner':>12} {'validation':>11} {'test':>7}")
    for rule in RULES:
        rng = np.random.default_rng(0)
        runs = [
            play([trials[i] for i in rng.permutation(len(trials))], rule) for _ in range(arguments.orders)
        ]
        epochs = statistics.mean(count for count, _ in runs)
        same = statistics.mean(winner.id == best.id for _, winner in runs)
        validation = statistics.mean(winner.validation for _, winner in runs)
        test = statistics.mean(winner.test for _, winner in runs)
        print(
            f"{rule or 'none':10} {epochs:7.0f} {1 - epochs / whole:7.1%} {same:12.1%} {validation:11.4f} {test:7.4f}"
        )


if __name__ == "__main__":
    main()
