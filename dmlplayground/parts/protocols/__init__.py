"""Protocols, one file each: which classes are trained on, what chooses an epoch, and which result counts.

>>> import dmlplayground as dml
>>> protocol = dml.protocols.create("validated", folds=4)
>>> [len(fold.train) for fold in protocol.folds(98)]
[74, 74, 74, 74]

A new file that registers a protocol is all it takes to add one. See ``base`` for what a protocol must provide.
"""

from __future__ import annotations

from typing import Any

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
    "KIND",
    "ClassFold",
    "Protocol",
    "ProtocolPart",
    "Trained",
    "UNTOUCHED",
    "UNTOUCHED_FEATURES",
    "UNTRAINED",
    "UNTRAINED_HEAD",
    "VALIDATION",
    "create",
    "get",
    "names",
]


def names() -> list[str]:
    """The keys of all protocols, sorted.

    >>> "validated" in dml.protocols.names()
    True
    """
    return KIND.names()


def get(name: str) -> ProtocolPart:
    """The record of a protocol: its title, its options, its results and which of them leads.

    >>> dml.protocols.get("validated").watches
    'validation'
    """
    return KIND.get(name)


def create(name: str, **options: Any) -> Protocol:
    """A protocol by name; options that are not given have their defaults.

    >>> dml.protocols.create("validated", folds=4).trainings
    4
    """
    protocol: Protocol = KIND.create(name, **options)
    return protocol
