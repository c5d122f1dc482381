"""The recipe of the study of 2019 against the literal tables of recipe_fehervari2019.py."""

import itertools

import numpy as np
import pytest
import recipe_fehervari2019 as study

import dmlplayground as dml
from dmlplayground import config, optimizers

every_method = pytest.mark.parametrize("method", study.METHODS)
every_trial = pytest.mark.parametrize(
    ("method", "data"), [f"{m} {d}".split() for m, d in itertools.product(study.METHODS, study.DATA)]
)


def assert_agrees(given: dict, expected: dict) -> None:
    """Every value is as expected, and what nobody expects is neutral."""
    found = {**config.dotted(given), **{key: _at(given, key) for key in expected if key.endswith("by_name")}}
    expected = _of_its_optimizer(expected)
    different = {key: (found.get(key), value) for key, value in expected.items() if found.get(key) != value}
    assert not different, f"(found, expected): {different}"
    departures = config.dotted(config.trial_ids.departures(vars(config.trial(given))))
    unasked = {
        key: value
        for key, value in departures.items()
        if not key.startswith(("method.", "data.", "backbone."))
        and not any(key == name or key.startswith(name + ".") for name in expected)
    }
    assert not unasked.keys() - {"evaluation.every"}, f"said by nobody: {unasked}"


def _of_its_optimizer(expected: dict) -> dict:
    """Without what only other optimizers have options for."""
    known = {"name", *optimizers.get(expected["optimizer.name"]).options}
    return {
        key: value
        for key, value in expected.items()
        if not key.startswith("optimizer.") or key.partition(".")[2] in known
    }


def _at(mapping, key):
    for part in key.split("."):
        mapping = mapping[part]
    return mapping


@every_trial
def test_settings(method, data):
    assert_agrees(dml.hyperparams.load(method, dataset=data), study.expected(method, data))


@every_method
def test_the_records_of_the_methods_alone(method):
    """Without a recipe: Adam for structured clustering, as its script has it, and embeddings as they are."""
    given = config.trial({"method": method, "data": "cub200", "backbone": "inception_bn"}).mapping()
    expected = study.expected(method)
    if method == "structured_clustering":
        expected = {
            key: value
            for key, value in expected.items()
            if key not in ("optimizer.rho", "optimizer.momentum")
        }
        expected.update({"optimizer.name": "adam", "optimizer.rho_decay": 1.0})
    if method == "proxy_softmax":
        expected["evaluation.distance"] = "euclidean"
    assert_agrees(given, expected)


@every_method
def test_settings_of_the_residual_network(method):
    network = study.NETWORK.get(method, "resnet50_v2")
    given = dml.hyperparams.load(method, dataset="cub200", backbone=network, study="fehervari2019")
    assert_agrees(given, study.expected(method, backbone=network))


@every_trial
def test_settings_of_the_released_code(method, data):
    given = dml.hyperparams.load(method, dataset=data, study="fehervari2019_released")
    assert_agrees(given, study.released(method, data))


@every_trial
def test_batches_of_120_as_the_text_has_them(method, data):
    given = dml.hyperparams.load(method, dataset=data, study="fehervari2019_batch120")
    assert_agrees(given, {**study.expected(method, data), "batch_size": 120})


def test_released_equivalents_come_from_the_factors_of_the_loss():
    """B g of discriminative; the others divide by B = 125 and 120, and by two."""
    for classes, data in ((100, "cub200"), (98, "cars196")):
        factor = 128 * 3 * (classes - 1) * (128 / classes - 1) * (128 / classes)
        given = dml.hyperparams.load("discriminative", dataset=data, study="fehervari2019_released")
        for key, value in (("clip", 10.0), ("weight_decay", 1e-5), ("epsilon", 1e-7)):
            assert given["optimizer"][key] == pytest.approx(value / factor, rel=2e-3)


@pytest.mark.parametrize("network", study.PREPROCESSING)
def test_networks(network):
    record = dml.backbones.get(network)
    found = record.preprocessing
    assert (found.size, found.mean, found.std, found.channels) == study.PREPROCESSING[network]
    assert record.features == study.FEATURES[network]


def test_initial_weights_of_the_head():
    """Xavier: uniform, by the mean of fan-in and fan-out. Truncated normal: cut at two deviations."""
    from dmlplayground.parts.backbones.shared.heads import Head

    def weights(method):
        given = config.trial(dml.hyperparams.load(method, dataset="cub200"))
        head = Head(given.head, 1024, given.embed_dim, 100)
        head.initialize()
        last = [p for name, p in head.collect_params().items() if name.endswith("weight")][-1]
        return last.data().asnumpy()

    uniform = weights("npairs")
    bound = np.sqrt(0.2 / ((1024 + 64) / 2))
    assert np.abs(uniform).max() == pytest.approx(bound, rel=0.01)
    assert uniform.std() == pytest.approx(bound / np.sqrt(3), rel=0.02)
    small = weights("proxy_nca")
    assert np.abs(small).max() == pytest.approx(0.002, rel=0.01)
    assert small.std() == pytest.approx(0.88e-3, rel=0.02)


def test_initial_proxies():
    """Xavier of 0.2 for proxy-triplet, N(0, 0.01) / 8 for the others."""
    bound = np.sqrt(0.2 / ((100 + 64) / 2))
    deviation = {"proxy_triplet": bound / np.sqrt(3), "proxy_nca": 0.00125, "proxy_softmax": 0.00125}
    for method, expected in deviation.items():
        loss = dml.methods.loss(method, num_classes=100, embed_dim=64)
        proxies = loss.proxies.data().asnumpy()
        assert proxies.shape == (100, 64)
        assert proxies.std() == pytest.approx(expected, rel=0.05)


def test_sources_say_what_is_known():
    """Logs exist for five methods on CUB-200-2011 alone; the numbers that a log prints are not what they came to."""
    read = {
        name: dml.hyperparams.read(name) for name in dml.hyperparams.names() if name.study == "fehervari2019"
    }
    logged = {name.row for name, recipe in read.items() if recipe.source == "log"}
    assert logged == {"triplet_semihard", "lifted_structure", "npairs", "margin", "proxy_triplet"}
    assert {name.data for name, recipe in read.items() if recipe.source == "log"} == {"cub200"}
    clustering = dml.hyperparams.read(
        dml.hyperparams.Name("fehervari2019", "cub200", "structured_clustering")
    )
    assert clustering.values["iterations"].source == "chosen"
    margin = dml.hyperparams.read(dml.hyperparams.Name("fehervari2019", "cub200", "margin"))
    assert "0.1 / 125" in margin.values["groups.loss.lr"].note
