"""Optimizers, one file each: how an array of weights moves along its gradient.

>>> import dmlplayground as dml
>>> dml.optimizers.create("adam", lr=1e-3).weight_decay
1e-05
"""

from .shared.base import HIGHEST, KIND, SHARED, Optimizer

__all__ = ["HIGHEST", "KIND", "SHARED", "Optimizer", "create", "get", "names"]

names, get, create = KIND.names, KIND.get, KIND.create
