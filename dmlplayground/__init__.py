"""Deep metric learning, compared fairly: the methods of three studies under one trainer, on MXNet/Gluon.

Import this before ``mxnet``: it lets the retired MXNet work with a present-day NumPy (see ``base.compat``).
Everything else is loaded when it is first asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

from .base import compat

if TYPE_CHECKING:
    from .parts import augmentations as augmentations
    from .parts import backbones as backbones
    from .parts import data as data
    from .parts import methods as methods
    from .parts import metrics as metrics
    from .parts import miners as mining
    from .parts import optimizers as optimizers
    from .parts import protocols as protocols
    from .parts import regularizers as regularizers
    from .parts import samplers as samplers
    from .parts import schedules as schedules
    from .parts import transforms as transforms
    from .reports import report as report
    from .reports.compare import compare as compare
    from .reports.place import place as place
    from .serving import Index as Index
    from .serving import load as load
    from .sweeps import sweep as sweep
    from .sweeps import tune as tune
    from .trial import config as config
    from .trial import hyperparams as hyperparams
    from .trial.store import records as records
    from .trial.training import evaluate as evaluate
    from .trial.training import train as train

__version__ = "0.3.0"

#: Where each public name is defined: a module, or a function of a module.
_MODULES = {
    "augmentations": "parts.augmentations",
    "backbones": "parts.backbones",
    "config": "trial.config",
    "data": "parts.data",
    "hyperparams": "trial.hyperparams",
    "methods": "parts.methods",
    "metrics": "parts.metrics",
    "mining": "parts.miners",
    "optimizers": "parts.optimizers",
    "protocols": "parts.protocols",
    "records": "trial.store.records",
    "regularizers": "parts.regularizers",
    "samplers": "parts.samplers",
    "schedules": "parts.schedules",
    "transforms": "parts.transforms",
}
_FUNCTIONS = {
    "bundle": "trial.bundles",
    "check": "trial.conformance",
    "verify": "trial.bundles",
    "train": "trial.training",
    "evaluate": "trial.training",
    "sweep": "sweeps",
    "tune": "sweeps",
    "Index": "serving",
    "load": "serving",
    "report": "reports",
    "compare": "reports",
    "place": "reports.place",
}
__all__ = [
    "Index", "__version__", "augmentations", "backbones", "compare", "config", "data", "evaluate", "hyperparams", "load",
    "methods", "metrics", "mining", "optimizers", "place", "protocols", "records", "regularizers", "report", "samplers",
    "schedules", "sweep", "train", "transforms", "tune",
]  # fmt: skip

compat.install()


if not TYPE_CHECKING:  # a type checker reads the imports above, and sees a misspelt name

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return importlib.import_module(f"{__name__}.{_MODULES[name]}")
        if name in _FUNCTIONS:
            return getattr(importlib.import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
