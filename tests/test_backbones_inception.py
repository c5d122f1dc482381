"""Inception-BN against its published graph, and its checkpoint's names."""

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd, gluon, nd
from reference import inception_bn as published

from dmlplayground import backbones
from dmlplayground.base.errors import UserError
from dmlplayground.parts.backbones.shared.weights import conversion, formats


@pytest.fixture(scope="module")
def parameters():
    return published.parameters()


@pytest.fixture(scope="module")
def checkpoint(parameters, tmp_path_factory):
    """A checkpoint as MXNet's model zoo has it, with random parameters."""
    folder = tmp_path_factory.mktemp("inception")
    nd.save(
        str(folder / "Inception-BN-0126.params"),
        {name: nd.array(array) for name, array in parameters.items()},
    )
    return folder


def differences(backbone, checkpoint, parameters):
    """By how much a backbone's features differ from the published graph's, as a part of the largest, in both modes."""
    network = backbones.create(backbone, pretrained=str(checkpoint / "Inception-BN-0126.params"))
    features = published.graph().get_internals()["flatten_output"]
    graph = gluon.SymbolBlock(features, mx.sym.var("data", dtype="float32"))
    for name, parameter in graph.collect_params().items():
        array = parameters[f"{'aux' if 'moving' in name else 'arg'}:{name}"]
        parameter.shape = array.shape
        parameter.initialize()
        parameter.set_data(nd.array(array))
    images = nd.array(np.random.default_rng(0).normal(size=(2, 3, 224, 224)))
    found = []
    for mode in (autograd.predict_mode, autograd.train_mode):
        with mode():
            ours, theirs = (each(images).asnumpy() for each in (network, graph))
        found.append(abs(ours - theirs).max() / abs(theirs).max())
    return found


def test_features_are_those_of_the_published_graph_in_both_modes(checkpoint, parameters):
    assert max(differences("inception_bn", checkpoint, parameters)) < 1e-5
    found = conversion.verify("inception_bn", str(checkpoint / "Inception-BN-0126.params"))
    assert found.parameters == 10_270_240


def test_a_graph_with_other_poolings_is_told_apart(checkpoint, parameters):
    assert min(differences("inception_bn_caffe", checkpoint, parameters)) > 1e-4


def test_gluon_itself_loads_the_checkpoint(checkpoint, parameters):
    network = backbones.create("inception_bn")
    network.load_parameters(str(checkpoint / "Inception-BN-0126.params"), ignore_extra=True)
    names = {name[4:] for name in parameters} - {"fc1_weight", "fc1_bias"}
    assert set(network.collect_params()) == names
    for name, parameter in network.collect_params().items():
        kind = "aux" if "moving" in name else "arg"
        np.testing.assert_array_equal(parameter.data().asnumpy(), parameters[f"{kind}:{name}"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.pop("arg:conv_4c_proj_bias"), "Missing: conv_4c_proj_bias. Not part of it: nothing"),
        (
            lambda p: p.update({"arg:conv_6a_weight": p["arg:conv_1_weight"]}),
            "Missing: nothing. Not part of it: conv_6a_weight",
        ),
        (
            lambda p: p.update({"arg:bn_1_gamma": np.ones(65, np.float32)}),
            r"bn_1_gamma has the shape \(65,\)",
        ),
        (lambda p: p["aux:bn_1_moving_var"].fill(np.nan), "bn_1_moving_var holds values that are not finite"),
    ],
)
def test_what_does_not_fit_is_named(parameters, tmp_path, change, message):
    changed = {name: array.copy() for name, array in parameters.items()}
    change(changed)
    path = tmp_path / "changed.params"
    nd.save(str(path), {name: nd.array(array) for name, array in changed.items()})
    with pytest.raises(UserError, match=message):
        backbones.create("inception_bn", pretrained=str(path))


def test_written_weights_have_the_published_names_and_come_back(checkpoint, parameters, tmp_path):
    network = backbones.create("inception_bn", pretrained=str(checkpoint / "Inception-BN-0126.params"))
    formats.write(tmp_path / "ours.params", network)
    stored = nd.load(str(tmp_path / "ours.params"))
    assert set(stored) == set(parameters) - {"arg:fc1_weight", "arg:fc1_bias"}
    assert all(np.array_equal(stored[name].asnumpy(), parameters[name]) for name in stored)


def test_maps_shrink_as_published():
    """224 pixels become 112, 55, 27, 14 and 7 in MXNet's arrangement, and 112, 56, 28, 14, 7 in Caffe's."""
    expected = {"inception_bn": [112, 55, 27, 14, 7], "inception_bn_caffe": [112, 56, 28, 14, 7]}
    for name, sizes in expected.items():
        x, seen = mx.sym.Variable("data"), []
        for layer in list(backbones.build(backbones.get(name))._children.values())[:-2]:
            x = layer(x)
            side = x.infer_shape(data=(1, 3, 224, 224))[1][0][2]
            seen += [side] if side not in seen else []
        assert seen == sizes
