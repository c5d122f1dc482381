"""The 3x3 convolutions of an OpenVINO model by Winograd's algorithm (Lavin and Gray 2016), which OpenVINO lacks.

A tile of 4x4 outputs takes 36 products for every pair of channels in place of 144: windows of 6x6 inputs, weights and outputs are
multiplied by small matrices. In float32 the results are the same to rounding; in bfloat16 a layer loses 1.3 % and not 0.2 %.
"""

from typing import Any

import numpy as np

from ....base import optional

TILE, WINDOW = 4, 6
CHANNELS = {"f32": 64, "bf16": 128}  # with fewer, moving numbers takes longer than the products that it saves
# With 0, -A, -B and infinity the points whose products lose least: with 1 and 2 it is twice as much.
A, B = 0.5**0.5, 2**0.5
OF_INPUTS = np.array([
    [1, 0, -2.5, 0, 1, 0], [0, -B, -2, A, 1, 0], [0, B, -2, -A, 1, 0],
    [0, -A, -0.5, B, 1, 0], [0, A, -0.5, -B, 1, 0], [0, 1, 0, -2.5, 0, 1],
])  # fmt: skip
OF_WEIGHTS = np.array([[6, 0, 0], [-4, -4 * A, -2], [-4, 4 * A, -2], [1, B, 2], [1, -B, 2], [0, 0, 6]]) / 6
OF_OUTPUTS = np.array(
    [[1, 1, 1, 1, 1, 0], [0, A, -A, B, -B, 0], [0, 0.5, 0.5, 2, 2, 0], [0, A / 2, -A / 2, 2 * B, -2 * B, 1]]
)
PLAIN = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1]}


def rewrite(model: Any, precision: str = "f32") -> None:
    """Put it in the place of the convolutions that gain by it, however many images there are: results must not depend on that."""
    passes = optional.load("openvino.passes")
    manager = passes.Manager()
    manager.register_pass(passes.ConstantFolding())  # a bias is computed from a vector before
    manager.run_passes(model)
    for node in model.get_ordered_ops():
        if node.get_type_name() != "Convolution":
            continue
        weights, of_node = node.input_value(1).get_node().data, node.get_attributes()
        count, _, *shape = node.input_value(0).get_shape()
        enough = min(weights.shape[:2]) >= CHANNELS[precision]
        suits = enough and weights.shape[2:] == (3, 3) and max(shape) > TILE
        if suits and all(list(of_node[key]) == value for key, value in PLAIN.items()):
            _replace(node, weights, count, *shape)
    model.validate_nodes_and_infer_types()


def _replace(node: Any, weights: np.ndarray, count: int, height: int, width: int) -> None:
    ops = optional.load("openvino.opset13")

    def constant(values: Any, kind: type = np.float32) -> Any:
        return ops.constant(np.ascontiguousarray(values, kind))

    def rows_of(node: Any, *shape: int) -> Any:
        return ops.reshape(node, constant(shape, np.int64), False)

    windows, pixels = _places(count, height, width)
    tiles, (filters, channels) = windows.size // WINDOW**2, weights.shape[:2]
    last, factors, terms, rectified = _following(node, filters)
    kernels = np.einsum("ia,fcab,jb,f->ijcf", OF_WEIGHTS, weights, OF_WEIGHTS, factors, optimize=True)
    of_inputs, of_outputs = (constant(np.kron(one, one)) for one in (OF_INPUTS, OF_OUTPUTS))
    first = constant(0, np.int64)
    rows = rows_of(ops.transpose(node.input_value(0), constant([0, 2, 3, 1], np.int64)), -1, channels)
    rows = ops.concat([rows, constant(np.zeros((1, channels)))], 0)  # the last is what lies outside
    rows = rows_of(ops.gather(rows, constant(windows.ravel(), np.int32), first), WINDOW**2, tiles * channels)
    rows = rows_of(ops.matmul(of_inputs, rows, False, False), -1, tiles, channels)
    rows = ops.matmul(rows, constant(kernels.reshape(-1, channels, filters)), False, False)
    rows = ops.matmul(of_outputs, rows_of(rows, WINDOW**2, tiles * filters), False, False)
    rows = ops.gather(rows_of(rows, -1, filters), constant(pixels, np.int32), first)
    rows = ops.add(rows, constant(terms)) if terms.any() else rows
    rows = ops.relu(rows) if rectified else rows
    last.output(0).replace(ops.transpose(rows, constant([0, 3, 1, 2], np.int64)).output(0))


def _following(node: Any, filters: int) -> tuple[Any, np.ndarray, np.ndarray, bool]:
    """The last of the layers that are computed with a convolution, so that its results are moved once: every filter's factor and
    term of bias and batch-norm, and whether there is a ReLU."""
    factors, terms, rectified = np.ones(filters), np.zeros(filters), False
    while not rectified and len(users := node.output(0).get_target_inputs()) == 1:
        user = next(iter(users)).get_node()
        kind = user.get_type_name()
        given: list[Any] = [getattr(one.get_node(), "data", None) for one in user.input_values()[1:]]
        if kind == "BatchNormInference":
            gamma, beta, mean, variance = given
            by = gamma / np.sqrt(variance + user.get_attributes()["epsilon"])
            factors, terms = factors * by, (terms - mean) * by + beta
        elif kind == "Add" and getattr(given[0], "shape", ())[-3:] == (filters, 1, 1):
            terms = terms + given[0].ravel()
        elif kind == "Relu":
            rectified = True
        else:
            break
        node = user
    return node, factors, terms, rectified


def _places(count: int, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of all pixels are in the windows, position by position; and where the tiles have each pixel."""
    down, across = -(-height // TILE), -(-width // TILE)
    rows = np.full((count, TILE * down + 2, TILE * across + 2), count * height * width)
    rows[:, 1 : height + 1, 1 : width + 1] = np.arange(count * height * width).reshape(count, height, width)
    windows = np.lib.stride_tricks.sliding_window_view(rows, (1, WINDOW, WINDOW))
    tiles = np.arange(count * down * across * TILE**2).reshape(TILE, TILE, count, down, across)
    pixels = tiles.transpose(2, 3, 0, 4, 1).reshape(count, TILE * down, TILE * across)
    return windows[:, ::TILE, ::TILE, 0].transpose(3, 4, 0, 1, 2), pixels[:, :height, :width]
