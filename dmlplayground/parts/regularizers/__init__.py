"""The regularizers: terms that can be added to any loss; one file each.

>>> import dmlplayground as dml
>>> term = dml.regularizers.create("embedding_norm", weight=0.005, power=1.0)
"""

from collections.abc import Mapping
from typing import Any

from ...base import registry
from .shared.base import KIND, Regularizer

__all__ = ["KIND", "Regularizer", "create", "get", "names", "of"]

names, get, create = KIND.names, KIND.get, KIND.create


def of(component: str | Mapping[str, Any]) -> Regularizer:
    """The regularizer that a configuration states: a name, or a mapping of name, weight and options.

    >>> dml.regularizers.of({"name": "embedding_norm", "weight": 0.01}).weight
    0.01
    """
    name, options = registry.split(component)
    return create(name, **options)
