"""Classification networks of the Gluon and gluoncv zoos without their classifiers: from images to features. Most keep the
layers before the classifier in ``features``; in the others it is taken out and lets its input pass. Either way the
parameters keep the names they have in the zoo's files of weights."""

import importlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from mxnet import gluon, sym
from mxnet.gluon import nn

from ....base.errors import UserError
from .weights import loading
from .zoo_records import preprocessing

AVERAGES = (nn.GlobalAvgPool2D, nn.AvgPool2D)


@cache
def zoo(library: str) -> Any:
    """The library's functions."""
    module = {"gluon": "mxnet.gluon.model_zoo.vision", "gluoncv": "gluoncv.model_zoo"}[library]
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise UserError(f"the networks of {library} are not available: {problem}") from None


def trunk(library: str, name: str) -> Any:
    """The zoo's network called ``name``, from images to features, not initialised."""
    single_output = {"use_aux": False} if name.startswith("nasnet") else {}
    return cut(zoo(library).get_model(name, pretrained=False, **single_output), preprocessing(name).size)


class Features(gluon.HybridBlock):
    """The ``features`` of a network; if they are maps, pooled to one vector per image."""

    def __init__(self, network, pool: bool):
        super().__init__(prefix=network.prefix)
        self.features = network.features
        self.pool = nn.GlobalAvgPool2D() if pool else None

    def hybrid_forward(self, F, x):
        x = self.features(x)
        return F.Flatten(x if self.pool is None else self.pool(x))


def cut(network: Any, size: int) -> Any:
    """A classification network without its classifier, whose parameters ``left_out`` of what is returned names."""
    whole = {*loading.by_path(network), *loading.by_name(network)}
    if hasattr(network, "features"):
        shape = output_shape(network.features, size)
        result = Features(network, pool=len(shape) == 4 and max(shape[2:]) > 1)
    else:
        replace(network, last(network, (nn.Dense, nn.Conv2D)), nn.Flatten())
        result = network
    pooling = last(result, AVERAGES)
    if isinstance(pooling, nn.AvgPool2D):  # over 7 x 7 maps: all of them at the usual size, but not at others
        replace(result, pooling, nn.GlobalAvgPool2D())
    result.left_out = whole - {*loading.by_path(result), *loading.by_name(result)}
    return result


def output_shape(network: Any, size: int) -> tuple[int, ...]:
    """The shape of the network's output for one image, without computing it."""
    return network(sym.var("data")).infer_shape_partial(data=(1, 3, size, size))[1][0]


def layers(network: Any) -> Iterator[tuple[Any, str, Any]]:
    """Every layer that holds no others, with the block it is in and its name there, in the order of registration."""
    for name, child in network._children.items():
        if child._children:
            yield from layers(child)
        else:
            yield network, name, child


def last(network: Any, kinds: tuple[type, ...]) -> Any | None:
    """The last layer that is one of these."""
    found = [layer for _, _, layer in layers(network) if isinstance(layer, kinds)]
    return found[-1] if found else None


def replace(network: Any, old: Any, new: Any) -> None:
    """Replace ``old`` by ``new`` everywhere; a layer can be registered in several places."""
    for parent, name, layer in list(layers(network)):
        if layer is old:
            parent._children[name] = new
            if getattr(parent, name, None) is old:
                # Gluon's own setter insists on a block of the same class.
                object.__setattr__(parent, name, new)
