"""Published settings: every file makes its trial, tells its sources, and agrees with what was published."""

from __future__ import annotations

import pytest

import dmlplayground as dml
from dmlplayground import config, files, hyperparams, resources
from dmlplayground.cli.commands import hyperparams as command
from dmlplayground.errors import UserError
from dmlplayground.hyperparams import Name

NAMES = hyperparams.names()
ours = pytest.mark.parametrize("name", NAMES, ids=str)

# The study's values as its logs and scripts state them: epochs, batches an epoch, batch size, learning rate, its
# factor and steps, weight decay, Adam's epsilon, clip.
STUDY = {
    "triplet_semihard": (60, None, 128, 1e-4, 0.5, [20, 30, 40], 1e-5, 1e-7, 10),
    "lifted_structure": (60, None, 128, 1e-4, 0.5, [20, 30, 40], 1e-5, 1e-7, 10),
    "npairs": (25, 200, 128, 1e-4, 0.5, [12, 14, 16, 18], 1e-5, 1e-7, None),
    "structured_clustering": (25, 200, 120, 1e-4, 0.5, [12, 14, 16, 18], 1e-5, 1e-7, None),
    "margin": (20, 200, 125, 1e-4, 0.5, [12, 14, 16, 18], 1e-5, 1e-7, None),
    "angular": (30, 200, 128, 1e-5, 0.5, [10, 20], 1e-5, 1e-7, 10),
    "prototypical": (30, 100, 120, 1e-4, 0.5, [12, 14, 16, 18], 1e-5, 1e-7, None),
    "proxy_triplet": (20, None, 32, 1e-3, 0.1, [3, 10, 16], 5e-4, 1e-2, 10),
    "proxy_nca": (20, None, 32, 1e-3, 0.1, [3, 10, 16], 5e-4, 1e-2, 10),
    "proxy_softmax": (30, None, 75, 1e-3, 0.1, [15], 1e-4, 1e-2, 10),
    "ranked_list": (60, 200, 180, 1e-4, 0.5, [20, 30, 40], 1e-5, 1e-7, None),
    "dreml": (12, None, 128, 1e-2, 0.1, [4, 8], 5e-4, 1e-2, None),
    "discriminative": (60, None, 128, 1e-4, 0.5, [20, 30, 40], 1e-5, 1e-7, 10),
}


def test_every_method_has_its_files_and_every_file_its_method():
    for data in ("cub200", "cars196", "sop"):
        assert {name.method for name in NAMES if name[:2] == ("paper", data)} == set(dml.methods.names())
    assert {name.method for name in NAMES if name.set == "released"} == set(dml.methods.names())
    placed = {
        path.relative_to(resources.hyperparams()).as_posix()
        for path in resources.hyperparams().rglob("*.yaml")
    }
    assert placed == {f"{name}.yaml" for name in NAMES}
    assert {name.data for name in NAMES} <= set(dml.data.names())


@ours
def test_every_file_makes_its_trials(name):
    classes = dml.data.get(name.data).release.counts["train"].classes
    for backbone in ("inception_bn", *hyperparams.read(name).backbones):
        given = hyperparams.load(name.method, dataset=name.data, backbone=backbone, protocol=name.set)
        trial = config.trial(given)
        config.check_data(trial, classes)
        assert trial.mapping() == given
        assert (trial.method["name"], trial.data["name"], trial.backbone["name"]) == (
            name.method,
            name.data,
            backbone,
        )


@ours
def test_a_file_holds_differences_only(name):
    file = hyperparams.read(name)
    for backbone in ("inception_bn", *file.backbones):
        plain = config.trial({"method": name.method, "data": name.data, "backbone": backbone}).mapping()
        there = config.trial(
            {"method": name.method, "data": name.data, "backbone": backbone, "hyperparams": name.set}
        ).mapping()
        for key, entry in file.on(backbone).values.items():
            assert _at(there, key) == entry.value
            assert _at(plain, key) != entry.value, f"{key} is the method's own value"


def _at(mapping, key):
    for part in key.split("."):
        mapping = mapping.get(part)
    return mapping


@ours
def test_what_is_reported_is_what_the_tables_quote(name):
    tables = files.read_json(resources.experiments().parent / "dmlplayground/reports/published.json")[
        "tables"
    ]
    results = hyperparams.read(name).reported
    quoted = {result.backbone: result.scores for result in results if result.source == "paper"}
    table = tables[name.data].get(name.method, {}) if name.set == "paper" else {}
    logged = {result.backbone: result.scores for result in results if result.source == "log"}
    assert {**logged, **quoted}.keys() == table.keys()
    for backbone, scores in table.items():
        assert quoted.get(backbone, logged.get(backbone)) == pytest.approx(scores, abs=0.06)


@pytest.mark.parametrize("method", STUDY)
def test_the_values_are_those_of_the_logs_and_scripts(method):
    given = hyperparams.load(method, dataset="cub200")
    optimizer, schedule = given["optimizer"], given["schedule"]
    found = (
        given["epochs"], given["iterations"], given["batch_size"], optimizer["lr"], schedule["factor"], schedule["steps"],
        optimizer["weight_decay"], optimizer["epsilon"], optimizer["clip"],
    )  # fmt: skip
    assert found == STUDY[method]
    assert given["embed_dim"] == {"proxy_softmax": 2048, "dreml": 12}.get(method, 64)


def test_sources_are_told_as_they_are():
    """Logs exist for five methods on CUB alone, with ResNet-50 for one; no others."""
    sources = {(name.data, name.method): hyperparams.read(name) for name in NAMES if name.set == "paper"}
    logged = {method for (data, method), file in sources.items() if file.source == "log"}
    assert logged == {"triplet_semihard", "lifted_structure", "npairs", "margin", "proxy_triplet"}
    assert all(file.source == "unpublished" for (data, _), file in sources.items() if data != "cub200")
    assert [
        m for (_, m), f in sources.items() if any(own.source == "log" for own in f.backbones.values())
    ] == ["npairs"]


def test_values_of_other_backbones():
    margin = hyperparams.load("margin", dataset="cub200", backbone="resnet50_v2")
    assert margin["head"]["init_scale"] == 2.0
    assert hyperparams.load("margin", dataset="cub200")["head"]["init_scale"] == 0.2
    angular = hyperparams.load("angular", dataset="cub200", backbone="resnet50_v2")
    assert angular["groups"]["backbone"]["lr_mult_by_name"] == {"conv": 0.01}
    assert (
        hyperparams.load("npairs", dataset="cub200", backbone="resnet50_v2")["groups"]["backbone"][
            "lr_mult_by_name"
        ]
        == {}
    )


def test_what_the_released_code_did():
    margin = hyperparams.load("margin", dataset="cub200", protocol="released")
    assert margin["method"]["beta_by"] == "position"
    assert margin["transform"] == {"name": "released", "squash": 256, "squash_test": False, "size": 224}
    assert margin["groups"]["loss"]["lr"] * margin["batch_size"] == pytest.approx(0.1)


def test_overriding():
    given = config.merge(
        hyperparams.load("npairs", dataset="cub200"), {"optimizer": {"lr": 3e-4}, "epochs": 2}
    )
    trial = config.trial(given, ["seed=5"])
    assert (trial.optimizer.lr, trial.optimizer.weight_decay, trial.epochs, trial.seed) == (3e-4, 1e-5, 2, 5)


def test_as_a_layer_under_the_users_values():
    given = {
        "method": {"name": "prototypical"},
        "data": "sop",
        "backbone": "inception_bn",
        "hyperparams": "paper",
    }
    assert config.trial(given).sampler["supports"] == 1
    assert config.trial({**given, "sampler": {"queries": 2}, "batch_size": 30}).sampler == {
        "name": "episodes",
        "supports": 1,
        "queries": 2,
    }
    plain = config.trial(given, ["hyperparams=null"])
    assert plain.sampler["supports"] == 5
    assert config.trial(config.trial(given)).id == config.trial(given).id


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"hyperparams": "papr"}, "Did you mean 'paper'"),
        (
            {"hyperparams": "paper", "data": "glyphs"},
            "no paper hyperparameters for npairs on glyphs; there are some for cars196, cub200, sop",
        ),
        ({"hyperparams": "absent.yaml"}, "cannot read absent.yaml"),
        ({"hyperparams": {"lr": 1}}, "a name or a .yaml file, not"),
    ],
)
def test_what_is_not_there(given, words):
    with pytest.raises(UserError, match=words):
        config.trial({"method": "npairs", "data": "cub200", **given})


def test_a_file_of_ones_own(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "method: npairs\nsource: search\nvalues:\n  method.l2_reg: {value: 0.5, source: search}\n"
    )
    assert config.trial({"method": "npairs", "hyperparams": str(path)}).method["l2_reg"] == 0.5
    with pytest.raises(UserError, match="settings of npairs, not of margin"):
        config.trial({"method": "margin", "hyperparams": str(path)})
    path.write_text("method: npairs\nsource: rumour\n")
    with pytest.raises(UserError, match="source must be one of log, script"):
        config.trial({"method": "npairs", "hyperparams": str(path)})


def test_listings():
    table = command.table()
    assert ["npairs", "paper/cub200", "inception_bn", "log", "0", "51.61", "62.02", "log,", "10", "runs"] in [
        line.split() for line in table.splitlines()
    ]
    told = command.of_method("structured_clustering")
    assert ["optimizer.name", "rmsprop", "paper"] in [line.split() for line in told.splitlines()]
    with pytest.raises(UserError, match="Did you mean 'npairs'"):
        command.of_method("nparis")
    assert Name("paper", "cub200", "npairs") in hyperparams.names()
