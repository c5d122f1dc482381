"""How many epochs a search saves by stopping trials early, and whether it still finds the winner.

A grid of small trials is trained to the end once; its curves on validation classes are then played back under each rule,
one trial after another, in many random orders. The trials train a head on the features that EfficientNet-Lite0 has of the
built-in characters (needs 'dmlplayground[pretrained]').

    python benchmarks/early_stopping.py --record grid.json    (a minute or two: 48 trials of two folds of 9 epochs)
    python benchmarks/early_stopping.py grid.json [--orders 200]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import optuna

import dmlplayground as dml
from dmlplayground import config
from dmlplayground.backbones.frozen import extractor
from dmlplayground.data import feature_files
from dmlplayground.sweeps import early_stopping, optuna_search

EPOCHS = 9
RULES = (False, "median", "halving", "hyperband")
BASE = {
    "embed_dim": 32,
    "batch_size": 24,
    "iterations": 10,
    "epochs": EPOCHS,
    "frozen_epochs": 0,
    "schedule": {"name": "constant"},
    "groups": {"head": {"lr_mult": 1}},
    "protocol": {"name": "validated", "folds": 2},
    "evaluation": {"clustering": False},
}
GRID = {
    "method": ["proxy_nca", "triplet", "multi_similarity"],
    "optimizer.lr": [1e-5, 1e-4, 1e-3, 1e-2],
    "sampler": [{"name": "blocks", "per_class": 2}, {"name": "blocks", "per_class": 4}],
    "head.bottleneck": [[], [64]],
}


def record(file: Path) -> None:
    """Train the grid, and keep each trial's curve, as a search reports it, and its score on the test classes."""
    curves = []
    with tempfile.TemporaryDirectory() as store:
        features = Path(store) / "glyphs.npz"
        lite0 = extractor("efficientnet_lite0", "imagenet")
        feature_files.write(features, "glyphs", {"size": 64, "classes": 60}, lite0)
        base = {**BASE, "data": {"name": "features", "path": str(features)}}
        for values in itertools.product(*GRID.values()):
            given = config.merge(base, *(config.expand(config.nested(*one)) for one in zip(GRID, values)))
            trained = dml.train(given, store, threads=0)
            best: dict[int, float] = {}
            curve = {}
            for entry in (entry for entry in trained.epochs if entry["epoch"]):
                fold, value = entry["fold"], entry["metrics"]["MAP@R"]
                best[fold] = max(value, best.get(fold, value))
                curve[fold * EPOCHS + entry["epoch"]] = statistics.mean(best.values())
            curves.append(
                {
                    "id": trained.id,
                    "curve": curve,
                    "validation": optuna_search.validation(trained),
                    "test": trained.results["joined"]["metrics"]["MAP@R"],
                }
            )
            print(trained.id, round(curves[-1]["validation"], 4), flush=True)
    file.write_text(json.dumps(curves, indent=1))


def played(curves: list[dict], rule: early_stopping.Rule) -> tuple[int, dict]:
    """The epochs that this order of trials costs under the rule, and the winner."""
    study = optuna.create_study(
        direction="maximize", pruner=early_stopping.pruner(rule, 2 * EPOCHS), study_name="search"
    )
    epochs = 0
    for one in curves:
        trial = study.ask()
        for epoch, value in one["curve"].items():
            trial.report(value, int(epoch))
            epochs += 1
            if trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
        else:
            study.tell(trial, one["validation"])
    return epochs, curves[study.best_trial.number]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--record", type=Path, metavar="FILE", help="train the grid, and write its curves")
    parser.add_argument("--orders", type=int, default=200)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if arguments.record:
        record(arguments.record)
    curves = json.loads((arguments.record or arguments.file).read_text())
    whole = sum(len(one["curve"]) for one in curves)
    best = max(curves, key=lambda one: one["validation"])
    print(
        f"{len(curves)} trials, {whole} epochs, {arguments.orders} orders; MAP@R of the winner, test classes"
    )
    print(f"{'rule':10} {'epochs':>7} {'saved':>7} {'same winner':>12} {'validation':>11} {'test':>7}")
    for rule in RULES:
        rng = np.random.default_rng(0)
        runs = [
            played([curves[i] for i in rng.permutation(len(curves))], rule) for _ in range(arguments.orders)
        ]
        epochs = statistics.mean(count for count, _ in runs)
        same = statistics.mean(winner["id"] == best["id"] for _, winner in runs)
        validation, test = (
            statistics.mean(winner[key] for _, winner in runs) for key in ("validation", "test")
        )
        print(
            f"{rule or 'none':10} {epochs:7.0f} {1 - epochs / whole:7.1%} {same:12.1%} {validation:11.4f} {test:7.4f}"
        )


if __name__ == "__main__":
    main()
