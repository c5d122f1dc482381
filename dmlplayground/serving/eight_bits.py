"""An ONNX graph in eight bits: a quarter of the size. Weights and activations become bytes, whose ranges are read off
training images."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import optional
from ..parts import data
from ..parts.backbones.shared.onnx_graph import INPUT
from ..trial.training import models
from . import image_inputs
from .judge import NAMES, judge

if TYPE_CHECKING:
    from .model import Model

LOOKED_AT = 128  # training images whose activations give the ranges
PROVIDERS = ["CPUExecutionProvider"]


def quantized(model: Model, graph: Any) -> Any:
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
        tools.quantize_static(
            str(fused), str(target), SimpleNamespace(get_next=lambda: next(batches, None)), per_channel=True
        )
        return optional.load("onnx").load(str(target))


def loss(model: Model, graph: Any) -> str:
    """What it costs, in a sentence: scores on images that the model was not trained on, of both."""
    dataset, measured_on = model.unseen()
    session = optional.load("onnxruntime").InferenceSession(graph.SerializeToString(), providers=PROVIDERS)
    blocks = models.blocks(dataset, model.transform)
    found = np.concatenate([session.run(None, {INPUT: block})[0] for block in blocks])
    before, after = (
        judge(each, dataset.labels, model.distance, dataset.queries)
        for each in (model.embed_dataset(dataset), found)
    )
    scores = (
        f"{name} goes from {100 * before.score(name):.2f} to {100 * after.score(name):.2f} %"
        for name in NAMES
    )
    return f"in eight bits {' and '.join(scores)}: on {measured_on}, {len(before.labels):,} queries"
