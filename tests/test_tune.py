"""Searches: ranges in place of values, needs validation classes alone, resumed, and kept as a file."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from sweeps_fixture import SMALL, only_search

from dmlplayground import config, hyperparams
from dmlplayground.base import files
from dmlplayground.base.errors import UserError
from dmlplayground.sweeps import (
    grid,
    runner,
    search_files,
    search_space,
    searches,
    tpe,
    winners,
    worker,
)
from dmlplayground.sweeps.worker import Ending
from dmlplayground.trial.store import CHECKPOINT, records, stream
from dmlplayground.trial.store.records import Record

optuna = pytest.importorskip("optuna", reason="Optuna is not installed: pip install 'dmlplayground[tune]'")

CONFIG = {
    **SMALL,
    "method": {"name": "proxy_nca", "scale": {"range": [1.0, 10.0], "log": True}},
    "batch_size": {"choose": [4, 8]},
    "iterations": 2,
    "epochs": 2,
    "protocol": {"folds": 2},
    "optimizer": {"lr": {"range": ["1e-5", "1e-2"], "log": True}},
}


def wanted(**changes) -> search_space.Search:
    return search_space.Search(**{"title": "Small", "config": CONFIG, "trials": 6, **changes})


def test_ranges_are_read_where_they_stand(tmp_path):
    file = tmp_path / "search.yaml"
    file.write_text(yaml.safe_dump({"title": "Small", "config": CONFIG}))
    found = only_search(file, ["optimizer.lr={range: [1e-4, 1e-3]}", "batch_size=4"])
    assert found.parameters == {
        "method.scale": search_space.Range([1.0, 10.0], log=True),
        "optimizer.lr": search_space.Range([1e-4, 1e-3], log=True),
    }
    scale = found.parameters["method.scale"]
    assert scale.ask(optuna.trial.FixedTrial({"a": 2.5}), "a") == 2.5, (
        "between 1.0 and 10.0 are not whole numbers alone"
    )
    trial = found.trial({"method.scale": 2.5, "optimizer.lr": 5e-4})
    assert (trial.method["scale"], trial.optimizer["lr"], trial.batch_size) == (2.5, 5e-4, 4)
    assert trial.protocol["name"] == "validated"


def test_a_range_may_stand_in_a_list():
    terms = [
        {"name": "embedding_norm", "weight": 0.1},
        {"name": "zero_mean", "weight": {"range": [0.0, 1.0]}},
    ]
    search = wanted(
        config={**SMALL, "method": "snr_contrastive", "regularizers": terms, "protocol": {"folds": 2}}
    )
    assert list(search.parameters) == ["regularizers.1.weight"]
    trial = search.trial({"regularizers.1.weight": 0.25})
    assert [term["weight"] for term in trial.regularizers] == [0.1, 0.25]
    assert terms[1]["weight"] == {"range": [0.0, 1.0]}
    found = winners.values(search, trial.mapping())["regularizers"]
    assert found == {"value": trial.regularizers, "source": "search"}


def test_every_combination_is_tried_once():
    config = {
        **SMALL,
        "method": {"name": "fast_ap", "bins": {"range": [2, 4]}},
        "batch_size": {"choose": [8, 12]},
    }
    search = wanted(config=config, draw="every", trials=50)
    assert search.trials == 6
    tried = list(search.combinations())
    pairs = [(one["batch_size"], one["method.bins"]) for one in tried]
    assert pairs == [(8, 2), (8, 3), (8, 4), (12, 2), (12, 3), (12, 4)]
    proposed = searches._proposals(search)
    assert [(one.number, one.values) for one in proposed] == list(enumerate(tried))
    steps = wanted(
        config={**SMALL, "method": {"name": "nt_xent", "temperature": {"range": [0.1, 0.3], "step": 0.1}}},
        draw="every",
    )
    values = [one["method.temperature"] for one in steps.combinations()]
    assert steps.trials == 3 and values == pytest.approx([0.1, 0.2, 0.3])


def test_too_many_combinations_are_refused():
    config = {**SMALL, "method": {"name": "fast_ap", "bins": {"range": [2, 32]}}}
    with pytest.raises(UserError, match="31 combinations, more than trials: 30"):
        wanted(config=config, draw="every", trials=30)
    with pytest.raises(
        UserError, match="method.scale: draw: every needs a range of whole numbers or with a step"
    ):
        wanted(draw="every")


def test_a_criterion_may_be_better_the_lower_it_is():
    assert wanted().direction == "maximize"
    protocol = {"folds": 2, "criterion": "density_intra"}
    evaluation = {"metrics": ["R@1", "density_intra"]}
    search = wanted(config={**CONFIG, "protocol": protocol, "evaluation": evaluation})
    assert search.direction == "minimize"
    ranked = [
        searches.Proposal(number, {}, [{"value": value}])
        for number, value in enumerate([0.3, 0.2, None, 0.2])
    ]
    assert [one.number for one in searches._ranked(ranked, search)] == [1, 3, 0]


def test_whole_numbers_stay_whole():
    asked = optuna.trial.FixedTrial({"a": 3, "b": 0.25, "c": json.dumps([3, 5])})
    assert search_space.Range([1, 9]).ask(asked, "a") == 3
    assert search_space.Range([0, 0.5]).ask(asked, "b") == 0.25
    assert search_space.Choice([[3, 5], None]).ask(asked, "c") == [3, 5]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epochs": 3}, "needs a range in its config"),
        (
            {"optimizer": {"lr": {"range": [1e-2, 1e-5]}}},
            "optimizer.lr: a range needs a lower and an upper end",
        ),
        ({"optimizer": {"lr": {"range": [1, 2, 3]}}}, "a range needs a lower and an upper end"),
        ({"optimizer": {"lr": {"range": [1]}}}, "a range needs a lower and an upper end"),
        ({"optimizer": {"lr": {"range": [0, 1], "log": True}}}, "must begin above 0"),
        ({"batch_size": {"choose": []}}, "choose needs at least one value"),
        ({"batch_size": {"choose": [1], "from": 2}}, "unknown key in batch_size: 'from'"),
    ],
)
def test_a_bad_range_is_named(tmp_path, given, words):
    file = tmp_path / "search.yaml"
    file.write_text(yaml.safe_dump({"title": "x", "config": {"method": "proxy_nca", **given}}))
    with pytest.raises(UserError, match=words):
        only_search(file)


@pytest.mark.parametrize("rule", [False, "median", "halving"])
def test_a_file_that_prunes_is_answered_with_rungs(tmp_path, rule):
    file = tmp_path / "search.yaml"
    file.write_text(yaml.safe_dump({"title": "x", "prune": rule, "config": CONFIG}))
    with pytest.raises(UserError, match="x: prune: .* give the search rungs"):
        only_search(file)


def test_only_validation_classes_may_judge():
    with pytest.raises(UserError, match="needs validation classes"):
        wanted(config={**CONFIG, "protocol": "paper"}).trial(
            {"batch_size": 4, "method.scale": 1, "optimizer.lr": 1e-3}
        )


# --- with processes that do as they are told ------------------------------------------------------------------------


class Trained:
    """Trains in no time: validation is best for a scale of 3, the test classes would prefer the largest."""

    def __init__(self, trial, folder, at_once=1):
        self.trial, self.folder, self.stopped, self.looks, self.at_once = trial, folder, False, 0, at_once

    def value(self, fold):
        return 1 - abs(self.trial.method["scale"] - 3) / 10 + 0.01 * fold

    def poll(self):
        if self.stopped:
            Record(self.trial.id, self.trial.mapping(), status="interrupted").save(self.folder)
            return Ending(worker.STOPPED, "stopped")
        steps = [(fold, epoch) for fold in (0, 1) for epoch in (0, 1, 2)]
        if self.looks < len(steps):
            with (self.folder / stream.FILE).open("a") as file:
                for fold, epoch in steps[self.looks : self.looks + self.at_once]:
                    entry = {"fold": fold, "member": 0, "epoch": epoch, "measured_on": "validation"}
                    entry["metrics"] = {"MAP@R": self.value(fold), "R@1": 0.5}
                    file.write(json.dumps(entry) + "\n")
            self.looks += self.at_once
            return None
        separate = [
            {"validation": {"MAP@R": self.value(fold)}, "metrics": {"MAP@R": self.trial.method["scale"]}}
            for fold in (0, 1)
        ]
        joined = {
            "metrics": {
                "R@1": self.trial.method["scale"] / 10,
                "NMI": 0.2,
                "MAP@R": self.trial.method["scale"],
            }
        }
        results = {"separate": separate, "joined": joined}
        Record(self.trial.id, self.trial.mapping(), status="finished", results=results).save(self.folder)
        return Ending(0, "ended with code 0")

    def stop(self):
        self.stopped = True


class Machine:
    slots = 1

    def __init__(self, stop_after=None, at_once=1):
        self.started, self.stop_after, self.at_once = [], stop_after, at_once

    def prepare(self, trials, workers):
        return []

    def start(self, trial, folder):
        if len(self.started) == self.stop_after:
            raise KeyboardInterrupt
        self.started.append(trial)
        return Trained(trial, folder, self.at_once)

    def ended(self, process):
        """Nothing to do."""

    def close(self, running):
        """Nothing to do."""


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(runner, "POLL", 0.0)


def test_the_winner_is_the_best_on_validation_and_becomes_a_file(tmp_path):
    machine = Machine()
    winner = searches.tune(wanted(trials=25), tmp_path, machine, quiet=True)
    assert len(machine.started) == 25
    best = min(machine.started, key=lambda trial: abs(trial.method["scale"] - 3))
    file = hyperparams.read(winner)
    assert (file.method, file.source) == ("proxy_nca", "search")
    assert file.values["method.scale"] == hyperparams.Value(best.method["scale"], "search")
    assert file.values["epochs"].source == "chosen"
    assert file.search["winner"] == best.id
    assert file.search["value"] == pytest.approx(1.005 - abs(best.method["scale"] - 3) / 10)
    assert file.reported[0].scores["R@1"] == pytest.approx(10 * best.method["scale"], abs=0.01)
    names = {part: getattr(best, part) for part in ("data", "backbone")}
    again = config.trial(
        {
            "method": "proxy_nca",
            **names,
            "protocol": {"name": "validated", "folds": 2},
            "hyperparams": str(winner),
        }
    )
    assert again.id == best.id
    repeats = grid.load(tmp_path / winners.REPEAT)[0].trials()
    assert len({trial.seed for trial in repeats} - {best.seed}) == 10
    assert all(replace(trial, seed=best.seed).mapping() == best.mapping() for trial in repeats)
    entries = tried(tmp_path)
    assert [entry["status"] for entry in entries] == ["finished"] * 25
    assert max(entries, key=lambda entry: entry["value"])["id"] == best.id


def test_a_criterion_that_is_not_finite_is_no_result(tmp_path, monkeypatch):
    value = Trained.value
    monkeypatch.setattr(
        Trained, "value", lambda self, fold: value(self, fold) if self.trial.method["scale"] < 5 else None
    )
    winner = searches.tune(wanted(trials=12), tmp_path, Machine(), quiet=True)
    entries = tried(tmp_path)
    failed = [entry for entry in entries if entry["values"]["method.scale"] >= 5]
    assert failed and not any("value" in entry for entry in failed)
    assert all(entry["problem"] == "its criterion is not finite" for entry in failed)
    assert hyperparams.read(winner).values["method.scale"].value < 5


def tried(store: Path) -> list[dict]:
    content = files.read_json(store / winners.TRIED)
    return [{**one, **one["reached"][0]} for one in content["tried"]]


def test_an_interrupted_search_goes_on(tmp_path):
    """The trial that had been proposed when it was stopped is trained first; in all there are as many as wanted."""
    first = Machine(stop_after=3)
    with pytest.raises(KeyboardInterrupt):
        searches.tune(wanted(), tmp_path, first, quiet=True)
    proposed = files_of(tmp_path) - {trial.id for trial in first.started}
    second = Machine()
    searches.tune(wanted(), tmp_path, second, quiet=True)
    assert {second.started[0].id} == proposed
    assert len(first.started) + len(second.started) == 6
    third = Machine()
    searches.tune(wanted(), tmp_path, third, quiet=True)
    assert third.started == []


@pytest.mark.parametrize("draw", ["tpe", "sobol"])
def test_a_search_that_was_stopped_tries_what_it_would_have_tried(tmp_path, draw):
    """TPE begins to look at earlier trials after ten."""
    search = wanted(trials=16, draw=draw)
    whole, parts = Machine(), [Machine(stop_after) for stop_after in (1, 4, 7, None)]
    searches.tune(search, tmp_path / "whole", whole, quiet=True)
    for machine in parts:
        with contextlib.suppress(KeyboardInterrupt):
            searches.tune(search, tmp_path / "parts", machine, quiet=True)
    tried = [trial.id for machine in parts for trial in machine.started]
    assert tried == [trial.id for trial in whole.started] and len(set(tried)) == 16


def files_of(store: Path) -> set[str]:
    return {path.parent.name for path in store.glob(f"*/{worker.TRIAL}")}


def test_what_cannot_be_trained_is_passed_over_and_said_if_it_is_all(tmp_path):
    """Of pairs, an odd number of rows cannot be made."""
    machine = Machine()
    pairs = {**CONFIG, "sampler": "pairs", "batch_size": {"choose": [4, 5]}}
    winner = searches.tune(wanted(config=pairs, trials=12), tmp_path / "some", machine, quiet=True)
    states = hyperparams.read(winner).search["trials"]
    assert states["refused"] > 0
    assert states["finished"] == len(machine.started) == 12 - states["refused"]
    odd = wanted(config={**pairs, "batch_size": {"choose": [5, 7]}}, trials=12)
    with pytest.raises(
        UserError, match="none of the search's proposals can be trained; the last one: .* is odd"
    ):
        searches.tune(odd, tmp_path / "none", Machine(), quiet=True)


def test_other_choices_need_another_store(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        searches.tune(wanted(), tmp_path, Machine(stop_after=1), quiet=True)
    changed = wanted(config={**CONFIG, "batch_size": {"choose": [4, 8, 12]}})
    with pytest.raises(UserError, match="holds a search with other ranges: .* Use a new store"):
        searches.tune(changed, tmp_path, Machine(), quiet=True)


def test_a_dry_run_checks_both_ends_of_the_ranges_and_writes_nothing(tmp_path):
    file, store = tmp_path / "search.yaml", tmp_path / "store"
    file.write_text(yaml.safe_dump({"title": "Small", "trials": 5, "config": CONFIG}))
    command = [sys.executable, "-m", "dmlplayground", "tune", str(file), "--store", str(store), "--dry-run"]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    *ranges, last = told.stdout.splitlines()
    assert last == f"5 trials of Small, into {store}"
    assert [line.split()[0] for line in ranges] == list(only_search(file).parameters)
    bad = [*command, "--set", "embed_dim={range: [4, 2000000000]}"]
    told = subprocess.run(bad, capture_output=True, text=True)
    assert told.returncode == 2
    assert told.stderr.startswith("error: with ")
    assert "embed_dim must be at most" in told.stderr
    assert not store.exists()


# --- for real ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_search_of_real_trials_killed_and_resumed(tmp_path):
    file, store = tmp_path / "search.yaml", tmp_path / "store"
    file.write_text(yaml.safe_dump({"title": "Small", "trials": 5, "config": CONFIG}))
    command = [
        sys.executable,
        "-m",
        "dmlplayground",
        "tune",
        str(file),
        "--store",
        str(store),
        "--workers",
        "2",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while process.poll() is None and not list(store.glob(f"*/{CHECKPOINT}")):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 0, again.stdout + again.stderr
    assert f"use it: --hyperparams {store / winners.BEST}" in again.stdout
    file = hyperparams.read(store / winners.BEST)
    assert sum(file.search["trials"].values()) == 5
    record = Record.load(store / file.search["winner"] / records.RECORD)
    assert file.search["value"] == pytest.approx(winners.validation(record))
    assert {entry["measured_on"] for entry in record.epochs} == {"validation"}
    best = str(store / winners.BEST)
    trained = subprocess.run(
        [sys.executable, "-m", "dmlplayground", "train", "proxy_nca", "--hyperparams", best, "--dry-run"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr


@pytest.mark.parametrize("left", ["file", "link", "dangling link"])
def test_the_lock_of_a_killed_search_is_taken_away(tmp_path, monkeypatch, left):
    """Optuna's clock runs fast here, and stops the test where it would be looked at for ever."""
    monkeypatch.chdir(tmp_path)
    store = Path("store")
    tpe._study(wanted(), store)
    lock, journal = store / f"{tpe.JOURNAL}.lock", store / tpe.JOURNAL
    if left == "file":
        lock.touch()
    else:
        lock.symlink_to(journal.resolve() if left == "link" else journal)
    ticks = iter(range(0, 1000, 5))
    clock = SimpleNamespace(monotonic=lambda: next(ticks), sleep=lambda _: None)
    monkeypatch.setattr("optuna.storages.journal._file.time", clock)
    assert tpe._study(wanted(), store).trials == []
    assert not os.path.lexists(lock)


def test_a_search_as_a_mapping(tmp_path):
    content = {"title": "Small", "config": CONFIG, "trials": 3}
    (tmp_path / "search.yaml").write_text(yaml.safe_dump(content))
    assert only_search(content, {"epochs": 1}) == only_search(tmp_path / "search.yaml", ["epochs=1"])
    many = {"title": "Many", "methods": ["margin", "npairs"], "trials": 3, "config": {"data": "glyphs"}}
    assert set(search_files.load_all(many)) == {"margin", "npairs"}
    with pytest.raises(UserError, match="Small searches for the settings of one method"):
        search_files.load_all(content, wanted=["npairs"])
