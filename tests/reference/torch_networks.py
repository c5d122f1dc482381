"""The networks as PyTorch users know them, written from their papers and released layouts: names, strides,
poolings.

Independent of this package and of MXNet, and run by itself in the interpreter that has PyTorch.
"""

import torch
from torch import nn
from torch.nn import functional as F


def randomise(network: nn.Module, seed: int) -> nn.Module:
    """Weights that keep activations in range, and batch-norm parameters and statistics that all differ from
    their defaults."""
    generator = torch.Generator().manual_seed(seed)
    for layer in network.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            fan = layer.weight[0].numel()
            layer.weight.data.normal_(0, (2 / fan) ** 0.5, generator=generator)
            if layer.bias is not None:
                layer.bias.data.normal_(0, 0.1, generator=generator)
        elif isinstance(layer, nn.BatchNorm2d):
            layer.weight.data.uniform_(0.5, 1.0, generator=generator)
            layer.bias.data.normal_(0, 0.1, generator=generator)
            layer.running_mean.normal_(0, 0.1, generator=generator)
            layer.running_var.uniform_(0.5, 1.5, generator=generator)
    return network.eval()


# --- BN-Inception, in Caffe's arrangement -------------------------------------------------------------------

MIXED = {  # 1x1; 3x3 reduce, 3x3; double reduce, double; pooling, projection. Without 1x1: stride 2
    "3a": (64, 64, 64, 64, 96, "avg", 32),
    "3b": (64, 64, 96, 64, 96, "avg", 64),
    "3c": (0, 128, 160, 64, 96, "max", 0),
    "4a": (224, 64, 96, 96, 128, "avg", 128),
    "4b": (192, 96, 128, 96, 128, "avg", 128),
    "4c": (160, 128, 160, 128, 160, "avg", 128),
    "4d": (96, 128, 192, 160, 192, "avg", 128),
    "4e": (0, 128, 192, 192, 256, "max", 0),
    "5a": (352, 192, 320, 160, 224, "avg", 128),
    "5b": (352, 192, 320, 192, 224, "max", 128),
}


class BNInception(nn.Module):
    def __init__(self, classes: int = 1000):
        super().__init__()
        self._unit("conv1_7x7_s2", 3, 64, 7, 2, 3)
        self._unit("conv2_3x3_reduce", 64, 64, 1)
        self._unit("conv2_3x3", 64, 192, 3, 1, 1)
        width = 192
        for name, (single, reduce3, triple, reduce5, double, _, projection) in MIXED.items():
            stride = 1 if single else 2
            place = f"inception_{name}_"
            if single:
                self._unit(place + "1x1", width, single, 1)
            self._unit(place + "3x3_reduce", width, reduce3, 1)
            self._unit(place + "3x3", reduce3, triple, 3, stride, 1)
            self._unit(place + "double_3x3_reduce", width, reduce5, 1)
            self._unit(place + "double_3x3_1", reduce5, double, 3, 1, 1)
            self._unit(place + "double_3x3_2", double, double, 3, stride, 1)
            if projection:
                self._unit(place + "pool_proj", width, projection, 1)
            width = single + triple + double + (projection or width)
        self.last_linear = nn.Linear(width, classes)

    def _unit(self, name, inputs, outputs, kernel, stride=1, padding=0):
        setattr(self, name, nn.Conv2d(inputs, outputs, kernel, stride, padding))
        setattr(self, name + "_bn", nn.BatchNorm2d(outputs))

    def _apply_unit(self, name, x):
        return F.relu(getattr(self, name + "_bn")(getattr(self, name)(x)))

    def features(self, x):
        x = F.max_pool2d(self._apply_unit("conv1_7x7_s2", x), 3, 2, ceil_mode=True)
        x = self._apply_unit("conv2_3x3", self._apply_unit("conv2_3x3_reduce", x))
        x = F.max_pool2d(x, 3, 2, ceil_mode=True)
        for name, (single, _, _, _, _, kind, projection) in MIXED.items():
            x = self._mixed(f"inception_{name}_", x, single, kind, projection)
        return x.mean((2, 3))

    def _mixed(self, place, x, single, kind, projection):
        triple = self._apply_unit(place + "3x3", self._apply_unit(place + "3x3_reduce", x))
        double = x
        for part in ("double_3x3_reduce", "double_3x3_1", "double_3x3_2"):
            double = self._apply_unit(place + part, double)
        if not single:
            return torch.cat([triple, double, F.max_pool2d(x, 3, 2, ceil_mode=True)], 1)
        pooled = F.avg_pool2d(x, 3, 1, 1) if kind == "avg" else F.max_pool2d(x, 3, 1, 1)
        return torch.cat(
            [
                self._apply_unit(place + "1x1", x),
                triple,
                double,
                self._apply_unit(place + "pool_proj", pooled),
            ],
            1,
        )


# --- residual networks, in torchvision's arrangement --------------------------------------------------------


class Residual(nn.Module):
    """``kernels`` (3, 3) is the basic block, (1, 3, 1) the bottleneck; the first 3 x 3 has the stride."""

    def __init__(self, inputs: int, width: int, outputs: int, kernels: tuple[int, ...], stride: int):
        super().__init__()
        sizes = [inputs, *[width] * (len(kernels) - 1), outputs]
        self.count = len(kernels)
        strided = kernels.index(3)
        for i, kernel in enumerate(kernels):
            step = stride if i == strided else 1
            conv = nn.Conv2d(sizes[i], sizes[i + 1], kernel, step, kernel // 2, bias=False)
            setattr(self, f"conv{i + 1}", conv)
            setattr(self, f"bn{i + 1}", nn.BatchNorm2d(sizes[i + 1]))
        self.downsample = None
        if stride != 1 or inputs != outputs:
            conv = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.downsample = nn.Sequential(conv, nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = x
        for i in range(1, self.count + 1):
            y = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(y))
            y = F.relu(y) if i < self.count else y
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self, depth: int, classes: int = 1000):
        super().__init__()
        counts, kernels, widening = {18: ((2, 2, 2, 2), (3, 3), 1), 50: ((3, 4, 6, 3), (1, 3, 1), 4)}[depth]
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        inputs = 64
        for stage, count in enumerate(counts):
            width = 64 * 2**stage
            blocks = []
            for number in range(count):
                stride = 2 if stage and not number else 1
                blocks.append(Residual(inputs, width, width * widening, kernels, stride))
                inputs = width * widening
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(inputs, classes)

    def features(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = stage(x)
        return x.mean((2, 3))


# --- EfficientNet-Lite0 -------------------------------------------------------------------------------------


def _same(x, conv):
    """TensorFlow's padding: as much as the output size needs, the odd pixel at the end."""
    kernel, stride = conv.kernel_size[0], conv.stride[0]
    need = [max((-(-size // stride) - 1) * stride + kernel - size, 0) for size in x.shape[2:]]
    return conv(F.pad(x, (need[1] // 2, need[1] - need[1] // 2, need[0] // 2, need[0] - need[0] // 2)))


class MobileBlock(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride, expansion):
        super().__init__()
        width = inputs * expansion
        self.residual = stride == 1 and inputs == outputs
        self.expands = expansion > 1
        if self.expands:
            self._expand_conv = nn.Conv2d(inputs, width, 1, bias=False)
            self._bn0 = nn.BatchNorm2d(width, eps=1e-3)
        self._depthwise_conv = nn.Conv2d(width, width, kernel, stride, groups=width, bias=False)
        self._bn1 = nn.BatchNorm2d(width, eps=1e-3)
        self._project_conv = nn.Conv2d(width, outputs, 1, bias=False)
        self._bn2 = nn.BatchNorm2d(outputs, eps=1e-3)

    def forward(self, x):
        y = F.relu6(self._bn0(self._expand_conv(x))) if self.expands else x
        y = F.relu6(self._bn1(_same(y, self._depthwise_conv)))
        y = self._bn2(self._project_conv(y))
        return x + y if self.residual else y


class EfficientNetLite0(nn.Module):
    def __init__(self, classes: int = 1000):
        super().__init__()
        self._conv_stem = nn.Conv2d(3, 32, 3, 2, bias=False)
        self._bn0 = nn.BatchNorm2d(32, eps=1e-3)
        plan = [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80)]
        plan += [(3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320)]
        blocks, inputs = [], 32
        for count, kernel, stride, expansion, outputs in plan:
            for number in range(count):
                blocks.append(MobileBlock(inputs, outputs, kernel, 1 if number else stride, expansion))
                inputs = outputs
        self._blocks = nn.ModuleList(blocks)
        self._conv_head = nn.Conv2d(inputs, 1280, 1, bias=False)
        self._bn1 = nn.BatchNorm2d(1280, eps=1e-3)
        self._fc = nn.Linear(1280, classes)

    def features(self, x):
        x = F.relu6(self._bn0(_same(x, self._conv_stem)))
        for block in self._blocks:
            x = block(x)
        return F.relu6(self._bn1(self._conv_head(x))).mean((2, 3))


NETWORKS = {
    "inception_bn_caffe": BNInception,
    "resnet50_v1b": lambda: ResNet(50),
    "resnet18_v1b": lambda: ResNet(18),
    "efficientnet_lite0": EfficientNetLite0,
}
