"""Deep metric learning, compared fairly: the methods of three studies under one trainer, on MXNet/Gluon.

Import this before ``mxnet``: it lets the retired MXNet work with a present-day NumPy (see ``compat``).
Everything else is loaded when it is first asked for.
"""

from __future__ import annotations

import importlib

from . import compat

__version__ = "0.2.0"

_MODULES = {
    name: name
    for name in (
        "augmentations",
        "backbones",
        "config",
        "data",
        "hyperparams",
        "methods",
        "metrics",
        "mining",
        "optimizers",
        "protocols",
        "regularizers",
        "samplers",
        "schedules",
        "transforms",
    )
}
_MODULES["records"] = "store.records"
_FUNCTIONS = {
    "train": "training",
    "evaluate": "training",
    "sweep": "sweeps",
    "tune": "sweeps",
    "load": "trained",
    "report": "reports",
    "compare": "reports",
}
__all__ = ["__version__", *_MODULES, *_FUNCTIONS]

compat.install()


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{_MODULES[name]}")
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
