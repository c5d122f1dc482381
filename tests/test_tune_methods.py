"""Searches for many methods alike: the ranges of their records, proposals by number alone, and their winners together."""

import itertools
import json

import pytest
import yaml
from scipy.stats import qmc
from sweeps_fixture import SMALL

from dmlplayground import cli, config, hyperparams, methods, protocols
from dmlplayground.base import resources
from dmlplayground.base.errors import UserError
from dmlplayground.sweeps import search_files, search_space, searches

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
        {"method": {"name": name}, "batch_size": 60},
        *(config.nested(key, value) for key, value in ranges.items()),
    )
    wanted = {**content, "optimizer": {"lr": {"range": [1e-4, 1e-2]}}}
    search = search_space.Search("x", wanted)
    assert set(search.parameters) == {*ranges, "optimizer.lr"}
    search.check()
    loss = methods.create(name, 10, 10)
    learns = any(weight.learned for weight in loss.weights.values())
    assert ("groups.loss.lr" in ranges) == learns, "search_ranges.OWN_RATE is for losses with learned weights"


#: Settings with which a method was published or is usually trained, by hand.
USUAL = {
    "arcface": {"method.margin": 28.6, "method.scale": 64.0},
    "contrastive": {"method.pos_margin": 0.0, "method.neg_margin": 1.0},
    "cosface": {"method.margin": 0.35, "method.scale": 64.0},
    "margin": {"method.margin": 0.2, "method.beta": 1.2},
    "multi_similarity": {"method.alpha": 2.0, "method.beta": 50.0, "method.base": 0.5},
    "nt_xent": {"method.temperature": 0.07},
    "proxy_anchor": {"method.margin": 0.1, "method.alpha": 32.0},
    "proxy_nca": {"method.scale": 3.0},
    "proxy_softmax": {"method.temperature": 0.05},
    "ranked_list": {"method.margin": 0.4, "method.alpha": 1.2, "method.temperature": 10.0},
    "soft_triple": {"method.scale": 20.0, "method.gamma": 0.1, "method.tau": 0.2, "method.margin": 0.01},
    "triplet": {"method.margin": 0.2},
    "triplet_semihard": {"method.margin": 0.2, "head.normalize": True},
}


@pytest.mark.parametrize("name", USUAL)
def test_a_search_looks_about_published_values(name):
    ranges = {key: search_space.parameter(value, key) for key, value in methods.get(name).ranges.items()}
    for key, value in USUAL[name].items():
        assert ranges[key].holds(value), key
    assert {key for key in ranges if key.startswith("method.")} <= set(USUAL[name])


@pytest.mark.parametrize("name", methods.names())
def test_boxes_are_small_and_hold_the_methods_own_values(name):
    record = methods.get(name)
    for key, value in record.ranges.items():
        one = search_space.parameter(value, key)
        if isinstance(one, search_space.Range):
            assert not one.log or key == "groups.loss.lr" or one.range[1] / one.range[0] <= 20, key
        if key.startswith("method."):
            assert one.holds(record.options[key.removeprefix("method.")].default), key


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
    with pytest.raises(UserError, match="--methods is for files with `methods`"):
        search_files.load_all("musgrave2020/search/triplet", wanted=["triplet"])


@pytest.mark.parametrize("name", resources.search_names())
def test_a_search_of_ours_can_be_made(name):
    for search in search_files.load_all(name).values():
        search.check()


# --- proposals --------------------------------------------------------------------------------------------------------


def test_the_first_proposal_is_the_methods_own_and_the_middle_of_the_rest(file):
    search = search_files.load_all(file())["margin"]
    first = searches.sobol(search, 0)
    assert first == {
        "method.margin": 0.2,
        "method.beta": 1.2,
        "groups.loss.lr": 5.47723e-3,
        "optimizer.lr": 1e-3,
    }
    points = qmc.Sobol(4, scramble=False).random(8)
    for number in range(1, 7):
        share = dict(zip(search.parameters, points[number + 1]))
        wanted = {
            "optimizer.lr": 1e-4 * 100 ** share["optimizer.lr"],
            "method.margin": 0.05 * 8 ** share["method.margin"],
            "method.beta": 0.6 + 0.8 * share["method.beta"],
            "groups.loss.lr": 3e-4 * (1e-1 / 3e-4) ** share["groups.loss.lr"],
        }
        assert searches.sobol(search, number) == pytest.approx(wanted, rel=1e-5)
    own = {key: value for key, value in CONFIG.items() if key != "sampler"}
    first = searches.sobol(search_files.load_all(file(config=own))["margin"], 0)
    assert first["sampler"] == {"name": "blocks", "per_class": 5}


def test_methods_with_the_same_range_try_the_same_values(file):
    margin, fast_ap = search_files.load_all(file()).values()
    for number in range(12):
        one, other = (searches.sobol(search, number) for search in (margin, fast_ap))
        assert one["optimizer.lr"] == other["optimizer.lr"]
    bins = [searches.sobol(fast_ap, number)["method.bins"] for number in range(31)]
    assert (
        bins[0] == 10 and min(bins) <= 3 and max(bins) >= 35 and all(isinstance(value, int) for value in bins)
    )


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
        assert [entry["reached"][0]["status"] for entry in tried] == ["finished"] * FILE["trials"]
        best = max(tried, key=lambda entry: entry["reached"][0]["value"])
        trial = config.trial({**SMALL, "method": name, "hyperparams": str(store)})
        assert trial.optimizer["lr"] == best["values"]["optimizer.lr"]
    lines = told.split("method ")[-1].splitlines()[1:3]
    assert {line.split()[0] for line in lines} == set(FILE["methods"])
    values = [float(line.split()[1]) for line in lines]
    assert values == sorted(values, reverse=True)
    assert cli.main([*command, "--methods", "fast_ap"]) == 0
    again = capsys.readouterr().out
    assert "margin" not in again and "MAP@R" in again
