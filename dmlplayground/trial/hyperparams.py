"""The published settings of the studies, and searched ones, by name: ``config.recipes`` says how they are written.

>>> import dmlplayground as dml
>>> dml.hyperparams.load("npairs", dataset="cub200")["backbone"]["name"]
'inception_bn'
"""

from typing import Any

from ..parts import methods
from ..parts.layers import dotted, expand
from ..studies.recipes import (
    COMMON,
    SOURCES,
    WINNER,
    Hyperparams,
    Name,
    Reported,
    Settings,
    Value,
    find,
    layer,
    names,
    of_method,
    read,
    resolve,
    studies,
)
from . import config
from .config.schema import Trial

__all__ = [
    "COMMON", "SOURCES", "Hyperparams", "Name", "Reported", "Settings", "Value", "WINNER", "describe", "find",
    "layer", "load", "names", "of_method", "read", "resolve", "studies",
]  # fmt: skip


def load(
    method: str, *, dataset: str, backbone: str | None = None, study: str = "fehervari2019"
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


def describe(method: str, settings: Settings) -> dict[str, Value]:
    """Every value that the method or the recipe sets, with its source, by its dotted key.

    >>> found = dml.hyperparams.find("fehervari2019", "npairs", "cub200")
    >>> dml.hyperparams.describe("npairs", found)["embed_dim"].value
    64
    """
    record = methods.get(method)
    own = {f"method.{key}": option.default for key, option in record.options.items()}
    own.update(dotted({"embed_dim": Trial.embed_dim, **expand(record.configuration)}))
    values = {key: Value(value, settings.source) for key, value in own.items()}
    return settings.over(Settings(values=values)).values
