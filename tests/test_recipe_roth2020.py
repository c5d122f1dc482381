"""The recipe of the study of training strategies against the literal tables of recipe_roth2020.py."""

import pytest
import recipe_roth2020 as study

from dmlplayground import config, hyperparams

ROWS = [(row, data) for row in study.SETTINGS for data in study.EPOCHS if (row, data) not in study.MISSING]
#: What the sheet says of a loss in words: the forms of its averages, its distances, its own weights.
IN_WORDS = {
    "method.average", "method.squared", "method.per_class", "method.l2_reg", "method.negatives", "method.npairs_weight",
    "method.unit_angles", "method.skip_lone", "method.skip_incomplete", "method.monotonic", "method.init", "method.init_std",
    "method.exclude_positive", "method.temperature", "method.label_smoothing", "method.pos_margin", "mining.name",
    "mining.epsilon", "mining.margin", "mining.nonzero_cutoff", "mining.each", "groups.loss.name", "groups.loss.lr_mult",
    "groups.loss.weight_decay",
}  # fmt: skip
#: Rows of which the sheet says nothing in words that the next test could compare.
WITHOUT_WORDS = {
    "angular", "generalized_lifted", "histogram", "multi_similarity", "npair", "rho_snr_distance",
}  # fmt: skip


def values(row, data):
    recipe = hyperparams.read(hyperparams.Name("roth2020", data, row))
    return {key: entry.value for key, entry in recipe.values.items()}


def test_all_published_rows():
    assert {(n.row, n.data) for n in hyperparams.names() if n.study == "roth2020"} == set(ROWS)
    assert len(ROWS) == 23 * 3 - 2


@pytest.mark.parametrize(("row", "data"), ROWS)
def test_every_value(row, data):
    found, expected = values(row, data), study.expected(row, data)
    assert {key: found.get(key) for key in expected} == expected
    assert found.keys() - expected.keys() <= IN_WORDS
    assert hyperparams.read(hyperparams.Name("roth2020", data, row)).method == study.method(row)


@pytest.mark.parametrize(("row", "data"), [(row, data) for row, data in ROWS if row not in WITHOUT_WORDS])
def test_what_the_study_says_in_words(row, data):
    found = values(row, data)
    if found.get("mining.name") == "distance_weighted":
        assert (found["mining.nonzero_cutoff"], found["mining.each"]) == (None, "anchor")  # no upper cut
    if study.method(row) == "triplet":
        assert (found["method.squared"], found["method.average"]) == (True, "all")
    if study.method(row) == "contrastive":
        assert found["method.average"] == "all"
    if any(key.startswith("groups.loss.") for key in found):
        own = [found[f"groups.loss.{key}"] for key in ("name", "lr_mult", "weight_decay")]
        assert own == ["adam", 1.0, 0.0]
    if row == "proxy_nca":
        assert (found["method.init_std"], found["method.exclude_positive"]) == (0.125, True)
    if row in ("arcface", "normalized_softmax"):
        assert found["method.init"] == "uniform"


@pytest.mark.parametrize(("row", "data"), ROWS)
def test_every_row_makes_its_trial(row, data):
    given = hyperparams.load(row, dataset=data, study="roth2020")
    found = config.dotted(config.trial(given).mapping())
    expected = study.expected(row, data)
    assert {key: found[key] for key in expected if key != "regularizers"} == {
        key: value for key, value in expected.items() if key != "regularizers"
    }
    assert found["method.name"] == study.method(row)
