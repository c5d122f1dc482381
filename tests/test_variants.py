"""Large grids: what their trials have in common is built and checked once, and each is the trial it would be alone."""

from collections import Counter

import pytest

from dmlplayground import config
from dmlplayground.base.errors import UserError
from dmlplayground.sweeps import grid
from dmlplayground.trial.config import building, checking

WIDE = {
    "method": ["npairs", "margin", "proxy_nca"],
    "embed_dim": [16, 64],
    "optimizer.lr": ["1e-4", 0.01],
    "groups.loss.lr": [0.1, 0.2],
    "groups.head.lr_mult": [1, 5],
    "batch_size": [30, 40],
    "optimizer": ["adam", "sgd"],
    "evaluation.ks": [[1], [1, 2]],
    "seed": [0, 7],
}


@pytest.mark.parametrize(
    "overrides", [(), ("optimizer.lr=0.5",), ("optimizer=rmsprop",), ("seed=5",), ("groups.head.lr=3",)]
)
def test_each_trial_of_a_grid_is_what_it_is_alone(overrides):
    experiment = grid.Experiment(
        "x", base={"backbone": "conv4"}, grid=WIDE, methods={"margin": {"epochs": 3}}
    )
    alone = [
        config.trial(experiment.configuration(choice), overrides) for choice in experiment.choices()[::19]
    ]
    made = {trial.id: trial for trial in experiment.trials(overrides=overrides)}
    assert {trial.id: trial for trial in alone}.items() <= made.items()
    for trial in alone:
        assert list(made[trial.id].mapping().items()) == list(trial.mapping().items())


def test_a_grid_of_thousands_is_built_and_checked_by_its_values(monkeypatch):
    counts: Counter = Counter()

    def counted(name, function):
        def call(*given):
            counts[name] += 1
            return function(*given)

        return call

    for name in ("layered", "completed"):
        monkeypatch.setattr(building, name, counted(name, getattr(building, name)))
    monkeypatch.setattr(checking, "run", counted("run", checking.run))
    axes = {
        "method": ["margin", "triplet"],
        "method.margin": [0.1, 0.2, 0.3, 0.4],
        "embed_dim": [16, 32, 64],
        "optimizer.lr": [rate / 1000 for rate in range(1, 11)],
        "schedule.factor": [0.1, 0.2, 0.3, 0.4, 0.5],
        "seed": list(range(4)),
    }
    trials = grid.Experiment("x", base={"batch_size": 20}, grid=axes).trials()
    assert len(trials) == 2 * 4 * 3 * 10 * 5 * 4
    assert counts["layered"] == 2  # once a method
    assert counts["completed"] == 2 * (1 + 4 + 3 + 10 + 5 + 4)  # once a value
    assert counts["run"] <= 2 * (len(checking.CHECKS) + 1 + 4 + 3 + 10 + 5 + 4)


def test_groups_are_built_one_by_one(monkeypatch):
    """Combinations of the values of several groups are as many as the trials."""
    built: Counter = Counter()

    def completed(said, complete=building.completed):
        built["parts"] += 1
        return complete(said)

    monkeypatch.setattr(building, "completed", completed)
    rates = [rate / 1000 for rate in range(1, 8)]
    axes = {
        "method": ["margin"],
        "optimizer.lr": rates,
        "groups.loss.lr": rates,
        "groups.head.lr_mult": rates,
    }
    trials = grid.Experiment("x", grid=axes).trials()
    assert len(trials) == 7**3
    assert built["parts"] == 1 + 7 + 2 * 7**2  # what is fixed, the optimizer, and each group with it


@pytest.mark.parametrize("key, value, words", [
    ("groups.hed.lr", 0.1, "Did you mean 'head'"),
    ("groups.head.lr", -1, "-1 is not a valid learning rate"),
    ("groups.head.lr_mult", -1, "a multiplier must not be negative"),
    ("groups.head.rate", 1, "rate"),
    ("groups", 3, "groups must be a mapping"),
])  # fmt: skip
def test_wrong_values_of_one_group_among_several(key, value, words):
    axes = {"method": ["npairs"], "groups.loss.lr": [0.1, 0.2], key: [value]}
    with pytest.raises(UserError) as problem:
        grid.Experiment("x", grid=axes).trials()
    (line,) = str(problem.value).splitlines()  # both trials share it
    assert f"{value} and 1 more: " in line and words in line


def test_what_is_wrong_is_told_once_with_the_first_trial_that_has_it():
    axes = {"method": ["npairs"], "optimizer.lr": [0.1, -1], "head.dropout": [0.5, 2], "seed": [0, "x"]}
    with pytest.raises(UserError) as problem:
        grid.Experiment("x", grid=axes).trials()
    lines = str(problem.value).splitlines()[1:]
    assert len(lines) == 3  # of seven trials
    assert lines[0].endswith("dropout 0.5, seed x and 1 more: seed must be a whole number, not 'x'.")
    assert lines[1].endswith("dropout 2, seed 0: head.dropout must be at least 0 and below 1, not 2.0.")
    assert "lr" in lines[2].rpartition("seed 0 and 3 more: ")[2]
