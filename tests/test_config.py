"""A trial as a value: layers of defaults, canonical form, identity, and what is refused."""

import dataclasses
import json

import pytest

from dmlplayground import config, methods
from dmlplayground.base.errors import UserError
from dmlplayground.parts import layers
from dmlplayground.trial.config import schema

SMALL = {"method": "npairs", "data": {"name": "glyphs", "classes": 40}, "batch_size": 20}


def test_layers_override_in_their_order():
    trial = config.trial({"method": "npairs"})
    assert (trial.batch_size, trial.optimizer["lr"], trial.sampler["name"]) == (
        128,
        1e-4,
        "pairs",
    )  # the method's record
    assert trial.transform == {"name": "plain"}  # the data set's
    assert trial.optimizer["beta1"] == 0.9  # the framework's
    trial = config.trial({"method": "npairs", "batch_size": 64}, ["batch_size=32", "optimizer.lr=1e-3"])
    assert (trial.batch_size, trial.optimizer["lr"]) == (32, 1e-3)
    assert trial.optimizer["weight_decay"] == 1e-5  # a changed learning rate leaves its neighbours alone


def test_another_component_forgets_the_options_of_the_first():
    trial = config.trial({"method": "npairs"}, ["sampler=blocks", "sampler.per_class=2"])
    assert trial.sampler == {"name": "blocks", "per_class": 2}


def test_another_optimizer_keeps_the_learning_rate():
    trial = config.trial({"method": "npairs", "optimizer": {"name": "sgd"}})
    assert (trial.optimizer["name"], trial.optimizer["lr"]) == ("sgd", 1e-4)


@pytest.mark.parametrize("name", methods.names())
def test_the_canonical_form_builds_the_same_trial(name):
    trial = config.trial({"method": name, "data": {"name": "glyphs", "classes": 400}})
    again = config.trial(json.loads(json.dumps(trial.mapping())))
    assert again == trial
    assert again.id == trial.id


def test_a_trial_is_named_by_its_content():
    trial = config.trial(SMALL)
    assert (
        config.trial({**SMALL, "method": {"name": "npairs", "l2_reg": "5e-4"}}).id == trial.id
    )  # the default, spelled out
    changes = [
        "seed=1",
        "embed_dim=32",
        "optimizer.lr=2e-4",
        "method.l2_reg=0",
        "evaluation.every=2",
        "data.size=32",
    ]
    assert len({trial.id, *(config.trial(SMALL, [change]).id for change in changes)}) == len(changes) + 1
    assert config.trial(SMALL, ["device=cpu"]).id == trial.id  # where it runs is not what it is


def test_a_group_takes_what_it_does_not_say_from_the_optimizer():
    trial = config.trial(
        {"method": "npairs", "groups": {"loss": {"name": "sgd", "lr": 0.1, "weight_decay": 0}}}
    )
    own = config.optimizer_of(trial.optimizer, trial.groups, "loss")
    assert (own["name"], own["lr"], own["weight_decay"], own["momentum"]) == ("sgd", 0.1, 0, 0.9)


BAD = {
    "method=nparis": ["unknown method 'nparis'", "Did you mean 'npairs'?"],
    "foo=1": ["unknown configuration key 'foo'", "batch_size"],
    "optimizer.learning_rate=1": ["unknown option of optimizer adam: 'learning_rate'", "lr"],
    "method.margin=0.5": ["unknown option of method npairs: 'margin'", "l2_reg"],
    "method.l2_reg=-1": ["l2_reg", "-1"],
    "data=cub": ["unknown data set 'cub'", "glyphs"],
    "data.strenght=1": ["unknown option of data set glyphs: 'strenght'", "strength"],
    "backbone=resnet51": ["unknown backbone 'resnet51'", "Did you mean 'resnet50_v1b'?"],
    "sampler=paris": ["unknown sampler 'paris'", "pairs"],
    "transform=papre": ["unknown transform 'papre'", "paper"],
    "batch_size=31": ["batch_size 31 is odd"],
    "batch_size=2": ["at least two"],
    "batch_size=abc": ["batch_size must be a whole number", "'abc'"],
    "batch_size=0": ["batch_size must be at least 1"],
    "seed=1.5": ["seed must be a whole number"],
    "seed=-1": ["seed must not be negative"],
    "epochs=-1": ["epochs must not be negative"],
    "frozen_epochs=99": ["frozen_epochs 99 is more than epochs"],
    "optimizer.lr=fast": ["optimizer adam: lr must be a number"],
    "optimizer.lr=.nan": ["optimizer adam: lr must be a number"],
    "optimizer.clip=0": ["clip must be above 0"],
    "optimizer.beta1=1": ["beta1 must be from 0 to below 1"],
    "optimizer=adaw": ["unknown optimizer 'adaw'", "Did you mean", "rmsprop"],
    "schedule.steps=3": ["schedule step: steps must be a list"],
    "evaluation.ks=[]": ["evaluation.ks"],
    "evaluation.ks=[0]": ["evaluation.ks"],
    "evaluation.metrics=[R@one]": ["unknown metric 'R@one'"],
    "evaluation.metrics=[]": ["no metric is left"],
    "evaluation.headline=recall": ["unknown metric 'recall'"],
    "evaluation.training_metrics=[rho]": ["Did you mean 'rho_spectrum@K'"],
    "evaluation.training_every=0": ["evaluation.training_every must be at least 1"],
    "evaluation.intervals=exact": ["must be one of bootstrap, normal"],
    "evaluation.distance=manhattan": ["must be one of euclidean, cosine, hamming"],
    "freeze_batchnorm=1": ["freeze_batchnorm must be true or false or one of statistics"],
    "head.dropout=1": ["head.dropout"],
    "devices=3": ["cannot be split over 3 devices"],
    "sampler.same_image=2": ["must be between 0 and 1"],
    "protocol=honest": ["unknown protocol 'honest'", "validated"],
    "method=null": ["method must be a name"],
    "method=[npairs]": ["method must be a name"],
    "method={name: [npairs]}": ["method must be a name"],
    "schedule.factor=-3": ["schedule step: factor must be above 0"],
    "schedule.steps=[-1]": ["schedule step: steps[0] must be at least 1"],
    "optimizer.lr=1e308": ["not a valid learning rate"],
    "optimizer.lr=-1": ["not a valid learning rate"],
    "optimizer.weight_decay=-1": ["not a valid weight_decay"],
    "evaluation.ks=[99999999999]": ["evaluation.ks"],
    "epochs=99999999999999": ["epochs must be at most"],
    "embed_dim=100000000": ["embed_dim must be at most 65536, not 100000000"],
    "batch_size=1000000000": ["batch_size must be at most 1000000"],
    "head.bottleneck=[1000000]": ["head.bottleneck: widths must be from 1 to 65536"],
    "head.bottleneck=[0]": ["head.bottleneck: widths must be from 1"],
    "transform={name: paper, resize: 1000000}": ["transform paper: resize must be from 1 to 4096 pixels"],
    "transform={name: paper, resize: 0}": ["transform paper: resize must be from 1"],
    "transform={name: released, squash: -1}": ["transform released: squash must be from 1 to 4096 pixels"],
    "transform={name: training_strategies, test_size: 5000}": ["test_size must be from 1 to 4096 pixels"],
    "method={name: soft_triple, centers: 1000000000}": ["centers must be from 1 to 1000"],
    "method={name: histogram, nodes: 1000000000}": ["nodes must be from 2 to 10000"],
    "method={name: fast_ap, bins: 1000000000}": ["bins must be from 1 to 10000"],
    "seed=99999999999999999999": ["seed must be below"],
    "optimizer..lr=1": ["--set takes key=value"],
    "seed={a: 1, a: 2}": ["--set seed", "is a duplicate"],
    "novalue": ["--set takes key=value"],
    "seed={": ["--set seed is not valid YAML"],
}  # fmt: skip


@pytest.mark.parametrize("change", BAD)
def test_bad_input_is_one_message_that_names_the_thing(change):
    with pytest.raises(UserError) as caught:
        config.trial(SMALL, [change])
    for words in BAD[change]:
        assert words in str(caught.value)


def test_impossible_combinations():
    with pytest.raises(UserError, match=r"batch_size 12 is not a whole number of class blocks of 5.* 10, 15"):
        config.trial({"method": "margin", "batch_size": 12})
    with pytest.raises(UserError, match="needs 64 classes, but the training split has 20"):
        config.check_data(config.trial({"method": "npairs"}), num_classes=20)


@pytest.mark.parametrize("given", [None, [], "npairs", {"method": None}, {"method": {"l2_reg": 1}}, {}])
def test_what_is_no_configuration_is_refused(given):
    with pytest.raises(UserError):
        config.trial(given)


def test_yaml_problems_name_the_file(tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("method: [npairs\n")
    for path in (broken, tmp_path / "absent.yaml", tmp_path):
        with pytest.raises(UserError, match=str(path)):
            config.read_yaml(path)


HOSTILE = {
    "a: 1\nb: {x: 1, x: 2}\n": "line 2, column 11: the key 'x' is a duplicate",
    "a: &a [*a]\n": "line 1, column 8: this alias refers to something that contains it",
    "a: " + 3000 * "[": "nested more than 50 levels",
    "a: " + 3000 * "{b: ": "nested more than 50 levels",
    "a: 2001-02-31": "cannot be read",
    "1: 2": "a key must be a string",
    "no: 2": "a key must be a string",
    "[a, b]: 2": "a key must be a string",
    "a: \0": "not valid YAML",
    "a: !!python/object/apply:os.getcwd []": "could not determine a constructor",
}


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:20]))
def test_hostile_yaml_is_one_line_that_names_the_place(text, tmp_path):
    path = tmp_path / "hostile.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        config.read_yaml(path)
    message = str(caught.value)
    assert str(path) in message
    assert HOSTILE[text] in message
    assert "\n" not in message
    assert len(message) < 300 + len(str(path))


def test_what_never_ends_is_not_read_to_its_end():
    with pytest.raises(UserError, match="it is not a file"):
        config.read_yaml("/dev/zero")
    with pytest.raises(UserError, match="cannot read"):
        config.read_yaml("nul\0.yaml")


def test_aliases_and_merge_keys_serve_as_ever():
    text = "base: &base {lr: 1}\nown: {<<: *base, name: sgd}\nother: {<<: *base, lr: 2}\n"
    read = config.parse_yaml(text, "text")
    assert read["own"] == {"lr": 1, "name": "sgd"}
    assert read["other"] == {"lr": 2}


def test_options_may_come_before_the_part_they_belong_to(tmp_path):
    """The first thing that an owner of images does."""
    orders = [["data.name=folder", f"data.path={tmp_path}"], [f"data.path={tmp_path}", "data.name=folder"]]
    for order in orders:
        trial = config.trial({"method": "npairs"}, [*order, "transform.resize=64"])
        assert (trial.data["name"], trial.data["path"]) == ("folder", str(tmp_path))
        assert (trial.transform["name"], trial.transform["resize"]) == ("paper", 64)


def test_a_part_of_another_name_forgets_in_dotted_keys_as_well():
    below = {"optimizer.momentum": 0.5, "optimizer.name": "rmsprop", "optimizer.lr": 1e-3, "epochs": 3}
    laid = config.overlay(below, {"optimizer.name": "adam"}, plain=lambda value: value)
    assert laid == {"optimizer.name": "adam", "optimizer.lr": 1e-3, "epochs": 3}
    assert config.overlay(below, {"optimizer.lr": 1}, plain=lambda value: value) == {
        **below,
        "optimizer.lr": 1,
    }


def test_a_group_with_another_optimizer_forgets_the_options_of_the_old_one():
    record = {"groups": {"loss": {"name": "sgd", "lr": 0.1, "momentum": 0.9, "lr_mult": 2.0}}}
    merged = config.merge(record, {"groups": {"loss": {"name": "adam"}}})
    assert merged == {"groups": {"loss": {"name": "adam", "lr": 0.1, "lr_mult": 2.0}}}


def test_every_key_says_what_it_is():
    rows = {row.key: row for row in config.reference()}
    trial = config.trial(SMALL)
    stated = {key for key in config.dotted(trial.mapping()) if key.partition(".")[0] not in config.COMPONENTS}
    assert {key for key in stated if not key.startswith("groups.")} <= set(rows)
    assert rows["frozen_epochs"].neutral == 0
    assert rows["optimizer"].neutral == "adam"
    assert all(row.about and row.type for row in rows.values())


def test_the_layers_know_which_keys_name_parts():
    fields = {field.name: field.type for field in dataclasses.fields(schema.Trial)}
    parts = (schema.Named, schema.Named | None, list[schema.Named])
    named = [name for name, kind in fields.items() if kind in parts]
    assert list(layers.COMPONENTS) == named
    assert set(layers.GROUPS) == set(schema.Groups.__dataclass_fields__) - set(named)
    assert tuple(schema.Multipliers.__dataclass_fields__) == layers.MULTIPLIERS
