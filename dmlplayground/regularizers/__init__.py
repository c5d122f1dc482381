"""The regularisers: terms that can be added to any loss; one file each.

>>> import dmlplayground as dml
>>> term = dml.regularizers.create("embedding_norm", weight=0.005, power=1.0)
"""

from __future__ import annotations

from .base import KIND, Regularizer

__all__ = ["KIND", "Regularizer", "create", "get", "names"]

names = KIND.names
get = KIND.get
create = KIND.create
