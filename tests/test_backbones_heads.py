"""Heads, preprocessing, frozen batch-norm and learning rates of parts, seen in the parameters before and
after a step."""

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd, init, nd
from mxnet.gluon import nn

from dmlplayground import backbones, config
from dmlplayground.base.errors import UserError
from dmlplayground.parts.backbones import Preprocessing
from dmlplayground.parts.backbones.shared.heads import Embedder, Head, TruncatedNormal, add_max_pooling
from dmlplayground.trial.config import Head as HeadConfig
from dmlplayground.trial.training.learner import Learner


def _head(features=6, embed_dim=4, num_classes=5, **settings) -> Head:
    head = Head(HeadConfig(**settings), features, embed_dim, num_classes)
    head.initialize()
    return head


def _parameters(block) -> dict[str, np.ndarray]:
    return {name: p.data().asnumpy() for name, p in block._collect_params_with_prefix().items()}


X = np.random.default_rng(0).normal(0, 1, (3, 6)).astype(np.float32)


def test_plain_head_is_linear_with_or_without_bias():
    head = _head(bias=True)
    weights = _parameters(head)
    assert np.all(weights["0.bias"] == 0)
    np.testing.assert_allclose(head(nd.array(X)).asnumpy(), X @ weights["0.weight"].T, rtol=1e-5)
    assert list(_parameters(_head(bias=False))) == ["0.weight"]


def test_unit_length():
    lengths = np.linalg.norm(_head(normalize=True)(nd.array(X)).asnumpy(), axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)


def test_bottlenecks_have_no_activation_between_and_drop_out_in_training_only():
    head = _head(bottleneck=[7, 3], bottleneck_dropout=0.5)
    w = _parameters(head)
    expected = X
    for layer in ("0", "2", "4"):
        expected = expected @ w[f"{layer}.weight"].T + w[f"{layer}.bias"]
    np.testing.assert_allclose(head(nd.array(X)).asnumpy(), expected, rtol=1e-4, atol=1e-6)
    with autograd.train_mode():
        assert not np.allclose(head(nd.array(X)).asnumpy(), expected)


def test_layer_norm_and_weight_normalised_layer():
    """W = g V / |V| with the norm of the whole matrix, on features of zero mean and unit variance."""
    head = _head(layer_norm=True, weight_norm=True)
    w = _parameters(head)
    normal = (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5)
    v = w["1.weight"]
    np.testing.assert_allclose(
        head(nd.array(X)).asnumpy(), normal @ v.T / np.sqrt((v**2).sum() + 1e-7), rtol=1e-4, atol=1e-6
    )
    assert w["1.scale"] == 1


def test_a_layer_to_classes_can_follow():
    head = _head(to_classes=True)
    assert head.width == 5
    assert head(nd.array(X)).shape == (3, 5)


def test_initialisers_of_the_study():
    bound = np.sqrt(0.2 / ((64 + 256) / 2))
    weight = _parameters(_head(features=256, embed_dim=64))["0.weight"]
    assert np.abs(weight).max() <= bound < 1.02 * np.abs(weight).max()
    assert abs(weight.std() - bound / np.sqrt(3)) < 0.02 * bound
    weights = _parameters(_head(features=256, embed_dim=64, init="fan_in"))
    for name, size in (("0.weight", 64 * 256), ("0.bias", 64)):
        assert np.abs(weights[name]).max() <= 1 / 16
        assert weights[name].size == size
        assert abs(weights[name].std() * np.sqrt(3) * 16 - 1) < 2 / np.sqrt(size)
    layer = nn.Dense(256, in_units=256, weight_initializer=TruncatedNormal(0.001))
    layer.initialize()
    weight = layer.weight.data().asnumpy()
    assert np.abs(weight).max() <= 0.002
    assert abs(weight.std() - 0.00088) < 0.00001


def test_average_and_maximum_pooling():
    maps = nn.HybridSequential()
    maps.add(nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Flatten())
    images = np.random.default_rng(1).normal(0, 1, (2, 3, 4, 5)).astype(np.float32)
    add_max_pooling(maps)
    positive = np.maximum(images, 0)
    np.testing.assert_allclose(
        maps(nd.array(images)).asnumpy(), positive.mean((2, 3)) + positive.max((2, 3)), rtol=1e-5
    )


OF_EVERY_MAKING = ["conv4", "efficientnet_lite0", "inception_bn", "resnet18_v2", "resnet18_v1b", "googlenet"]


@pytest.mark.parametrize("name", OF_EVERY_MAKING)
def test_backbones_of_every_making_can_pool_both_ways(name):
    network = backbones.build(backbones.get(name), init.Zero())
    add_max_pooling(network)
    assert network(nd.random.uniform(-1, 1, (1, 3, 64, 64))).shape == (1, backbones.get(name).features)


def test_a_backbone_without_maps_says_so():
    with pytest.raises(UserError, match="no average pooling"):
        add_max_pooling(backbones.build(backbones.get("gluon:alexnet")))


@pytest.mark.parametrize("channels", ["rgb", "bgr"])
def test_the_embedder_preprocesses_as_its_backbone_expects(channels):
    preprocessing = Preprocessing(size=2, mean=(1.0, 2.0, 3.0), std=(1.0, 10.0, 100.0), channels=channels)
    identity = nn.HybridSequential()
    identity.add(nn.Flatten())
    head = Head(HeadConfig(bias=False), 12, 12, 5)
    embedder = Embedder(identity, preprocessing, head)
    for parameter in (head[0].weight, embedder.mean, embedder.scale):
        parameter.initialize()
    head[0].weight.set_data(nd.array(np.eye(12)))
    images = np.random.default_rng(2).integers(0, 256, (1, 2, 2, 3))
    ordered = images if channels == "rgb" else images[..., ::-1]
    expected = ((ordered - np.array([1, 2, 3])) / np.array([1, 10, 100])).transpose(0, 3, 1, 2).reshape(1, -1)
    np.testing.assert_allclose(embedder(nd.array(images, dtype="uint8")).asnumpy(), expected, rtol=1e-5)


# --- what a step changes ------------------------------------------------------------------------------------


def _step(**settings) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Weights of a learner before and after one step of plain gradient descent."""
    given = {
        "method": "proxy_nca", "data": {"name": "glyphs", "size": 32}, "backbone": "conv4",
        "embed_dim": 8, "batch_size": 8,
        "optimizer": {"name": "sgd", "momentum": 0.0, "lr": 0.01, "weight_decay": 1e-3},
        "groups": {part: {"lr_mult": 1.0} for part in ("backbone", "head", "loss")},
        "frozen_epochs": 0,
    }  # fmt: skip
    trial = config.trial(config.merge(config.expand(given), settings))
    learner = Learner(trial, 4, [mx.cpu()])
    rng = np.random.default_rng(0)
    for (
        parameter
    ) in learner.network.collect_params().values():  # statistics and scales that batch-norm would move
        if parameter.name.endswith(("gamma", "running_var")):
            parameter.set_data(nd.array(rng.uniform(0.5, 2, parameter.shape)))
    before = learner.weights()
    learner.begin_epoch(1)
    images = rng.integers(0, 256, (8, 32, 32, 3)).astype(np.uint8)
    learner.step([(images, np.arange(8) % 4)])
    mx.nd.waitall()
    return before, learner.weights()


def _changed(before, after) -> set[str]:
    return {name for name in before if not np.array_equal(before[name], after[name])}


BATCHNORM = ("gamma", "beta", "running_mean", "running_var")


def test_without_freezing_everything_of_the_backbone_moves():
    before, after = _step()
    assert {name for name in before if name.startswith("network.backbone")} <= _changed(before, after)


def test_frozen_batchnorm_keeps_statistics_scale_and_shift():
    before, after = _step(freeze_batchnorm=True)
    changed = _changed(before, after)
    assert not [name for name in changed if name.startswith("network.backbone") and name.endswith(BATCHNORM)]
    assert any(name.startswith("network.backbone") for name in changed)  # the convolutions do learn


def test_frozen_batchnorm_normalises_a_training_batch_by_the_running_statistics():
    from dmlplayground.trial.training.networks import freeze_batchnorm

    for name in ("inception_bn", "resnet18_v1b"):
        network = backbones.create(name)
        freeze_batchnorm(network)
        images = nd.random.uniform(-1, 1, (2, 3, 64, 64))
        expected = network(images).asnumpy()
        with autograd.train_mode():
            np.testing.assert_allclose(network(images).asnumpy(), expected, rtol=1e-4, atol=1e-4)


def _relative_movement(piece: str, **settings) -> float:
    """How far the parameters with ``piece`` in their names move, against the same step without the
    settings."""
    names = None
    lengths = []
    for chosen in ({}, settings):
        before, after = _step(**chosen)
        names = names or [name for name in before if piece in name and "running" not in name]
        lengths.append(sum(np.abs(after[name] - before[name]).sum() for name in names))
    return lengths[1] / lengths[0]


@pytest.mark.parametrize(
    ("piece", "groups", "expected"),
    [
        ("network.backbone", {"backbone": {"lr_mult": 0.1}}, 0.1),
        ("network.head", {"head": {"lr_mult": 10.0}}, 10),
        ("loss.", {"loss": {"lr": 0.05}}, 5),
        ("network.head", {"backbone": {"lr_mult": 0.1}}, 1),
        ("network.backbone", {"backbone": {"lr_mult": 0.0}}, 0),
        ("backbone.1.", {"backbone": {"lr_mult_by_name": {"batchnorm": 0.5}}}, 0.5),
        ("backbone.0.", {"backbone": {"lr_mult_by_name": {"batchnorm": 0.5}}}, 1),
        ("backbone.0.", {"backbone": {"lr_mult_by_name": {"conv": 0.01}, "lr_mult": 2.0}}, 0.02),
    ],
)
def test_learning_rates_of_parts_apply(piece, groups, expected):
    assert _relative_movement(piece, groups=groups) == pytest.approx(expected, rel=1e-2)


def test_initialisation_from_scratch_keeps_the_scale_of_activations():
    network = backbones.create("inception_bn")
    with autograd.train_mode():
        features = network(nd.random.normal(0, 60, (2, 3, 64, 64))).asnumpy()
    assert 0.05 < features.std() < 5
