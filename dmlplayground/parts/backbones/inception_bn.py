from .shared.base import KIND, Preprocessing
from .shared.weights.sources import Download, Homes

ARCHIVE, FILE = "/models/imagenet/inception-bn.tar.gz", "Inception-BN-0126.params"
SHA256 = "9f0d62e4adfde8bf3fef65ba20b3497e7845786b803fa8fed717602b9878ea03"


@KIND.register(
    "inception_bn",
    title="Inception-BN, as MXNet's model zoo trained it",
    also=("Inception v2", "Inception-BN-0126"),
    features=1024,
    parameters=10_270_240,
    preprocessing=Preprocessing(size=224, mean=(123.68, 116.779, 103.939)),
    imagenet=Homes(
        Download(f"http://data.mxnet.io{ARCHIVE}", FILE, SHA256),
        Download(f"http://data.mxnet.io.s3-website-us-west-1.amazonaws.com{ARCHIVE}", FILE, SHA256),
    ),
)
def of_mxnet():
    """The first study's backbone (Ioffe and Szegedy 2015). Its parameters have the names of Inception-BN-0126.params,
    which loads unchanged."""
    from .shared.inception_bn_layers import inception_bn

    return inception_bn(ceil_mode=False)


@KIND.register(
    "inception_bn_caffe",
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
def of_caffe():
    """The backbone of the Reality Check: the layers of inception_bn with poolings that round up and images in BGR. PyTorch
    users know its weights as BN-Inception."""
    from .shared.inception_bn_layers import inception_bn

    return inception_bn(ceil_mode=True)
