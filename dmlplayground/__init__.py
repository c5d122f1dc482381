"""Deep metric learning, compared fairly: the methods of three studies under one trainer, on MXNet/Gluon.

Import this before ``mxnet``: it lets the retired MXNet work with a present-day NumPy (see ``compat``).
Everything else is loaded when it is first asked for.
"""

from __future__ import annotations

import importlib

from .base import compat

__version__ = "0.2.0"

_MODULES = {
    name: f"parts.{name}"
    for name in (
        "augmentations",
        "backbones",
        "data",
        "methods",
        "metrics",
        "optimizers",
        "protocols",
        "regularizers",
        "samplers",
        "schedules",
        "transforms",
    )
}
_MODULES |= {
    "config": "trial.config",
    "hyperparams": "trial.hyperparams",
    "mining": "parts.miners",
    "records": "trial.store.records",
}
_FUNCTIONS = {
    "check": "trial.conformance",
    "train": "trial.training",
    "evaluate": "trial.training",
    "sweep": "sweeps",
    "tune": "sweeps",
    "load": "serving",
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
