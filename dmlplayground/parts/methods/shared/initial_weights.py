"""A loss's own weights, described without MXNet: their shape and their initial values.

An initialiser is a function ``fill(nd, array)`` that fills the array with numbers of MXNet's generator.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

Fill = Callable[[Any, Any], None]
Start = Literal["normal", "uniform"]


class Weight(NamedTuple):
    """A loss's own weights, such as ``proxies`` or ``beta``; if not ``learned``, constants, saved with the others."""

    shape: tuple[int, ...]
    fill: Fill
    learned: bool = True


def constant(value: float) -> Fill:
    return lambda nd, array: nd.full(array.shape, value, out=array)


def normal(deviation: float) -> Fill:
    return lambda nd, array: nd.random.normal(0, deviation, out=array)


def uniform(limit: float) -> Fill:
    """Evenly between -limit and limit."""
    return lambda nd, array: nd.random.uniform(-limit, limit, out=array)
