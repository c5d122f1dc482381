"""A trained model as one ONNX graph, from a batch of uint8 images (B, H, W, 3) in RGB to embeddings (B, width).

Normalisation is part of the graph; ensembles and folds are one graph. Without ``resize`` the input has the size of the
trial's test images, and a runtime refuses any other. With it the graph resizes and crops images of any size by itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import files, optional
from ..base.errors import UserError
from ..parts.backbones.shared import onnx_graph
from ..parts.backbones.shared.onnx_graph import INPUT
from . import eight_bits

if TYPE_CHECKING:
    from .model import Model


def write(model: Model, path: Path, resize: bool = False, eight_bit: bool = False) -> tuple[Path, str]:
    """Write the model to ``path`` (with the suffix .onnx). Returns it, and what eight bits have cost."""
    path = path if path.suffix == ".onnx" else path.with_name(f"{path.name}.onnx")
    height, width = model.input_size
    graph, cost = _network(model, height, width), ""
    if eight_bit:
        graph = eight_bits.quantized(model, graph)
        cost = eight_bits.loss(model, graph)
    if resize:
        _prepend_resizing(graph, model, height, width)
    about = graph.metadata_props.add()
    about.key, about.value = "distance", model.distance
    optional.load("onnx").checker.check_model(graph)
    with files.replacing(path, "wb") as file:
        file.write(graph.SerializeToString())
    return path, cost


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
    return onnx_graph.convert(whole, arrays, height, width)


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
