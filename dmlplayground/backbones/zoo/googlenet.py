from __future__ import annotations

from .. import register
from ..trunks import IMAGENET, Zoo, trunk


@register(
    "googlenet",
    title="GoogLeNet with batch-norm",
    features=1024,
    preprocessing=IMAGENET,
    imagenet=Zoo("gluoncv", "googlenet"),
)
def build():
    """Inception v1 with batch-norm (Szegedy et al. 2015), from gluoncv."""
    return trunk("gluoncv", "googlenet")
