"""What the parts of this folder have in common."""

from . import initial_weights, usual_settings
from .base import KIND, Loss, Reads
from .proxy_classifier import AngleMultiplied, Classifier
from .search_ranges import (
    ANY_BATCH,
    CLASS_BLOCKS,
    LENGTH,
    MARGIN,
    NEGATIVE,
    OWN_RATE,
    POSITIVE,
    about,
    between,
    blocks,
    one_of,
    scaled,
)

__all__ = [
    "ANY_BATCH", "CLASS_BLOCKS", "KIND", "LENGTH", "MARGIN", "NEGATIVE", "OWN_RATE", "POSITIVE",
    "AngleMultiplied", "Classifier", "Loss", "Reads", "about", "between", "blocks", "initial_weights",
    "one_of", "scaled", "usual_settings",
]  # fmt: skip
