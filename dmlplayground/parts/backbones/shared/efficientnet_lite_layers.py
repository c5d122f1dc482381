"""The EfficientNet-Lite networks (Tan and Le 2019, without squeeze-and-excitation)."""

import math

from mxnet import gluon
from mxnet.gluon import nn

STEM, TOP = 32, 1280  # channels before and after all blocks, the same in every size
STAGES = (  # of Lite0: blocks, kernel, stride of the first, expansion, channels
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)


class Conv(nn.Conv2D):
    """A convolution padded as TensorFlow does: with stride 2, one pixel less before than after."""

    def __init__(self, inputs: int, channels: int, kernel: int, stride: int = 1, groups: int = 1):
        padding = kernel // 2 if stride == 1 else 0
        super().__init__(channels, kernel, stride, padding, groups=groups, use_bias=False, in_channels=inputs)
        self.before, self.after = (kernel - 2) // 2, kernel - 2 - (kernel - 2) // 2
        self.one_sided = stride == 2

    def hybrid_forward(self, F, x, weight, bias=None):
        if self.one_sided:
            x = F.pad(x, mode="constant", pad_width=(0, 0, 0, 0, *(self.before, self.after) * 2))
        return super().hybrid_forward(F, x, weight, bias)


def batchnorm(channels: int):
    return nn.BatchNorm(in_channels=channels, epsilon=1e-3, momentum=0.99)


class Block(gluon.HybridBlock):
    """Widen, convolve each channel by itself, and narrow again; the input is added where the shape allows."""

    def __init__(self, inputs: int, channels: int, kernel: int, stride: int, expansion: int):
        super().__init__()
        width = inputs * expansion
        self.adds_input = stride == 1 and inputs == channels
        self.expand_conv = None
        with self.name_scope():
            if expansion > 1:
                self.expand_conv = Conv(inputs, width, 1)
                self.bn0 = batchnorm(width)
            self.depthwise_conv = Conv(width, width, kernel, stride, groups=width)
            self.bn1 = batchnorm(width)
            self.project_conv = Conv(width, channels, 1)
            self.bn2 = batchnorm(channels)

    def hybrid_forward(self, F, x):
        y = x if self.expand_conv is None else relu6(F, self.bn0(self.expand_conv(x)))
        y = relu6(F, self.bn1(self.depthwise_conv(y)))
        y = self.bn2(self.project_conv(y))
        return x + y if self.adds_input else y


class EfficientNetLite(gluon.HybridBlock):
    """Lite0 with channels multiplied by ``width`` and numbers of blocks by ``depth``."""

    left_out = ("fc.weight", "fc.bias")

    def __init__(self, width: float = 1.0, depth: float = 1.0):
        super().__init__()
        with self.name_scope():
            self.conv_stem = Conv(3, STEM, 3, 2)
            self.bn0 = batchnorm(STEM)
            self.blocks = nn.HybridSequential()
            inputs = STEM
            for place, (count, kernel, stride, expansion, channels) in enumerate(STAGES):
                channels = rounded(channels * width)
                if 0 < place < len(STAGES) - 1:  # the first and the last stage keep their depth
                    count = math.ceil(count * depth)
                for number in range(count):
                    self.blocks.add(Block(inputs, channels, kernel, 1 if number else stride, expansion))
                    inputs = channels
            self.conv_head = Conv(inputs, TOP, 1)
            self.bn1 = batchnorm(TOP)
            self.pool = nn.GlobalAvgPool2D()

    def hybrid_forward(self, F, x):
        x = self.blocks(relu6(F, self.bn0(self.conv_stem(x))))
        return F.Flatten(self.pool(relu6(F, self.bn1(self.conv_head(x)))))


def rounded(channels: float) -> int:
    """To a multiple of 8, and to no less than nine tenths of what was asked for."""
    nearest = max(8, int(channels + 4) // 8 * 8)
    return nearest + 8 if nearest < 0.9 * channels else nearest


def relu6(F, x):
    return F.clip(x, 0, 6)
