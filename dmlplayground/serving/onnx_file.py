"""A trained model as one ONNX graph, from a batch of uint8 images (B, H, W, 3) in RGB to embeddings (B, width).

Normalisation is part of the graph; ensembles and folds are one graph. Without ``resize`` the input has the size of the
trial's test images, and a runtime refuses any other. With it the graph resizes and crops images of any size by itself.

MXNet's converter was written for older releases of the package onnx; ``_converter`` gives it what it asks for.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from ..base import files, optional
from ..base.errors import UserError

if TYPE_CHECKING:
    from .model import Model

OPSET, IR_VERSION = 13, 8  # the latest that MXNet's converter writes; the file format that goes with it
INPUT, OUTPUT = "images", "embeddings"


def write(model: Model, path: Path, resize: bool = False) -> Path:
    """Write the model to ``path`` (with the suffix .onnx)."""
    path = path if path.suffix == ".onnx" else path.with_name(f"{path.name}.onnx")
    height, width = model.input_size
    graph = _network(model, height, width)
    if resize:
        _prepend_resizing(graph, model, height, width)
    about = graph.metadata_props.add()
    about.key, about.value = "distance", model.distance
    optional.load("onnx").checker.check_model(graph)
    with files.replacing(path, "wb") as file:
        file.write(graph.SerializeToString())
    return path


def _network(model: Model, height: int, width: int) -> Any:
    """The networks of all members on one input, their embeddings joined as ``training.models.join`` does."""
    import mxnet as mx

    data = mx.sym.var(INPUT, dtype="uint8")
    folds: dict[int, list] = {}
    arrays = {}
    for member in model.members:
        folds.setdefault(member.fold, []).append(member.network(data))
        for name, parameter in member.network.collect_params().items():
            arrays[name] = parameter.list_data()[0].as_in_context(mx.cpu())
    parts = [mx.sym.concat(*symbols, dim=1) if len(symbols) > 1 else symbols[0] for symbols in folds.values()]
    if len(parts) > 1:
        parts = [mx.sym.L2Normalization(part, eps=1e-24) for part in parts]
    whole = mx.sym.concat(*parts, dim=1) if len(parts) > 1 else parts[0]
    with _converter() as (converter, scratch):
        target = scratch / "network.onnx"
        shape = ("batch", height, width, 3)
        with files.writing_to(target):
            converter.export_model(
                whole,
                arrays,
                [(1, height, width, 3)],
                np.uint8,
                str(target),
                dynamic=True,
                dynamic_input_shapes=[shape],
            )
        return _tidied(optional.load("onnx").load(str(target)))


def _tidied(graph: Any) -> Any:
    """Weights are no inputs: a runtime could not fold them otherwise, and would warn of each. One plain output name."""
    graph.ir_version = IR_VERSION
    weights = {weight.name for weight in graph.graph.initializer}
    inputs = [each for each in graph.graph.input if each.name not in weights]
    del graph.graph.input[:]
    graph.graph.input.extend(inputs)
    last = graph.graph.output[0].name
    for node in graph.graph.node:
        for number, name in enumerate(node.output):
            if name == last:
                node.output[number] = OUTPUT
        for number, name in enumerate(node.input):
            if name == last:
                node.input[number] = OUTPUT
    graph.graph.output[0].name = OUTPUT
    return graph


@contextlib.contextmanager
def _converter() -> Iterator[tuple[Any, Path]]:
    """MXNet's converter, and a folder for its file. While it works, it finds in onnx the table of types and the number of
    the operator set that it looks for, and takes the lengths of rows for what they are: ONNX's norm along axis 1."""
    onnx = optional.load("onnx")
    table: Any = types.ModuleType("onnx.mapping")
    kinds = {np.dtype(kind): getattr(onnx.TensorProto, name) for kind, name in _TYPES.items()}
    table.NP_TYPE_TO_TENSOR_TYPE = kinds
    table.TENSOR_TYPE_TO_NP_TYPE = {number: kind for kind, number in kinds.items()}
    level = logging.getLogger().level
    with contextlib.ExitStack() as stack:
        stack.callback(logging.getLogger().setLevel, level)
        stack.enter_context(mock.patch.dict(sys.modules, {"onnx.mapping": table}))
        stack.enter_context(mock.patch.object(onnx, "mapping", table, create=True))
        stack.enter_context(mock.patch.object(onnx.defs, "onnx_opset_version", lambda: OPSET))
        logging.getLogger().setLevel(logging.WARNING)  # it tells of every node
        from mxnet import onnx as converter
        from mxnet.onnx.mx2onnx._export_onnx import MXNetGraph

        operators = MXNetGraph.registry_[12]  # of which those of 13 are a continuation
        of_rows = _row_lengths(operators["L2Normalization"])
        stack.enter_context(mock.patch.dict(operators, {"L2Normalization": of_rows}))
        yield converter, Path(stack.enter_context(tempfile.TemporaryDirectory()))


def _row_lengths(convert: Callable) -> Callable:
    """The conversion of L2Normalization, of rows: there the only mode that it knows, channels, means the same."""
    return lambda node, **rest: convert(
        {**node, "attrs": {**node.get("attrs", {}), "mode": "channel"}}, **rest
    )


_TYPES = {
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "float16": "FLOAT16",
    "uint8": "UINT8",
    "int8": "INT8",
    "int32": "INT32",
    "int64": "INT64",
    "bool": "BOOL",
}

#: OpenCV's interpolations and the modes of ONNX that compute the same.
_MODES: dict[str, dict[str, Any]] = {
    "cubic": {"mode": "cubic", "cubic_coeff_a": -0.75, "coordinate_transformation_mode": "half_pixel"},
    "linear": {"mode": "linear", "coordinate_transformation_mode": "half_pixel"},
}


def _prepend_resizing(model: Any, trained: Model, height: int, width: int) -> None:
    """Images of any one size: resized as the trial's test images are stored, then their centre cut out."""
    stored = trained.stored
    if stored.resize == "none" or stored.interpolation not in _MODES:
        raise UserError(
            f"this trial's images are resized by {stored.interpolation!r} ({stored.resize}), which ONNX has no "
            f"operator for; export without --resize, and give images of {height} x {width}."
        )
    graph = model.graph
    for node in graph.node:
        for number, name in enumerate(node.input):
            if name == INPUT:
                node.input[number] = "resize_done"
    rest = list(graph.node)
    del graph.node[:]
    graph.node.extend([*_resizing(stored), *rest])
    for name, value in {
        "size": np.array([stored.size]),
        "crop": np.array([height, width]),
        "two": np.array([2, 2]),
        "zero": np.array([0]),
        "sides_from": np.array([2]),
        "sides_to": np.array([4]),
        "side_axes": np.array([2, 3]),
        "black": np.array(0, np.float32),
        "white": np.array(255, np.float32),
    }.items():
        graph.initializer.append(optional.load("onnx").numpy_helper.from_array(value, f"resize_{name}"))
    sides = graph.input[0].type.tensor_type.shape.dim
    sides[1].dim_param, sides[2].dim_param = "height", "width"


def _resizing(stored: Any) -> list:
    """The nodes from the input to ``resize_done``. OpenCV, which resizes in training, rounds every pixel and cuts it to
    the range of a byte."""
    onnx = optional.load("onnx")

    def node(kind: str, inputs: str, output: str, **attributes: Any) -> Any:
        names = [f"resize_{name}" if name not in (INPUT, "-") else name.strip("-") for name in inputs.split()]
        return onnx.helper.make_node(kind, names, [f"resize_{output}"], **attributes)

    if stored.resize == "squash":
        target = [node("Concat", "size size", "target", axis=0)]
    else:  # the shorter side to the size
        target = [
            node("Mul", "sides size", "scaled"),
            node("ReduceMin", "sides", "shorter", keepdims=1),
            node("Div", "scaled shorter", "target"),
        ]
    return [
        node("Transpose", INPUT, "planes", perm=[0, 3, 1, 2]),
        node("Cast", "planes", "numbers", to=onnx.TensorProto.FLOAT),
        node("Shape", "planes", "shape"),
        node("Slice", "shape sides_from sides_to", "sides"),
        *target,
        node("Slice", "shape zero sides_from", "batch"),
        node("Concat", "batch target", "sizes", axis=0),
        node("Resize", "numbers - - sizes", "resized", **_MODES[stored.interpolation]),
        node("Round", "resized", "rounded"),
        node("Clip", "rounded black white", "clipped"),
        node("Sub", "target crop", "spare"),
        node("Div", "spare two", "start"),
        node("Add", "start crop", "end"),
        node("Slice", "clipped start end side_axes", "cut"),
        node("Cast", "cut", "bytes", to=onnx.TensorProto.UINT8),
        node("Transpose", "bytes", "done", perm=[0, 2, 3, 1]),
    ]
