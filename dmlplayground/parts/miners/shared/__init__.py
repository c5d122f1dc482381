"""What the parts of this folder have in common."""

from .base import KIND, Miner
from .tuples import Band, Cube, Listed, rank

__all__ = ["KIND", "Band", "Cube", "Listed", "Miner", "rank"]
