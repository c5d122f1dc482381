"""Classification networks of the Gluon and gluoncv zoos without their classifiers: from images to features.

Most zoo networks keep the layers before the classifier in ``features``. In the others the classifier is taken
out and lets its input pass. Either way the parameters keep the names they have in the zoo's files of weights.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from mxnet import gluon, sym
from mxnet.gluon import nn

from ....base.errors import UserError, unknown
from . import surgery
from .weights import loading
from .weights.sources import ZOOS
from .zoo_records import Facts, preprocessing

CLASSIFIES = re.compile(
    r"(se_|cifar_)?(alexnet|darknet|densenet|dla|googlenet|inceptionv3|mobilenet|nasnet|res(idualattention)?ne[sx]?t|senet|"
    r"shufflenet|squeezenet|vgg|wideresnet|xception)(?!.*(_gn|custom|hmdb51|int8|kinetics|sthsth|ucf101)).*|hrnet_.*_c"
)


def checksums(library: str) -> dict[str, str]:
    from mxnet.gluon.model_zoo import model_store

    known = dict(model_store._model_sha1)
    if library == "gluoncv":
        known.update(_gluoncv().model_store._model_sha1)
    return known


@cache
def _gluoncv() -> Any:
    try:
        from gluoncv import model_zoo
    except ImportError as problem:
        raise UserError(f"the networks of gluoncv are not available: {problem}") from None
    return model_zoo


def names(library: str) -> list[str]:
    """The zoo's image classification networks; gluoncv has others too."""
    if library == "gluoncv":
        return sorted(name for name in _gluoncv().get_model_list() if CLASSIFIES.fullmatch(name))
    from mxnet.gluon.model_zoo import vision

    try:
        vision.get_model("")
    except ValueError as listing:  # the zoo lists its networks only in this error
        return str(listing).split("\n\t")[1:]
    raise AssertionError("a network without a name")


def trunk(library: str, name: str):
    """The zoo's network called ``name``, from images to features, not initialised."""
    if library not in ZOOS:
        raise unknown("zoo of networks", library, ZOOS)
    if name not in names(library):
        raise unknown(f"network of {library}", name, names(library))
    if library == "gluoncv":
        single_output = {"use_aux": False} if name.startswith("nasnet") else {}
        return cut(_gluoncv().get_model(name, pretrained=False, **single_output), preprocessing(name).size)
    from mxnet.gluon.model_zoo import vision

    return cut(vision.get_model(name, pretrained=False), preprocessing(name).size)


class Features(gluon.HybridBlock):
    """The ``features`` of a network; if they are maps, pooled to one vector per image."""

    def __init__(self, network, pool: bool):
        super().__init__(prefix=network.prefix)
        self.features = network.features
        self.pool = nn.GlobalAvgPool2D() if pool else None

    def hybrid_forward(self, F, x):
        x = self.features(x)
        return F.Flatten(x if self.pool is None else self.pool(x))


class Passing(gluon.HybridBlock):
    """Replaces a classifier: passes its input on, one vector per image."""

    def hybrid_forward(self, F, x):
        return F.Flatten(x)


def cut(network, size: int):
    """A classification network without its classifier. ``left_out`` of what is returned names the removed
    parameters."""
    whole = {*loading.by_path(network), *loading.by_name(network)}
    if hasattr(network, "features"):
        shape = output_shape(network.features, size)
        result = Features(network, pool=len(shape) == 4 and max(shape[2:]) > 1)
    else:
        surgery.replace(network, surgery.last(network, (nn.Dense, nn.Conv2D)), Passing())
        result = network
    pooling = surgery.last(result, surgery.AVERAGES)
    if isinstance(pooling, nn.AvgPool2D):  # over 7 x 7 maps: all of them at the usual size, but not at others
        surgery.replace(result, pooling, nn.GlobalAvgPool2D())
    result.left_out = whole - {*loading.by_path(result), *loading.by_name(result)}
    return result


def output_shape(network, size: int) -> tuple[int, ...]:
    """The shape of the network's output for one image, without computing it."""
    graph = network(sym.var("data"))
    return graph.infer_shape_partial(data=(1, 3, size, size))[1][0]


def facts(library: str, name: str) -> Facts:
    """What a zoo's network is, found by building it."""
    features = output_shape(trunk(library, name), preprocessing(name).size)[1]
    return Facts(features, checksums(library).get(name, ""))
