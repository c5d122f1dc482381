"""From features to embeddings: the layers that a method declares, and the whole network of a trial."""

from typing import TYPE_CHECKING

import numpy as np
from mxnet import gluon, init, nd
from mxnet.gluon import nn

from ....base.errors import UserError
from .base import Preprocessing
from .gluon_zoos import AVERAGES, last, replace

if TYPE_CHECKING:
    from ....trial.config import Head as HeadConfig


class TruncatedNormal(init.Initializer):
    """A normal distribution truncated at two standard deviations (values outside are drawn again)."""

    def __init__(self, sigma: float):
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, _, array):
        values = nd.random.normal(shape=array.shape, ctx=array.context)
        for _ in range(40):  # one value in 22 falls outside, so 40 draws leave none
            others = nd.random.normal(shape=array.shape, ctx=array.context)
            values = nd.where(values.abs() > 2, others, values)
        array[:] = values.clip(-2, 2) * self.sigma


class NormedDense(gluon.HybridBlock):
    """A linear layer without bias whose weight is g V / |V|, with the norm of the whole matrix as in the study."""

    def __init__(self, units: int, in_units: int, weight_initializer):
        super().__init__()
        self.units = units
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(units, in_units), init=weight_initializer)
            self.scale = self.params.get("scale", shape=(1,), init=init.One())

    def hybrid_forward(self, F, x, weight, scale):
        length = F.sqrt(F.sum(weight**2) + 1e-7)
        scaled = F.broadcast_mul(weight, scale / length)
        return F.FullyConnected(x, scaled, no_bias=True, num_hidden=self.units)


def add_max_pooling(backbone) -> None:
    """Make the backbone's last pooling, an average over whole maps, add the maximum of each map."""

    def pooled(F, x):
        kinds = ("avg", "max")
        average, most = (F.Pooling(x, kernel=(1, 1), global_pool=True, pool_type=kind) for kind in kinds)
        return average + most

    pooling = last(backbone, AVERAGES)
    if pooling is None:
        raise UserError("head.pooling: this backbone has no average pooling of maps; leave it at average.")
    replace(backbone, pooling, nn.HybridLambda(pooled))


class Head(nn.HybridSequential):
    """Features (B, features) -> embeddings (B, width). Without a last layer, its input is returned, of any length."""

    def __init__(self, config: "HeadConfig", features: int, embed_dim: int, num_classes: int):
        super().__init__()
        with self.name_scope():
            if config.layer_norm:
                self.add(nn.LayerNorm(in_channels=features))
            widths = [*config.bottleneck, embed_dim] if config.to_classes else config.bottleneck
            for width in widths:
                self.add(_dense(config, width, features, bias=True))
                if config.bottleneck_dropout:
                    self.add(nn.Dropout(config.bottleneck_dropout))
                features = width
            if config.reduction != "linear":
                self.width = features
                return
            self.width = num_classes if config.to_classes else embed_dim
            if config.weight_norm:
                self.add(NormedDense(self.width, features, _initializer(config, features)))
            else:
                self.add(_dense(config, self.width, features, config.bias))
            if config.dropout:
                self.add(nn.Dropout(config.dropout))
            if config.normalize:
                self.add(nn.HybridLambda("L2Normalization"))


def _dense(config: "HeadConfig", width: int, features: int, bias: bool) -> nn.Dense:
    begin = _initializer(config, features)
    biases = begin if config.init == "fan_in" else "zeros"
    return nn.Dense(
        width, use_bias=bias, in_units=features, weight_initializer=begin, bias_initializer=biases
    )


def _initializer(config: "HeadConfig", features: int):
    if config.init == "fan_in":
        return init.Uniform(features**-0.5)
    if config.init == "truncnorm":
        return TruncatedNormal(config.init_scale)
    return init.Xavier(magnitude=config.init_scale)  # uniform, by the mean of fan-in and fan-out


class Embedder(gluon.HybridBlock):
    """The network of a trial, from a block of uint8 images (B, H, W, 3) to embeddings: normalisation
    included. Without ``preprocessing``, from rows of features (B, N)."""

    def __init__(self, backbone, preprocessing: Preprocessing | None, head):
        super().__init__()
        with self.name_scope():
            self.backbone = backbone
            self.head = head
            if preprocessing is not None:
                mean = np.reshape(np.asarray(preprocessing.mean, np.float32), (1, 3, 1, 1))
                scale = 1 / np.reshape(np.asarray(preprocessing.std, np.float32), (1, 3, 1, 1))
                self.mean = self.params.get_constant("mean", mean)
                self.scale = self.params.get_constant("scale", scale)
        self.reversed = preprocessing is not None and preprocessing.channels == "bgr"

    def hybrid_forward(self, F, images, mean=None, scale=None):
        if mean is not None:
            images = F.cast(F.transpose(images, axes=(0, 3, 1, 2)), "float32")
            if self.reversed:
                images = F.reverse(images, axis=1)
            images = F.broadcast_mul(F.broadcast_sub(images, mean), scale)
        return F.cast(self.head(self.backbone(images)), "float32")  # an engine may leave it in 16 bits
