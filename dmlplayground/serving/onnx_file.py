"""A trained model as one ONNX graph, from a batch of uint8 images (B, H, W, 3) in RGB to embeddings (B, width).

Normalisation is part of the graph; ensembles and folds are one graph. Without ``resize`` the input has the size of the
trial's test images, and a runtime refuses any other. With it the graph resizes and crops images of any size by itself. In
eight bits it is a quarter as large: weights and activations become bytes, whose ranges are read off training images.
"""

import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import mxnet as mx
import numpy as np

from ..base import files, optional
from ..base.errors import UserError
from ..parts import data
from ..parts.backbones.shared import onnx_graph
from ..parts.backbones.shared.onnx_graph import INPUT
from ..trial.training import models
from . import image_inputs
from .judge import NAMES, judge

if TYPE_CHECKING:
    from .model import Model

LOOKED_AT = 128  # training images whose activations give the ranges
PROVIDERS = ["CPUExecutionProvider"]


def write(model: "Model", path: Path, resize: bool = False, eight_bit: bool = False) -> tuple[Path, str]:
    """Write the model to ``path`` (with the suffix .onnx). Returns it, and what eight bits have cost."""
    path = path if path.suffix == ".onnx" else path.with_name(f"{path.name}.onnx")
    height, width = model.input_size
    graph, cost = _network(model, height, width), ""
    if eight_bit:
        graph = _quantized(model, graph)
        cost = _loss(model, graph)
    if resize:
        _prepend_resizing(graph, model, height, width)
    about = graph.metadata_props.add()
    about.key, about.value = "distance", model.distance
    optional.load("onnx").checker.check_model(graph)
    with files.replacing(path, "wb") as file:
        file.write(graph.SerializeToString())
    return path, cost


def _network(model: "Model", height: int, width: int) -> Any:
    """The networks of all members on one input, their embeddings joined as ``training.models.join`` does."""
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


#: OpenCV's interpolations, and what has ONNX compute the same.
_MODES = {"cubic": 'mode = "cubic", cubic_coeff_a = -0.75', "linear": 'mode = "linear"'}
#: Height and width that an image is resized to: of both sides, or of the shorter one.
_SQUASHED = "target = Concat <axis = 0> (size, size)"
_SHORTER = """shorter = ReduceMin <keepdims = 1> (sides)
    scaled = Mul (sides, size)
    target = Div (scaled, shorter)"""


def _prepend_resizing(network: Any, model: "Model", height: int, width: int) -> None:
    """Images of any one size: resized as the trial's test images are stored, then their centre cut out. OpenCV, which
    resizes in training, rounds every pixel and cuts it to the range of a byte."""
    stored, onnx = model.stored, optional.load("onnx")
    if stored.resize == "none" or stored.interpolation not in _MODES:
        raise UserError(
            f"this trial's images are resized by {stored.interpolation!r} ({stored.resize}), which ONNX has no "
            f"operator for; export without --resize, and give images of {height} x {width}."
        )
    text = f"""
resizing (uint8[batch, height, width, 3] {INPUT}) => (uint8[batch, {height}, {width}, 3] done)
<int64[1] size = {{{stored.size}}}, int64[2] crop = {{{height}, {width}}}, int64[2] two = {{2, 2}}, int64[2] axes = {{2, 3}},
 int64[1] first = {{0}}, int64[1] third = {{2}}, int64[1] end = {{4}}, float black = {{0.0}}, float white = {{255.0}}>
{{
    planes = Transpose <perm = [0, 3, 1, 2]> ({INPUT})
    numbers = Cast <to = {onnx.TensorProto.FLOAT}> (planes)
    shape = Shape (planes)
    sides = Slice (shape, third, end)
    {_SQUASHED if stored.resize == "squash" else _SHORTER}
    batch = Slice (shape, first, third)
    sizes = Concat <axis = 0> (batch, target)
    resized = Resize <{_MODES[stored.interpolation]}, coordinate_transformation_mode = "half_pixel"> (numbers, , , sizes)
    rounded = Round (resized)
    clipped = Clip (rounded, black, white)
    spare = Sub (target, crop)
    start = Div (spare, two)
    stop = Add (start, crop)
    cut = Slice (clipped, start, stop, axes)
    bytes = Cast <to = {onnx.TensorProto.UINT8}> (cut)
    done = Transpose <perm = [0, 2, 3, 1]> (bytes)
}}"""
    resizing = optional.load("onnx.parser").parse_graph(text)
    compose = optional.load("onnx.compose")
    compose.add_prefix_graph(resizing, "resize_", rename_inputs=False, inplace=True)
    network.graph.CopyFrom(compose.merge_graphs(resizing, network.graph, [("resize_done", INPUT)]))


def _quantized(model: "Model", graph: Any) -> Any:
    """The graph with its convolutions and products in eight bits, the weights of each channel with a range of their own."""
    runtime, tools = optional.load("onnxruntime"), optional.load("onnxruntime.quantization")
    train = image_inputs.read(data.load(**model.trial.data, split="train", stored=model.stored), model.stored)
    count = len(train.names)
    rows = np.unique(np.linspace(0, count - 1, min(LOOKED_AT, count)).astype(int)).tolist()
    blocks = models.blocks(train.take(rows).dataset, model.transform)
    batches = ({INPUT: image[None]} for block in blocks for image in block)
    with tempfile.TemporaryDirectory() as folder:
        fused, target = Path(folder) / "fused.onnx", Path(folder) / "eight.onnx"
        options = runtime.SessionOptions()  # batch-norms go into convolutions, which then lose less
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(fused)
        runtime.InferenceSession(graph.SerializeToString(), options, providers=PROVIDERS)
        reader = SimpleNamespace(get_next=lambda: next(batches, None))
        # Bytes without a sign: onnxruntime fuses signed ones only where a layer alone reads them, not beside a shortcut.
        unsigned = tools.QuantType.QUInt8
        tools.quantize_static(str(fused), str(target), reader, per_channel=True, activation_type=unsigned)
        return optional.load("onnx").load(str(target))


def _loss(model: "Model", graph: Any) -> str:
    """What it costs, in a sentence: scores on images that the model was not trained on, of both."""
    dataset, measured_on = model.unseen()
    session = optional.load("onnxruntime").InferenceSession(graph.SerializeToString(), providers=PROVIDERS)
    blocks = models.blocks(dataset, model.transform)
    found = np.concatenate([session.run(None, {INPUT: block})[0] for block in blocks])
    known = dataset.labels, model.distance, dataset.queries
    before, after = (judge(each, *known) for each in (model.embed_dataset(dataset), found))
    pairs = {name: (100 * before.score(name), 100 * after.score(name)) for name in NAMES}
    scores = (f"{name} goes from {one:.2f} to {other:.2f} %" for name, (one, other) in pairs.items())
    return f"in eight bits {' and '.join(scores)}: on {measured_on}, {len(before.labels):,} queries"
