"""How a trained network computes embeddings: as it is, with fused layers, or in bfloat16.

``fused`` lets oneDNN compute a convolution with its batch-norm and activation in one step: the same numbers
to rounding, faster. ``bfloat16`` keeps 8 bits of each product: faster still on CPUs that have it in hardware,
and neighbours may change places (``benchmarks/backbones.py`` measures whether recall does). ``openvino`` and
``openvino_bfloat16`` compute the network with OpenVINO (the extra openvino), in these precisions: faster again.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from mxnet import cpu, gluon, nd, random, sym

from ....base import optional, seeds, threads
from ....base.errors import UserError, unknown
from ... import backbones
from . import onnx_graph, winograd

PRECISIONS = {"openvino": "f32", "openvino_bfloat16": "bf16"}
ENGINES = ("float32", "fused", "bfloat16", *PRECISIONS)
AT_ONCE = 4 * 224 * 224  # pixels a thread that OpenVINO computes together


class Engine:
    """A network run by one of the engines: converted at the first images, with the weights that it has then for good."""

    def __init__(self, network: Any, engine: str):
        if engine not in ENGINES:
            raise unknown("engine", engine, ENGINES)
        self.network = network
        self.engine = engine
        self._ready: Any = None

    def __call__(self, images: nd.NDArray) -> nd.NDArray:
        if self._ready is None:
            self._ready = self._prepare(images)
        return self._ready(images)

    def _prepare(self, images: nd.NDArray) -> Any:
        if self.engine == "float32":
            return self.network
        if images.context.device_type != "cpu":
            raise UserError(f"engine {self.engine} is for CPUs; leave it at float32 on a GPU.")
        if self.engine in PRECISIONS:
            return OpenVino(self.network, PRECISIONS[self.engine])
        graph = graph_of(self.network, images)
        if self.engine == "fused":
            graph.optimize_for(images, backend="MKLDNN", static_alloc=True, static_shape=True)
            return graph
        from mxnet.contrib import amp

        graph(images)  # the conversion needs the graph of a first pass
        converted = amp.convert_hybrid_block(graph, target_dtype="bfloat16", ctx=cpu())
        converted.hybridize(static_alloc=True, static_shape=True)
        return converted


class OpenVino:
    """A network computed by OpenVINO, a few images at a time: what is between two layers then stays in the cache. It is
    compiled for every number of images that comes: the last are often fewer."""

    def __init__(self, network: Any, precision: str):
        self.network = network
        self.core = optional.load("openvino").Core()
        self.settings: dict[str, Any] = {
            "INFERENCE_PRECISION_HINT": precision,
            "INFERENCE_NUM_THREADS": threads.arithmetic(),
            "NUM_STREAMS": 1,
        }
        self._compiled: dict[tuple[int, ...], Any] = {}

    def __call__(self, images: nd.NDArray) -> nd.NDArray:
        pixels, (_, height, width, _) = in_place(images), images.shape
        size = max(1, AT_ONCE * threads.arithmetic() // (height * width))
        portions = (pixels[start : start + size] for start in range(0, len(pixels), size))
        return nd.array(np.concatenate([self._embed(portion) for portion in portions]))

    def _embed(self, pixels: np.ndarray) -> np.ndarray:
        if pixels.shape not in self._compiled:
            self._compiled[pixels.shape] = self._compile(pixels.shape)
        return self._compiled[pixels.shape](pixels)[0]

    def _compile(self, shape: tuple[int, ...]) -> Any:
        symbol = self.network(sym.var(onnx_graph.INPUT, dtype="uint8"))
        arrays = {
            name: parameter.list_data()[0].as_in_context(cpu())
            for name, parameter in self.network.collect_params().items()
        }
        graph = onnx_graph.convert(symbol, arrays, *shape[1:3])
        read = self.core.read_model(graph.SerializeToString(), b"")
        read.reshape(shape)
        winograd.rewrite(read, self.settings["INFERENCE_PRECISION_HINT"])
        return self.core.compile_model(read, "CPU", self.settings)


def in_place(images: nd.NDArray) -> np.ndarray:
    """The array itself: ``asnumpy`` copies it, thirty times as slowly as NumPy does."""

    class Lent:
        def __dlpack__(self, **_: Any) -> Any:
            return images.to_dlpack_for_read()

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0  # a CPU's memory

    return np.from_dlpack(Lent())


def graph_of(network: Any, images: nd.NDArray, change: Callable = lambda graph: graph) -> Any:
    """The network's graph for such images, converted, with the same parameters. The network itself does not change."""
    data = sym.var("data", dtype=images.dtype)
    graph = gluon.SymbolBlock(change(network(data)), data, params=network.collect_params())
    graph.hybridize(static_alloc=True, static_shape=True)
    return graph


def extract(network: Any, blocks: Iterable[nd.NDArray], width: int) -> np.ndarray:
    """Embeddings (N, width) of all images; the next blocks are queued while one is computed."""
    rows: list[np.ndarray] = []
    running: deque = deque()
    for block in blocks:
        running.append(network(block))
        if len(running) > 2:
            rows.append(running.popleft().asnumpy())
    rows.extend(output.asnumpy() for output in running)
    return np.concatenate(rows) if rows else np.zeros((0, width), np.float32)


def extractor(backbone: str, pretrained: str) -> Callable[[Iterator[np.ndarray]], np.ndarray]:
    """A backbone used as it is: a function from blocks (B, H, W, 3) of uint8 images to features (N, width)."""
    from .heads import Embedder

    record = backbones.get(backbone)
    if record.preprocessing is None:
        raise UserError(f"the backbone {backbone} takes no images.")
    random.seed(seeds.integer(0, "features"))  # a network with ``pretrained: none`` is the same each time
    no_head = gluon.nn.HybridSequential()
    network = Embedder(backbones.create(backbone, pretrained=pretrained), record.preprocessing, no_head)
    for constant in (network.mean, network.scale):
        constant.initialize()
    network.hybridize(static_alloc=True)

    def features(blocks: Iterator[np.ndarray]) -> np.ndarray:
        return extract(network, (nd.array(block, dtype=block.dtype) for block in blocks), record.features)

    return features
