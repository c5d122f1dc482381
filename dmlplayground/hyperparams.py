"""The published settings of the studies, and searched ones, by name: ``config.recipes`` says how they are written.

>>> import dmlplayground as dml
>>> dml.hyperparams.load("npairs", dataset="cub200")["backbone"]["name"]
'inception_bn'
"""

from __future__ import annotations

from typing import Any, Optional

from . import config
from .config.recipes import (
    COMMON,
    FORMER_NAMES,
    SOURCES,
    WINNER,
    Hyperparams,
    Name,
    Reported,
    Settings,
    Value,
    describe,
    find,
    layer,
    names,
    of_method,
    read,
    resolve,
    studies,
)

__all__ = [
    "COMMON",
    "FORMER_NAMES",
    "SOURCES",
    "Hyperparams",
    "Name",
    "Reported",
    "Settings",
    "Value",
    "WINNER",
    "describe",
    "find",
    "layer",
    "load",
    "names",
    "of_method",
    "read",
    "resolve",
    "studies",
]


def load(
    method: str,
    *,
    dataset: str,
    backbone: Optional[str] = None,
    study: str = "fehervari2019",
) -> dict[str, Any]:
    """The whole configuration of a trial with published or tuned settings, every value spelt out.

    ``method`` may be any row of the study, such as ``multi_similarity_with_miner``, or ``data set/row``. Without a
    ``backbone`` it is the recipe's own. Override values as of any configuration:
    ``dml.train(dml.config.merge(dml.hyperparams.load(...), {"epochs": 3}))``.

    >>> dml.hyperparams.load("npairs", dataset="cub200", study="fehervari2019")["optimizer"]["lr"]
    0.0001
    """
    name = resolve(f"{study}/{method}", "", dataset)
    given: dict[str, Any] = {"method": read(name).method, "data": dataset, "hyperparams": str(name)}
    return config.trial({**given, "backbone": backbone} if backbone else given).mapping()
