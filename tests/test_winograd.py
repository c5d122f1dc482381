"""Winograd's convolutions of an OpenVINO model, beside sums of products in float64."""

import numpy as np
import pytest

from dmlplayground.parts.backbones.shared import winograd

BFLOAT16_LOSES = 0.015  # with the points 1 and 2 it would be 0.028, with a convolution of OpenVINO 0.002
openvino = pytest.importorskip("openvino")


def model_of(height, width, channels=64, filters=80, strides=(1, 1), pads=(1, 1), seed=0):
    from openvino import opset13 as ops

    weights = np.random.default_rng(seed).normal(size=(filters, channels, 3, 3)).astype(np.float32)
    images = ops.parameter([3, channels, height, width], np.float32)
    given = ops.convolution(images, ops.constant(weights), list(strides), list(pads), list(pads), [1, 1])
    return openvino.Model([ops.result(given)], [images]), weights


def kinds(model):
    return [node.get_type_name() for node in model.get_ops()]


def convolved(images, weights):
    """The sums, one shift of the images after the other."""
    height, width = images.shape[2:]
    padded = np.pad(images.astype(float), ((0, 0), (0, 0), (1, 1), (1, 1)))
    return sum(
        np.einsum("nchw,fc->nfhw", padded[:, :, i : i + height, j : j + width], weights[:, :, i, j])
        for i in range(3)
        for j in range(3)
    )


@pytest.mark.parametrize("shape", [(8, 8), (7, 9), (5, 4), (6, 17)])
def test_sums_are_those_of_the_convolution(shape):
    model, weights = model_of(*shape)
    winograd.rewrite(model)
    assert "Convolution" not in kinds(model) and "MatMul" in kinds(model)
    images = np.random.default_rng(1).normal(size=(3, 64, *shape)).astype(np.float32)
    options = {"INFERENCE_PRECISION_HINT": "f32"}
    (found,) = openvino.Core().compile_model(model, "CPU", options)(images).values()
    expected = convolved(images, weights)
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())


LAYERS = {
    "bias": lambda ops, given, own: ops.add(
        given, ops.reshape(ops.constant(own[0]), ops.constant(np.array([1, 80, 1, 1])), False)
    ),
    "batchnorm": lambda ops, given, own: ops.batch_norm_inference(
        given, *(ops.constant(one) for one in (own[0], own[1], own[2], own[3] ** 2)), epsilon=0.01
    ),
    "relu": lambda ops, given, own: ops.relu(given),
    "residual": lambda ops, given, own: ops.add(given, ops.multiply(given, ops.constant(np.float32(0.5)))),
    "two": lambda ops, given, own: ops.add(ops.relu(given), LAYERS["batchnorm"](ops, given, own)),
    "everywhere": lambda ops, given, own: ops.add(given, ops.constant(np.arange(8, dtype=np.float32))),
}


@pytest.mark.parametrize(
    ("layers", "left"),
    [
        (["bias", "batchnorm", "relu"], ""),
        (["batchnorm", "bias"], ""),
        (["relu", "batchnorm"], "BatchNormInference"),
        (["batchnorm", "relu", "relu"], "Relu"),
        (["batchnorm", "residual", "relu"], "Multiply Add Relu"),
        (["residual", "batchnorm"], "Multiply Add BatchNormInference"),
        (["two", "bias"], "Relu BatchNormInference Add Add"),
        (["everywhere", "batchnorm"], "Add BatchNormInference"),
    ],
)
def test_what_follows_a_convolution_is_computed_with_it(layers, left):
    """Bias, batch-norm and ReLU, as long as nothing else looks at what is between; the results are those of the whole model."""
    from openvino import opset13 as ops

    def made():
        model, _ = model_of(8, 8)
        given = model.get_results()[0].input_value(0).get_node()
        own = np.random.default_rng(2).normal(size=(4, 80)).astype(np.float32)
        for layer in layers:
            given = LAYERS[layer](ops, given, own)
        return openvino.Model([ops.result(given)], model.get_parameters())

    plain, model = made(), made()
    winograd.rewrite(model)
    assert "Convolution" not in kinds(model)
    names = [node.get_type_name() for node in model.get_ordered_ops()]
    after = names[len(names) - names[::-1].index("Transpose") :]
    assert sorted(kind for kind in after if kind not in ("Constant", "Reshape", "Result")) == sorted(
        left.split()
    )
    images = np.random.default_rng(1).normal(size=(3, 64, 8, 8)).astype(np.float32)
    core, options = openvino.Core(), {"INFERENCE_PRECISION_HINT": "f32"}
    expected, found = (core.compile_model(one, "CPU", options)(images)[0] for one in (plain, model))
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())


def test_in_bfloat16_few_channels_stay_and_many_lose_little():
    model, _ = model_of(8, 8)
    winograd.rewrite(model, "bf16")
    assert "Convolution" in kinds(model)
    model, weights = model_of(8, 8, channels=256, filters=128)
    winograd.rewrite(model, "bf16")
    assert "Convolution" not in kinds(model)
    images = np.maximum(np.random.default_rng(1).normal(size=(3, 256, 8, 8)), 0).astype(np.float32)
    found = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "bf16"})(images)[0]
    expected = convolved(images, weights)
    lost = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    assert lost < BFLOAT16_LOSES


@pytest.mark.parametrize(
    "other",
    [
        {"strides": (2, 2)},
        {"pads": (0, 0)},
        {"channels": 32},
        {"filters": 32},
        {"height": 4, "width": 4},
    ],
)
def test_others_stay(other):
    model, _ = model_of(**{"height": 8, "width": 8, **other})
    before = kinds(model)
    winograd.rewrite(model)
    assert kinds(model) == before
