"""Winograd's convolutions of an OpenVINO model, beside sums of products in float64."""

import numpy as np
import pytest

from dmlplayground.parts.backbones.shared import winograd

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
