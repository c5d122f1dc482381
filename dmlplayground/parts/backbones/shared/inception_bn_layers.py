"""Inception with batch-norm (Ioffe and Szegedy 2015), in the two arrangements that trained weights exist for: MXNet's model
zoo and Caffe trained the same layers with different pooling at the borders (55, 27, 14, 7 pixels a side against 56, 28,
14, 7) and different preprocessing. Their parameters have the same names and shapes."""

from typing import Any, NamedTuple

from mxnet import gluon
from mxnet.gluon import nn

EPSILON = 1e-5 + 1e-10  # as in the published graph: above the least that cuDNN accepts


class ModuleWidths(NamedTuple):
    """The widths of one module: branches of one, two and three convolutions, and what follows its pooling."""

    single: int | None  # without it and the projection the module halves the image
    reduce: int
    triple: int
    double_reduce: int
    double: int
    pool: str
    projection: int | None


MODULES = {
    "3a": ModuleWidths(64, 64, 64, 64, 96, "avg", 32),
    "3b": ModuleWidths(64, 64, 96, 64, 96, "avg", 64),
    "3c": ModuleWidths(None, 128, 160, 64, 96, "max", None),
    "4a": ModuleWidths(224, 64, 96, 96, 128, "avg", 128),
    "4b": ModuleWidths(192, 96, 128, 96, 128, "avg", 128),
    "4c": ModuleWidths(160, 128, 160, 128, 160, "avg", 128),
    "4d": ModuleWidths(96, 128, 192, 160, 192, "avg", 128),
    "4e": ModuleWidths(None, 128, 192, 192, 256, "max", None),
    "5a": ModuleWidths(352, 192, 320, 160, 224, "avg", 128),
    "5b": ModuleWidths(352, 192, 320, 192, 224, "max", 128),
}


class CheckpointBatchNorm(nn.BatchNorm):
    """Batch-norm whose parameters have the published names: moving_mean instead of Gluon's running_mean."""

    def __init__(self, channels: int, prefix: str):
        gluon.HybridBlock.__init__(self, prefix=prefix)
        self._kwargs = {
            "axis": 1,
            "eps": EPSILON,
            "momentum": 0.9,
            "fix_gamma": False,
            "use_global_stats": False,
        }
        self.fuse_relu = False
        statistic = {"shape": (channels,), "grad_req": "null", "differentiable": False}
        self.gamma = self.params.get("gamma", shape=(channels,), init="ones")
        self.beta = self.params.get("beta", shape=(channels,), init="zeros")
        self.running_mean = self.params.get("moving_mean", init="zeros", **statistic)
        self.running_var = self.params.get("moving_var", init="ones", **statistic)


class Unit(gluon.HybridBlock):
    """Convolution with bias, batch-norm, relu; called ``name`` in the published file."""

    def __init__(self, name: str, inputs: int, channels: int, kernel: int, stride: int = 1, padding: int = 0):
        super().__init__(prefix="")
        self.channels = channels
        self.conv = nn.Conv2D(channels, kernel, stride, padding, in_channels=inputs, prefix=f"conv_{name}_")
        self.bn = CheckpointBatchNorm(channels, prefix=f"bn_{name}_")

    def hybrid_forward(self, F, x):
        return F.Activation(self.bn(self.conv(x)), act_type="relu")


class Module(gluon.HybridBlock):
    """Branches over the same input, joined by channels."""

    def __init__(self, name: str, inputs: int, widths: ModuleWidths, ceil_mode: bool):
        super().__init__(prefix="")
        stride = 1 if widths.projection else 2
        branches = [
            [
                Unit(f"{name}_3x3_reduce", inputs, widths.reduce, 1),
                Unit(f"{name}_3x3", widths.reduce, widths.triple, 3, stride, 1),
            ],
            [
                Unit(f"{name}_double_3x3_reduce", inputs, widths.double_reduce, 1),
                Unit(f"{name}_double_3x3_0", widths.double_reduce, widths.double, 3, 1, 1),
                Unit(f"{name}_double_3x3_1", widths.double, widths.double, 3, stride, 1),
            ],
            [_pool(widths.pool, stride, ceil_mode)],
        ]
        self.channels = widths.triple + widths.double + (widths.single or 0) + (widths.projection or inputs)
        if widths.single:
            branches.insert(0, [Unit(f"{name}_1x1", inputs, widths.single, 1)])
        if widths.projection:
            branches[-1].append(Unit(f"{name}_proj", inputs, widths.projection, 1))
        self.branches = nn.HybridSequential(prefix="")
        for layers in branches:
            branch = nn.HybridSequential(prefix="")
            branch.add(*layers)
            self.branches.add(branch)

    def hybrid_forward(self, F, x):
        return F.concat(*[branch(x) for branch in self.branches], dim=1)


def _pool(kind: str, stride: int, ceil_mode: bool) -> Any:
    if kind == "avg":
        return nn.AvgPool2D(3, stride, 1)  # zeros of the border are counted in the mean
    padding = 0 if stride == 2 and ceil_mode else 1
    return nn.MaxPool2D(3, stride, padding, ceil_mode=ceil_mode)


def inception_bn(ceil_mode: bool) -> Any:
    network = nn.HybridSequential(prefix="")
    network.add(
        Unit("1", 3, 64, 7, 2, 3),
        nn.MaxPool2D(3, 2, ceil_mode=ceil_mode),
        Unit("2_red", 64, 64, 1),
        Unit("2", 64, 192, 3, 1, 1),
        nn.MaxPool2D(3, 2, ceil_mode=ceil_mode),
    )
    channels = 192
    for name, widths in MODULES.items():
        module = Module(name, channels, widths, ceil_mode)
        network.add(module)
        channels = module.channels
    network.add(nn.GlobalAvgPool2D(), nn.Flatten())
    network.left_out = ("fc1_weight", "fc1_bias")
    return network
