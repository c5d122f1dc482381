"""What the parts of this folder have in common."""

from .base import KIND, BatchSampler, View, need_blocks, need_classes
from .looking import Coreset, Matching

__all__ = ["KIND", "BatchSampler", "Coreset", "Matching", "View", "need_blocks", "need_classes"]
