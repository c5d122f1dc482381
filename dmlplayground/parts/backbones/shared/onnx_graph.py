"""A network's graph in ONNX, from a batch of uint8 images (B, H, W, 3) in RGB to its output. MXNet's converter was written
for older releases of the package onnx; ``_converter`` gives it what it asks for."""

import contextlib
import logging
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from ....base import files, optional

_TYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool")
OPSET, IR_VERSION = 13, 8  # the latest that MXNet's converter writes; the file format that goes with it
INPUT, OUTPUT = "images", "embeddings"


def convert(symbol: Any, arrays: dict[str, Any], height: int, width: int) -> Any:
    """A symbol whose only variable without an array is ``INPUT``."""
    with _converter() as (converter, scratch):
        target = scratch / "network.onnx"
        with files.writing_to(target):
            shapes = {
                "in_shapes": [(1, height, width, 3)],
                "dynamic_input_shapes": [("batch", height, width, 3)],
            }
            converter.export_model(
                symbol, arrays, in_types=np.uint8, onnx_file_path=str(target), dynamic=True, **shapes
            )
        graph = _tidied(optional.load("onnx").load(str(target)))
    optional.load("onnx.checker").check_model(graph)
    return graph


def _tidied(graph: Any) -> Any:
    """Weights are no inputs, and all are used: a runtime could not fold them otherwise, and would warn of each. One plain
    output name."""
    graph.ir_version = IR_VERSION
    read = {name for node in graph.graph.node for name in node.input}
    used = [weight for weight in graph.graph.initializer if weight.name in read]
    del graph.graph.initializer[:]
    graph.graph.initializer.extend(used)
    weights = {weight.name for weight in used}
    inputs = [each for each in graph.graph.input if each.name not in weights]
    del graph.graph.input[:]
    graph.graph.input.extend(inputs)
    last = graph.graph.output[0].name
    for node in graph.graph.node:
        for names in (node.output, node.input):
            names[:] = [OUTPUT if name == last else name for name in names]
    graph.graph.output[0].name = OUTPUT
    return graph


@contextlib.contextmanager
def _converter() -> Iterator[tuple[Any, Path]]:
    """MXNet's converter, and a folder for its file. While it works, it finds in onnx the table of types and the number of
    the operator set that it looks for, and takes the lengths of rows for what they are: ONNX's norm along axis 1."""
    onnx = optional.load("onnx")
    table: Any = types.ModuleType("onnx.mapping")
    kinds = {kind: onnx.helper.np_dtype_to_tensor_dtype(kind) for kind in map(np.dtype, _TYPES)}
    table.NP_TYPE_TO_TENSOR_TYPE = kinds
    table.TENSOR_TYPE_TO_NP_TYPE = {number: kind for kind, number in kinds.items()}
    level = logging.getLogger().level
    with contextlib.ExitStack() as stack:
        stack.callback(logging.getLogger().setLevel, level)
        stack.enter_context(mock.patch.dict(sys.modules, {"onnx.mapping": table}))
        stack.enter_context(mock.patch.object(onnx, "mapping", table, create=True))
        stack.enter_context(mock.patch.object(onnx.defs, "onnx_opset_version", lambda: OPSET))
        # It would check operators as if they were of the newest set.
        stack.enter_context(
            mock.patch.object(optional.load("onnx.checker"), "check_graph", lambda graph: None)
        )
        logging.getLogger().setLevel(logging.WARNING)  # it tells of every node
        from mxnet import onnx as converter
        from mxnet.onnx.mx2onnx._export_onnx import MXNetGraph

        operators = MXNetGraph.registry_[12]  # of which those of 13 are a continuation
        normalise = operators["L2Normalization"]

        # For rows the only mode that it knows, channels, means the same.
        def of_rows(node: dict, **rest: Any) -> Any:
            return normalise({**node, "attrs": {**node.get("attrs", {}), "mode": "channel"}}, **rest)

        stack.enter_context(mock.patch.dict(operators, {"L2Normalization": of_rows}))
        stack.enter_context(mock.patch.dict(MXNetGraph.registry_[OPSET], {"reverse": _reversed}))
        yield converter, Path(stack.enter_context(tempfile.TemporaryDirectory()))


def _reversed(node: dict[str, Any], **rest: Any) -> list:
    """The conversion of reverse: a slice in steps of -1. MXNet's own counts back to the first number with operators that
    onnxruntime computes otherwise, so that nothing is left."""
    from mxnet.onnx.mx2onnx._op_translations._op_translations_opset12 import create_tensor, get_inputs

    name, inputs, attributes = get_inputs(node, rest)
    numbers = {
        "start": -1,
        "stop": np.iinfo(np.int32).min,
        "axis": int(attributes.get("axis", 0)),
        "step": -1,
    }
    for key, number in numbers.items():
        create_tensor([number], f"{name}_{key}", rest["initializer"])
    names = [*inputs, *(f"{name}_{key}" for key in numbers)]
    return [optional.load("onnx.helper").make_node("Slice", names, [name], name=name)]
