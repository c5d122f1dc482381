"""Protocols, one file each: which classes are trained on, what chooses an epoch, and which result counts.

>>> import dmlplayground as dml
>>> protocol = dml.protocols.create("validated", folds=4)
>>> [len(fold.train) for fold in protocol.folds(98)]
[74, 74, 74, 74]
"""

from .shared.base import (
    KIND,
    UNTOUCHED,
    UNTOUCHED_FEATURES,
    UNTRAINED,
    UNTRAINED_HEAD,
    VALIDATION,
    ClassFold,
    Protocol,
    ProtocolPart,
    Trained,
)

__all__ = [
    "KIND", "ClassFold", "Protocol", "ProtocolPart", "Trained", "UNTOUCHED", "UNTOUCHED_FEATURES", "UNTRAINED",
    "UNTRAINED_HEAD", "VALIDATION", "create", "get", "names",
]  # fmt: skip

names, get, create = KIND.names, KIND.get, KIND.create
