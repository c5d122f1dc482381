"""Mixed precision: the backbone's products in 16 bits; its weights, the head, the loss and the updates in 32.

MXNet's amp puts the casts into the graph that training computes. Embeddings of images to evaluate are computed without
them.
"""

import json
from typing import Any, Literal

from mxnet import nd, sym
from mxnet.contrib import amp
from mxnet.contrib.amp.loss_scaler import LossScaler

from ...parts.backbones.shared.engines import graph_of
from ...parts.backbones.shared.heads import Embedder

Wanted = bool | Literal["bfloat16"]


def scaler(wanted: Wanted) -> Any:
    """The keeper of the number that float16 needs the loss multiplied by; None where it is not float16.

    Small gradients would vanish there, so the loss is multiplied by a large number before it goes backward, and the
    gradients are divided by it in the step. A step whose gradients have overflowed is left out, and the number halved.
    bfloat16 has the range of float32.
    """
    return LossScaler() if wanted is True else None


class Mixed:
    """A network computed with 16 bits, which trains the same parameters."""

    def __init__(self, network: Embedder, wanted: Wanted):
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
        head = [name for name in names if name.startswith(self.network.head.prefix)]
        return amp.convert_symbol(
            graph, target_dtype=self.dtype, data_names=["data"], excluded_sym_names=head
        )
