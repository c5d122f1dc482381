"""Which inner loops are used: compiled by numba where it is installed, else the same in plain NumPy."""

from __future__ import annotations

import functools


@functools.lru_cache(maxsize=None)
def kernels():
    """The module with the inner loops; both have the same functions with the same results."""
    try:
        from . import compiled as module
    except ImportError:  # numba is missing, or does not fit the NumPy at hand
        from . import plain as module
    return module
