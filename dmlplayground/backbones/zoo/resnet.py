"""Residual networks of 18 and 50 layers, in the two arrangements that the study and other frameworks use."""

from __future__ import annotations

from .. import Preprocessing, register
from ..trunks import IMAGENET, Zoo, trunk

STUDY = Preprocessing(size=224, mean=(123.68, 116.779, 103.939), std=(58.393, 57.12, 57.375))


@register(
    "resnet50_v2",
    title="ResNet-50 v2 (pre-activation)",
    features=2048,
    preprocessing=STUDY,
    imagenet=Zoo("gluon", "resnet50_v2"),
)
def resnet50_v2():
    """The study's second backbone, from Gluon's zoo: batch-norm and relu come before each convolution."""
    return trunk("gluon", "resnet50_v2")


@register(
    "resnet18_v2",
    title="ResNet-18 v2 (pre-activation)",
    features=512,
    preprocessing=STUDY,
    imagenet=Zoo("gluon", "resnet18_v2"),
)
def resnet18_v2():
    """The small one of the same kind; the study's ensembles (DREML) are made of it."""
    return trunk("gluon", "resnet18_v2")


@register(
    "resnet50_v1b",
    title="ResNet-50 v1b",
    features=2048,
    preprocessing=IMAGENET,
    imagenet=Zoo("gluoncv", "resnet50_v1b"),
)
def resnet50_v1b():
    """The arrangement of torchvision and timm (stride in the 3 x 3 convolution), from gluoncv: weights of
    those frameworks load as they are."""
    return trunk("gluoncv", "resnet50_v1b")


@register(
    "resnet18_v1b",
    title="ResNet-18 v1b",
    features=512,
    preprocessing=IMAGENET,
    imagenet=Zoo("gluoncv", "resnet18_v1b"),
)
def resnet18_v1b():
    """ResNet-18 as torchvision and timm have it, from gluoncv."""
    return trunk("gluoncv", "resnet18_v1b")
