"""The 3x3 convolutions of an OpenVINO model by Winograd's algorithm (Lavin and Gray 2016), which OpenVINO lacks.

A tile of 4x4 outputs takes 36 products for every pair of channels in place of 144: windows of 6x6 inputs, weights and outputs are
multiplied by small matrices. In float32 the results are the same to rounding; in bfloat16 a layer would lose 2 % and not 0.2 %.
"""

from typing import Any

import numpy as np

from ....base import optional

TILE, WINDOW = 4, 6
CHANNELS = 64  # with fewer, moving numbers takes longer than the products that it saves
OF_INPUTS = np.array([
    [4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0],
    [0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0], [0, 4, 0, -5, 0, 1],
])  # fmt: skip
OF_WEIGHTS = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24
OF_OUTPUTS = np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]])
PLAIN = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1]}


def rewrite(model: Any) -> None:
    """Put it in the place of the convolutions that gain by it, however many images there are: results must not depend on that."""
    for node in model.get_ordered_ops():
        if node.get_type_name() != "Convolution":
            continue
        weights, of_node = node.input_value(1).get_node().data, node.get_attributes()
        count, _, *shape = node.input_value(0).get_shape()
        suits = weights.shape[2:] == (3, 3) and min(weights.shape[:2]) >= CHANNELS and max(shape) > TILE
        if suits and all(list(of_node[key]) == value for key, value in PLAIN.items()):
            node.output(0).replace(_convolved(node.input_value(0), weights, count, *shape).output(0))
    model.validate_nodes_and_infer_types()


def _convolved(images: Any, weights: np.ndarray, count: int, height: int, width: int) -> Any:
    ops = optional.load("openvino.opset13")

    def constant(values: Any, kind: type = np.float32) -> Any:
        return ops.constant(np.ascontiguousarray(values, kind))

    def rows_of(node: Any, *shape: int) -> Any:
        return ops.reshape(node, constant(shape, np.int64), False)

    windows, pixels = _places(count, height, width)
    tiles, (channels, filters) = windows.size // WINDOW**2, weights.shape[1::-1]
    kernels = np.einsum("ia,fcab,jb->ijcf", OF_WEIGHTS, weights.astype(float), OF_WEIGHTS)
    of_inputs, of_outputs = (constant(np.kron(one, one)) for one in (OF_INPUTS, OF_OUTPUTS))
    first = constant(0, np.int64)
    rows = rows_of(ops.transpose(images, constant([0, 2, 3, 1], np.int64)), -1, channels)
    rows = ops.concat([rows, constant(np.zeros((1, channels)))], 0)  # the last is what lies outside
    rows = rows_of(ops.gather(rows, constant(windows.ravel(), np.int32), first), WINDOW**2, tiles * channels)
    rows = rows_of(ops.matmul(of_inputs, rows, False, False), -1, tiles, channels)
    rows = ops.matmul(rows, constant(kernels.reshape(-1, channels, filters)), False, False)
    rows = ops.matmul(of_outputs, rows_of(rows, WINDOW**2, tiles * filters), False, False)
    rows = ops.gather(rows_of(rows, -1, filters), constant(pixels, np.int32), first)
    return ops.transpose(rows, constant([0, 3, 1, 2], np.int64))


def _places(count: int, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of all pixels are in the windows, position by position; and where the tiles have each pixel."""
    down, across = -(-height // TILE), -(-width // TILE)
    rows = np.full((count, TILE * down + 2, TILE * across + 2), count * height * width)
    rows[:, 1 : height + 1, 1 : width + 1] = np.arange(count * height * width).reshape(count, height, width)
    windows = np.lib.stride_tricks.sliding_window_view(rows, (1, WINDOW, WINDOW))
    tiles = np.arange(count * down * across * TILE**2).reshape(TILE, TILE, count, down, across)
    pixels = tiles.transpose(2, 3, 0, 4, 1).reshape(count, TILE * down, TILE * across)
    return windows[:, ::TILE, ::TILE, 0].transpose(3, 4, 0, 1, 2), pixels[:, :height, :width]
