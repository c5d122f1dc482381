"""Which inner loops are used: compiled by numba where it is installed, else the same in plain NumPy."""

from __future__ import annotations

import functools
import importlib
from types import ModuleType


@functools.cache
def loops() -> ModuleType:
    """The module with the inner loops; both have the same functions with the same results."""
    try:
        return importlib.import_module(".loops_in_numba", __package__)
    except ImportError:  # numba is missing, or does not fit the NumPy at hand
        return importlib.import_module(".loops_in_numpy", __package__)
