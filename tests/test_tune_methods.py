"""Searches for many methods alike: the ranges of their records, proposals by number alone, and their winners together."""

from __future__ import annotations

import itertools
import json

import pytest
import yaml
from scipy.stats import qmc
from sweeps_fixture import SMALL

from dmlplayground import cli, config, hyperparams, methods, protocols
from dmlplayground.base import resources
from dmlplayground.base.errors import UserError
from dmlplayground.sweeps import search_files, search_space

CONFIG = {
    **SMALL,
    "sampler": {"name": "blocks", "per_class": 2},
    "batch_size": 8,
    "iterations": 1,
    "epochs": 1,
    "protocol": {"folds": 2, "only": 1},
    "optimizer": {"lr": {"range": [1e-4, 1e-2], "log": True}},
}
FILE = {
    "title": "Alike",
    "methods": ["margin", "fast_ap"],
    "trials": 2,
    "draw": "sobol",
    "prune": False,
    "config": CONFIG,
}


@pytest.fixture
def file(tmp_path):
    def write(**changes):
        path = tmp_path / "alike.yaml"
        path.write_text(yaml.safe_dump({**FILE, **changes}))
        return path

    return write


# --- ranges -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", methods.names())
def test_the_ranges_of_a_record_can_be_searched(name):
    """Both ends of every range, together, make a trial; the rate of own weights is among them where there are some."""
    ranges = methods.get(name).ranges
    content = config.merge(
        {"method": {"name": name}}, *(config.nested(key, value) for key, value in ranges.items())
    )
    wanted = {**content, "optimizer": {"lr": {"range": [1e-4, 1e-2]}}}
    search = search_space.Search("x", wanted)
    assert set(search.parameters) == {*ranges, "optimizer.lr"}
    search.check()
    loss = methods.create(name, 10, 10)
    learns = any(weight.learned for weight in loss.weights.values())
    assert ("groups.loss.lr" in ranges) == learns, "search_ranges.OWN_RATE is for losses with learned weights"


#: The bounds of the Reality Check's searches, read off its published plots.
PUBLISHED = {
    "arcface": {"margin": [0, 90], "scale": [0.01, 200]},
    "contrastive": {"pos_margin": [-0.2, 2], "neg_margin": [-0.2, 2]},
    "cosface": {"margin": [0, 1], "scale": [0.01, 200]},
    "fast_ap": {"bins": [2, 32]},
    "margin": {"margin": [-0.2, 2], "beta": [-0.2, 2]},
    "multi_similarity": {"alpha": [0.001, 100], "beta": [0.01, 100], "base": [0, 1]},
    "nt_xent": {"temperature": [1e-4, 100]},
    "proxy_nca": {"scale": [0.1, 10]},
    "proxy_softmax": {"temperature": [0.01, 100]},
    "snr_contrastive": {"pos_margin": [0, 2], "neg_margin": [0, 2]},
    "soft_triple": {"scale": [0.01, 100], "gamma": [1e-4, 100], "tau": [0, 1], "margin": [0, 1]},
    "triplet": {"margin": [-0.2, 2]},
}
WITH_A_RATE = {"arcface", "cosface", "margin", "proxy_nca", "proxy_softmax", "soft_triple"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_ranges_are_the_published_ones_where_there_are_some(name):
    ranges = methods.get(name).ranges
    own = {
        key.removeprefix("method."): value["range"]
        for key, value in ranges.items()
        if key != "groups.loss.lr"
    }
    assert own == PUBLISHED[name]
    assert ranges.get("groups.loss.lr") == (
        {"range": [1e-6, 1], "log": True} if name in WITH_A_RATE else None
    )


def test_the_file_has_the_last_word_on_a_range(file):
    changed = {**CONFIG, "method": {"margin": {"range": [0.1, 0.2]}, "beta": 1.0}}
    found = search_files.load_all(file(config=changed, methods=["margin"]))["margin"]
    assert found.parameters["method.margin"] == search_space.Range([0.1, 0.2])
    assert set(found.parameters) == {"optimizer.lr", "method.margin", "groups.loss.lr"}
    rates = search_files.load_all(file(own_ranges=False))
    assert [list(search.parameters) for search in rates.values()] == [["optimizer.lr"]] * 2


@pytest.mark.parametrize(
    ("changes", "wanted", "words"),
    [
        ({"methods": ["margin", "marginn"]}, [], "unknown method 'marginn'"),
        ({}, ["npairs"], "does not search for npairs; it does for margin, fast_ap"),
        ({}, ["nparis"], "unknown method 'nparis'. Did you mean 'npairs'"),
        ({"methods": 3}, [], "methods must be"),
        ({"methods": []}, [], "must name at least one method"),
        ({"draw": "lots"}, [], "draw must be"),
    ],
)
def test_what_a_file_may_not_say_of_methods(file, changes, wanted, words):
    with pytest.raises(UserError, match=words):
        search_files.load_all(file(**changes), wanted=wanted)


def test_methods_are_of_files_that_name_some(file):
    with pytest.raises(UserError, match="searches for the settings of 2 methods"):
        search_files.load(file())
    with pytest.raises(UserError, match="--methods is for files with `methods`"):
        search_files.load_all("musgrave2020/search/triplet", wanted=["triplet"])


@pytest.mark.parametrize("name", resources.search_names())
def test_a_search_of_ours_can_be_made(name):
    for search in search_files.load_all(name).values():
        search.check()


# --- proposals --------------------------------------------------------------------------------------------------------


def test_the_first_proposal_is_the_methods_own_and_the_middle_of_the_rest(file):
    pytest.importorskip("optuna")
    from dmlplayground.sweeps import sobol

    search = search_files.load_all(file())["margin"]
    first = sobol.proposal(search, 0)
    assert first == {"method.margin": 0.2, "method.beta": 1.2, "groups.loss.lr": 1e-3, "optimizer.lr": 1e-3}
    points = qmc.Sobol(4, scramble=False).random(8)
    for number in range(1, 7):
        share = dict(zip(search.parameters, points[number + 1]))
        wanted = {
            "optimizer.lr": 1e-4 * 100 ** share["optimizer.lr"],
            "method.margin": -0.2 + 2.2 * share["method.margin"],
            "method.beta": -0.2 + 2.2 * share["method.beta"],
            "groups.loss.lr": 1e-6 * 1e6 ** share["groups.loss.lr"],
        }
        assert sobol.proposal(search, number) == pytest.approx(wanted, rel=1e-5)


def test_methods_with_the_same_range_try_the_same_values(file):
    pytest.importorskip("optuna")
    from dmlplayground.sweeps import sobol

    margin, fast_ap = search_files.load_all(file()).values()
    for number in range(12):
        one, other = (sobol.proposal(search, number) for search in (margin, fast_ap))
        assert one["optimizer.lr"] == other["optimizer.lr"]
    bins = [sobol.proposal(fast_ap, number)["method.bins"] for number in range(31)]
    assert bins[0] == 10 and {2, 32} <= set(bins[1:]) and all(isinstance(value, int) for value in bins)


def test_ranges_and_choices_are_divided_evenly():
    shares = [number / 1000 for number in range(1000)]
    steps = [search_space.Range([0.0, 1.0], step=0.25).at(share) for share in shares]
    assert {value: steps.count(value) for value in steps} == dict.fromkeys([0.0, 0.25, 0.5, 0.75, 1.0], 200)
    whole = [search_space.Range([1, 4]).at(share) for share in shares]
    assert {value: whole.count(value) for value in whole} == dict.fromkeys([1, 2, 3, 4], 250)
    chosen = [search_space.Choice(["a", "b"]).at(share) for share in shares]
    assert (chosen.count("a"), chosen.count("b")) == (500, 500)


# --- the protocol of a search -----------------------------------------------------------------------------------------


def test_only_some_of_the_folds_may_be_trained():
    whole, part = protocols.create("validated", folds=4), protocols.create("validated", folds=4, only=1)
    assert part.trainings == 1 and part.folds(100) == whole.folds(100)[:1]
    with pytest.raises(UserError, match="only must be from 1 to the number of folds"):
        protocols.create("validated", folds=4, only=5)
    plain = {"method": "npairs", "protocol": {"name": "validated"}}
    assert config.trial(plain).id != config.trial(plain, ["protocol.only=1"]).id


# --- for real ---------------------------------------------------------------------------------------------------------


def test_every_method_is_a_row_of_equal_conditions():
    assert {name.row for name in hyperparams.names() if name.study == "equal"} == set(methods.names())
    first = config.trial({"method": "circle", "data": "cub200", "hyperparams": "equal"})
    assert (first.backbone["name"], first.batch_size, first.optimizer["name"]) == ("inception_bn", 60, "adam")


#: What a method may choose for itself; DREML's members divide the embedding and the images among themselves.
OWN = ("method.", "sampler.", "mining", "head.normalize", "head.to_classes", "optimizer.lr", "groups.loss.lr")
OF_DREML = ("ensemble.", "embed_dim", "iterations", "epochs", "evaluation.every", "evaluation.distance")


PRETRAINED = {"backbone": {"name": "efficientnet_lite0", "pretrained": "imagenet"}}


@pytest.mark.parametrize(
    ("data", "more"),
    [("glyphs", {}), ("glyphs", PRETRAINED), ("cub200", {}), ("cars196", {}), ("sop", {})],
)
def test_nothing_else_differs(data, more):
    made = {
        name: config.dotted(
            config.trial({"method": name, "data": data, "hyperparams": "equal", **more}).mapping()
        )
        for name in methods.names()
    }
    for (one, left), (other, right) in itertools.combinations(made.items(), 2):
        allowed = OWN + (OF_DREML if "dreml" in (one, other) else ())
        differing = {key for key in left.keys() | right.keys() if left.get(key) != right.get(key)}
        assert not [key for key in differing if not key.startswith(allowed)], (one, other)
    images = {
        name: values["iterations"] * values["epochs"] * values["ensemble.members"] * values["batch_size"]
        for name, values in made.items()
    }
    assert len(set(images.values())) == 1
    width = {values["embed_dim"] * values["ensemble.members"] for values in made.values()}
    assert len(width) == 1


@pytest.mark.slow
def test_a_search_for_two_methods_tells_the_winners(file, tmp_path, capsys):
    pytest.importorskip("optuna")
    store = tmp_path / "store"
    command = ["tune", str(file()), "--store", str(store), "--workers", "2"]
    assert cli.main(command) == 0
    told = capsys.readouterr().out
    assert f"use them: --hyperparams {store}" in told
    for name in FILE["methods"]:
        tried = json.loads((store / name / "search.json").read_text())["tried"]
        assert [entry["state"] for entry in tried] == ["complete"] * FILE["trials"]
        best = max(tried, key=lambda entry: entry["value"])
        trial = config.trial({**SMALL, "method": name, "hyperparams": str(store)})
        assert trial.optimizer["lr"] == best["values"]["optimizer.lr"]
    lines = told.split("method ")[-1].splitlines()[1:3]
    assert {line.split()[0] for line in lines} == set(FILE["methods"])
    values = [float(line.split()[1]) for line in lines]
    assert values == sorted(values, reverse=True)
    assert cli.main([*command, "--methods", "fast_ap"]) == 0
    again = capsys.readouterr().out
    assert "margin" not in again and "MAP@R" in again
