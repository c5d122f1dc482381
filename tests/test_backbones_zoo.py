"""Every network by its name: features of the promised width, options, zoos without a file of their own."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from mxnet import autograd, init, nd

from dmlplayground import backbones, config
from dmlplayground.base.errors import UserError
from dmlplayground.parts.backbones.shared import gluon_zoos, zoo_records
from dmlplayground.parts.backbones.shared.weights import loading
from dmlplayground.parts.backbones.shared.weights.conversion import count

OF_IMAGES = [name for name in backbones.names() if backbones.get(name).preprocessing]


@pytest.mark.parametrize("name", OF_IMAGES)
def test_features_have_the_promised_width(name):
    record = backbones.get(name)
    network = backbones.create(name)
    side = min(record.preprocessing.size, 64)
    features = network(nd.random.uniform(-1, 1, (2, 3, side, side)))
    assert features.shape == (2, record.features)
    assert np.isfinite(features.asnumpy()).all()
    assert features.asnumpy().std() > 0
    assert count(network) == record.parameters


def test_a_created_network_is_ready(recwarn):
    """Who calls initialize out of habit hears nothing and loses nothing."""
    network = backbones.create("conv4")
    images = nd.random.uniform(-1, 1, (2, 3, 64, 64))
    before = network(images).asnumpy()
    network.initialize()
    np.testing.assert_array_equal(network(images).asnumpy(), before)
    assert not [warning for warning in recwarn if "initialized" in str(warning.message)]
    network.initialize(init.Zero(), force_reinit=True)
    assert np.abs(network(images).asnumpy()).max() < np.abs(before).max()


@pytest.mark.parametrize("name", ["efficientnet_lite0", "googlenet", "resnet18_v1b"])
def test_every_parameter_that_learns_gets_a_gradient(name):
    """What is left of a cut classifier would have none, and stop the trainer."""
    network = backbones.create(name)
    with autograd.record():
        loss = (network(nd.random.uniform(-1, 1, (2, 3, 64, 64))) ** 2).sum()
    loss.backward()
    for path, parameter in loading.by_path(network).items():
        if parameter.grad_req != "null" and not path.endswith("beta"):
            assert np.abs(parameter.grad().asnumpy()).max() > 0, path


@pytest.mark.parametrize(
    ("name", "features"),
    [
        ("gluon:mobilenetv2_0.5", 1280),
        ("gluon:squeezenet1.1", 512),  # its classifier is a convolution before the pooling
        ("gluon:vgg11", 4096),  # no pooling at all
        ("gluoncv:mobilenetv3_small", 1280),  # layers between the pooling and the classifier
        ("gluoncv:cifar_resnet20_v1", 64),
        ("gluoncv:dla34", 1008),
        ("gluoncv:nasnet_4_1056", 1056),
    ],
)
def test_any_network_of_the_zoos(name, features):
    record = backbones.get(name)
    found = gluon_zoos.output_shape(record.build(), record.preprocessing.size)
    assert record.features == found[1] == features


def test_a_network_of_a_zoo_is_what_the_zoo_computes():
    """Our features, through the zoo's own classifier, are the zoo's scores."""
    whole = gluon_zoos.zoo("gluoncv").get_model("resnet18_v1b", pretrained=False)
    whole.initialize()
    images = nd.random.uniform(-1, 1, (2, 3, 64, 64))
    scores = whole(images).asnumpy()
    weight, bias = whole.fc.weight.data().asnumpy(), whole.fc.bias.data().asnumpy()
    trunk = gluon_zoos.cut(whole, 64)
    assert {"fc.weight", "fc.bias"} <= trunk.left_out
    np.testing.assert_allclose(trunk(images).asnumpy() @ weight.T + bias, scores, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("inception", "unknown backbone 'inception'.*Did you mean 'inception_bn'"),
        ("timm:resnet50", "unknown zoo of networks 'timm'. Known: gluon, gluoncv"),
        ("gluoncv:resnet50_v1bb", "unknown network of gluoncv.*Did you mean 'resnet50_v1b'"),
        (
            "gluoncv:ssd_512_resnet50_v1_voc",
            "unknown network of gluoncv",
        ),  # finds objects, and would download at once
    ],
)
def test_unknown_names_are_explained(name, message):
    with pytest.raises(UserError, match=message):
        backbones.create(name)


def test_a_trial_starts_from_imagenet_where_there_is_such_a_thing_unless_told_otherwise():
    def pretrained(backbone):
        return config.trial({"method": "npairs", "backbone": backbone}).backbone["pretrained"]

    assert pretrained("inception_bn") == "imagenet"
    assert pretrained("gluoncv:resnet18_v1b") == "imagenet"
    assert pretrained("conv4") == "none"
    assert pretrained({"name": "inception_bn", "pretrained": "none"}) == "none"


@pytest.mark.parametrize(
    ("pretrained", "message"),
    [
        ("imagenet", "no ImageNet weights are known for conv4"),
        ("nowhere.params", "pretrained: nowhere.params is not a file"),
    ],
)
def test_weights_that_are_not_there_are_refused(pretrained, message):
    with pytest.raises(UserError, match=message):
        backbones.create("conv4", pretrained=pretrained)


@pytest.mark.slow
def test_every_classifying_network_of_both_zoos_can_be_cut_and_is_what_is_kept_of_it():
    found = runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "zoo_networks.py"))["all_facts"]()
    assert found == zoo_records.kept()
    assert min(facts["features"] for networks in found.values() for facts in networks.values()) > 0
