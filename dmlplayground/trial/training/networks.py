"""The network of a trial: its backbone and the layers after it."""

import json
from pathlib import Path
from typing import Any

from mxnet import gluon, nd, sym
from mxnet.contrib import amp
from mxnet.gluon import nn

from ...base import registry
from ...parts import backbones
from ...parts.backbones.shared.engines import graph_of
from ...parts.backbones.shared.heads import Embedder, Head, add_max_pooling
from ...parts.backbones.shared.weights import loading
from ..config import Trial
from ..store import trained_weights

HEAD = "network.head."  # what the names of a head's weights begin with


def network(trial: Trial, num_classes: int, pretrained: bool) -> Embedder:
    name, options = registry.split(trial.backbone)
    features = backbones.get(name).features or options["features"]
    head = Head(trial.head, features, trial.embed_dim, num_classes)
    made = joined(trial, backbone(trial, pretrained), head)
    if trial.head.start and pretrained:
        _start(head, trial.head.start)
    return made


def _start(head: Head, path: str) -> None:
    """Let a head start with that of other trained weights."""
    arrays = trained_weights.read(Path(path).expanduser()).arrays
    weights = {name[len(HEAD) :]: array for name, array in arrays.items() if name.startswith(HEAD)}
    loading.check(named(head), weights, path)
    for name, parameter in named(head).items():
        parameter.set_data(nd.array(weights[name]))


def backbone(trial: Trial, pretrained: bool) -> gluon.HybridBlock:
    name, options = registry.split(trial.backbone)
    if not pretrained:
        options["pretrained"] = "none"
    backbone = backbones.create(name, **options)
    if trial.head.pooling == "average+max":
        add_max_pooling(backbone)
    return backbone


def joined(trial: Trial, backbone: gluon.HybridBlock, head: gluon.HybridBlock) -> Embedder:
    preprocessing = backbones.get(trial.backbone["name"]).preprocessing
    network = Embedder(backbone, preprocessing, head)
    head.initialize()
    if preprocessing is not None:
        for constant in (network.mean, network.scale):
            constant.initialize()
    return network


def named(block: gluon.Block) -> dict[str, gluon.Parameter]:
    """The block's parameters by their place in it. Unlike Gluon's numbered names it is the same in every process."""
    return block._collect_params_with_prefix()


def freeze_batchnorm(block: gluon.Block, learned: bool = False) -> None:
    """Use batch-norm's running statistics without changing them; its scale and shift are ``learned``, or fixed as well."""

    def freeze(layer: gluon.Block) -> None:
        if isinstance(layer, nn.BatchNorm):
            layer._kwargs["use_global_stats"] = True
            if not learned:
                layer.collect_params().setattr("grad_req", "null")

    block.apply(freeze)


class Mixed:
    """Mixed precision: the backbone's products in 16 bits; its weights, the head, the loss and the updates in 32. MXNet's amp
    puts the casts into the graph that training computes. Embeddings of images to evaluate are computed without them."""

    def __init__(self, network: Embedder, wanted: bool | str):
        self.network = network
        self.dtype = "bfloat16" if wanted == "bfloat16" else "float16"
        self._graph: Any = None

    def __call__(self, images: nd.NDArray) -> nd.NDArray:
        if self._graph is None:
            self._graph = graph_of(self.network, images, self._cast)
        return self._graph(images)

    def _cast(self, graph: sym.Symbol) -> sym.Symbol:
        """The graph with casts, but for the head: its few products are the embedding."""
        names = [node["name"] for node in json.loads(graph.tojson())["nodes"] if node["op"] != "null"]
        own = [name for name in names if name.startswith(self.network.head.prefix)]
        return amp.convert_symbol(graph, target_dtype=self.dtype, data_names=["data"], excluded_sym_names=own)
