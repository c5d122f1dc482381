"""Published settings: every file makes its trial, tells its sources, and agrees with what was published."""

import json

import pytest

import dmlplayground as dml
from dmlplayground import cli, config, hyperparams
from dmlplayground.base import resources
from dmlplayground.base.errors import UserError
from dmlplayground.cli.commands import hyperparams as command
from dmlplayground.trial.hyperparams import Name

NAMES = [name for name in hyperparams.names() if name.study.startswith("fehervari2019")]
ours = pytest.mark.parametrize("name", NAMES, ids=str)


def test_every_file_has_its_place():
    """A study has a common file; below it stand the files of its data sets, and of rows that some data set has."""
    root = resources.hyperparams()
    rows = {
        study: {n.row for n in hyperparams.names() if n.study == study} for study in hyperparams.studies()
    }
    for path in root.rglob("*.yaml"):
        study, *_, row = path.relative_to(root).with_suffix("").parts
        assert row == hyperparams.COMMON or row in rows[study], path
    assert {hyperparams.read(name).method for name in NAMES} <= set(dml.methods.names())


def test_the_study_of_2019_has_its_thirteen_methods_everywhere():
    for study in ("fehervari2019", "fehervari2019_released", "fehervari2019_batch120"):
        for data in ("cub200", "cars196", "sop"):
            assert len({name.row for name in NAMES if name[:2] == (study, data)}) == 13


@ours
def test_every_recipe_makes_its_trials(name):
    recipe = hyperparams.read(name)
    data = recipe.data or name.data
    classes = dml.data.get(data).release.counts["train"].classes
    for backbone in (recipe.backbone, *recipe.backbones):
        given = hyperparams.load(f"{name.data}/{name.row}", dataset=data, backbone=backbone, study=name.study)
        trial = config.trial(given)
        config.check_data(trial, classes)
        assert trial.mapping() == given
        assert [trial.method["name"], trial.data["name"], trial.backbone["name"]] == [
            recipe.method,
            data,
            backbone,
        ]
        for key, entry in recipe.on(backbone).values.items():
            assert _at(given, key) == entry.value


def _at(mapping, key):
    for part in key.split("."):
        mapping = mapping.get(part)
    return mapping


def test_overriding():
    given = config.merge(
        hyperparams.load("npairs", dataset="cub200"), {"optimizer": {"lr": 3e-4}, "epochs": 2}
    )
    trial = config.trial(given, ["seed=5"])
    assert (trial.optimizer["lr"], trial.optimizer["weight_decay"], trial.epochs, trial.seed) == (
        3e-4,
        1e-5,
        2,
        5,
    )


def test_as_a_layer_under_the_users_values():
    given = {
        "method": {"name": "prototypical"},
        "data": "sop",
        "backbone": "inception_bn",
        "hyperparams": "fehervari2019",
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
        ({"hyperparams": "fehervary"}, "Did you mean 'fehervari2019'"),
        (
            {"hyperparams": "fehervari2019", "data": "glyphs"},
            "no fehervari2019 hyperparameters for npairs on glyphs; there are some for cars196, cub200, sop",
        ),
        ({"hyperparams": "absent.yaml"}, "cannot read absent.yaml"),
        ({"hyperparams": {"lr": 1}}, "a name or a .yaml file, not"),
    ],
)
def test_what_is_not_there(given, words):
    with pytest.raises(UserError, match=words):
        config.trial({"method": "npairs", "data": "cub200", **given})


def test_a_recipe_brings_its_network_unless_another_is_asked_for():
    given = {"method": "npairs", "data": "cub200", "hyperparams": "fehervari2019"}
    assert config.trial(given).backbone == {"name": "inception_bn", "pretrained": "imagenet"}
    assert config.trial({**given, "backbone": "resnet50_v2"}).backbone["name"] == "resnet50_v2"
    assert config.trial(given, ["backbone.pretrained=none"]).backbone == {
        "name": "inception_bn",
        "pretrained": "none",
    }


def test_settings_of_one_data_set_for_another():
    given = {"method": "npairs", "data": "glyphs", "backbone": "conv4"}
    trial = config.trial({**given, "hyperparams": "fehervari2019/cub200"})
    assert (trial.data["name"], trial.backbone["name"], trial.batch_size) == ("glyphs", "conv4", 128)
    assert config.trial({**given, "hyperparams": "fehervari2019/cub200/npairs"}) == trial
    with pytest.raises(UserError, match="settings of margin, not of npairs"):
        config.trial({**given, "hyperparams": "fehervari2019/cub200/margin"})


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


def test_listings(capsys):
    assert ["npairs", "fehervari2019/cub200", "inception_bn", "log", "4"] in told(capsys)
    assert ["optimizer.name", "rmsprop", "paper"] in told(capsys, "structured_clustering")
    with pytest.raises(UserError, match="Did you mean 'npairs'"):
        command.chosen("nparis")
    assert Name("fehervari2019", "cub200", "npairs") in hyperparams.names()


def told(capsys, *words: str) -> list[list[str]]:
    assert cli.main(["hyperparams", *words]) == 0
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_what_the_list_prints_can_be_asked_for(capsys, tmp_path):
    """Every line of the list: its settings, and these with its method."""
    listed = [line for line in told(capsys)[1:] if len(line) == 5 and line[1].count("/") == 1]
    assert len(listed) > 50
    for row, settings, backbone, *_ in listed[:: len(listed) // 8]:
        assert [row, settings, backbone] in [line[:3] for line in told(capsys, settings)]
        assert [f"{settings}/{row},", backbone] in told(capsys, f"{settings}/{row}")
    assert {line[1] for line in told(capsys, "fehervari2019")[1:5]} <= {
        f"fehervari2019/{data}" for data in ("cub200", "cars196", "sop", "inshop")
    }
    for wrong, words in (
        ("fehervari2019/cub20", "Did you mean 'fehervari2019/cub200'"),
        ("nobody/cub200", "unknown"),
    ):
        with pytest.raises(UserError, match=words):
            command.chosen(wrong)


def test_settings_as_json(capsys):
    assert cli.main(["hyperparams", "fehervari2019/cub200/npairs", "--json"]) == 0
    only, other = json.loads(capsys.readouterr().out)
    assert other["backbone"] == "resnet50_v2"
    assert (only["settings"], only["backbone"]) == ("fehervari2019/cub200/npairs", "inception_bn")
    assert only["values"]["embed_dim"]["value"] == 64 and only["values"]["embed_dim"]["source"]
    assert cli.main(["hyperparams", "--json"]) == 0
    everything = json.loads(capsys.readouterr().out)
    assert only in everything and len(everything) > 50
