from .shared.base import KIND, Preprocessing
from .shared.weights.sources import Download, Homes


@KIND.register(
    title="Inception-BN, as Caffe trained it",
    also=("bn_inception",),
    features=1024,
    parameters=10_270_240,
    preprocessing=Preprocessing(size=224, mean=(104.0, 117.0, 128.0), channels="bgr"),
    imagenet=Homes(
        Download(
            "http://data.lip6.fr/cadene/pretrainedmodels/bn_inception-52deb4733.pth",
            "bn_inception-52deb4733.pth",
            content="52deb473314542a5c2f87e9e6f26f4ca42fe863d15f986414dbae8c2dfdd2353",
        ),
    ),
)
def build():
    """The backbone of the Reality Check: the layers of inception_bn with poolings that round up and images in BGR. PyTorch
    users know its weights as BN-Inception."""
    from .shared.networks.inception_bn import inception_bn

    return inception_bn(ceil_mode=True)
