"""The recipe of A Metric Learning Reality Check against the literal tables of recipe_musgrave2020.py."""

import pytest
import recipe_musgrave2020 as study
from sweeps_fixture import only_search

import dmlplayground as dml
from dmlplayground import config, hyperparams
from dmlplayground.base import resources
from dmlplayground.sweeps import grid

ROWS = [(row, data) for row, by_data in study.TUNED.items() for data in by_data]
every_row = pytest.mark.parametrize(("row", "data"), ROWS)


def recipe(row, data):
    return hyperparams.read(hyperparams.Name("musgrave2020", data, row))


def test_fourteen_rows_on_three_data_sets_and_in_large_batches():
    assert len(study.TUNED) == 14
    found = {(name.row, name.data) for name in hyperparams.names() if name.study == "musgrave2020"}
    assert found == set(ROWS)


@every_row
def test_every_value(row, data):
    """The recipe says what the study says and no more, in full precision."""
    found = recipe(row, data)
    assert {key: entry.value for key, entry in found.values.items()} == study.expected(row, data)
    assert found.method == study.METHODS.get(row, row)
    assert found.target == pytest.approx(100 * study.TUNED[row][data][1], abs=0.006)


@every_row
def test_what_was_searched_says_so(row, data):
    searched = {key for name in study.TUNED[row][data][0] for key in study.ours(name, 1.0)}
    if (row, data) == ("soft_triple", "sop"):
        searched.remove("method.tau")  # not used there
    found = {key for key, entry in recipe(row, data).values.items() if entry.source == "published search"}
    assert found == searched


@pytest.mark.parametrize("row", [row for row in study.TUNED if row not in study.METHODS])
def test_a_method_finds_its_row(row):
    assert hyperparams.resolve("musgrave2020", row, "sop") == ("musgrave2020", "sop", row)


def test_a_row_of_another_name_is_found_by_its_method():
    """A method with one row of another name finds it; of one with two rows, the row of its own name is meant."""
    assert hyperparams.resolve("musgrave2020", "proxy_softmax", "cub200").row == "normalized_softmax"
    assert hyperparams.resolve("musgrave2020", "margin", "cub200").row == "margin"
    assert hyperparams.resolve("musgrave2020/margin_per_class", "margin", "cub200").row == "margin_per_class"
    assert hyperparams.resolve("musgrave2020/cub200_batch256", "triplet", "glyphs").data == "cub200_batch256"


def test_the_networks_images_are_those_of_its_lineage():
    found = dml.backbones.get(study.SHARED["backbone.name"]).preprocessing
    assert (found.mean, found.std, found.channels) == ((104.0, 117.0, 128.0), (1.0, 1.0, 1.0), "bgr")


@every_row
def test_every_row_makes_its_trial(row, data):
    given = hyperparams.load(f"{data}/{row}", dataset=data.partition("_")[0], study="musgrave2020")
    found = config.dotted(config.trial(given).mapping())
    expected = study.expected(row, data)
    assert {key: found.get(key, expected[key]) for key in expected} == expected
    assert found["method.name"] == study.METHODS.get(row, row)


@every_row
def test_what_a_recipe_says_of_its_data_set_is_left_out_for_another(row, data):
    given = hyperparams.load(f"{data}/{row}", dataset="glyphs", backbone="conv4", study="musgrave2020")
    assert given["data"]["name"] == "glyphs"
    wanted = {"method": study.METHODS.get(row, row), "hyperparams": f"musgrave2020/{data}/{row}"}
    assert "data.division" not in config.recipe({**wanted, "data": "glyphs"})


def test_the_folds_have_the_classes_of_the_study():
    """Trained on, watched and tested on."""
    for data, classes, sizes in (
        ("cub200", 100, (75, 25)),
        ("cars196", 98, (74, 24)),
        ("sop", 11317, (8488, 2829)),
    ):
        protocol = config.trial(hyperparams.load("contrastive", dataset=data, study="musgrave2020")).protocol
        for fold in dml.protocols.create(**protocol).folds(classes):
            assert (len(fold.train), len(fold.kept)) == sizes


def test_the_tables_have_all_rows_ten_times():
    """And the network before training once."""
    for table, data in (("table4_cub200", "cub200"), ("table5_cars196", "cars196"), ("table6_sop", "sop")):
        trials = grid.load(f"musgrave2020/{table}")[0].trials()
        (before,) = [trial for trial in trials if trial.epochs == 0]
        assert (before.embed_dim, before.head.reduction) == (128, "components")
        assert len(trials) == 14 * 10 + 1
        assert {trial.data["name"] for trial in trials} == {data}
        assert {trial.backbone["name"] for trial in trials} == {"inception_bn_caffe"}


@pytest.mark.parametrize("row", study.TUNED)
def test_searches_have_the_bounds_of_the_study(row):
    """Those for CUB-200-2011. The scale's ends are the roots of theirs. Of FastAP every number of bins is tried once."""
    made = only_search(resources.find_search(f"musgrave2020/search/{row}"))
    counts = {"fast_ap": (31, "every")}
    assert (made.trials, made.draw) == counts.get(row, (50, "tpe"))
    expected = {}
    for name, (low, high, scale) in study.BOUNDS[row]["cub200"].items():
        power = 0.5 if name == "softmax_scale" else 1
        (key,) = ["regularizers.0.weight"] if name == "regularizer_weight" else study.ours(name, 1.0)
        expected[key] = ([low**power, high**power], scale == "log")
    assert {key: (entry.range, entry.log) for key, entry in made.parameters.items()} == expected
