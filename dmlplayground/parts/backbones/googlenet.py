from .shared.base import IMAGENET, KIND
from .shared.weights.sources import Homes
from .shared.zoo_records import trunk, weights


@KIND.register(
    title="GoogLeNet with batch-norm",
    also=("Inception v1",),
    features=1024,
    parameters=5_599_904,
    preprocessing=IMAGENET,
    imagenet=Homes(weights("gluoncv", "googlenet"), licence="Apache-2.0"),
)
def build():
    """Inception v1 with batch-norm (Szegedy et al. 2015), from gluoncv."""
    return trunk("gluoncv", "googlenet")
