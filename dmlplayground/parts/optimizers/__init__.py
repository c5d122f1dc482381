"""Optimizers, one file each: how an array of weights moves along its gradient.

>>> import dmlplayground as dml
>>> dml.optimizers.create("adam", lr=1e-3).weight_decay
1e-05

A new file that registers an optimizer is all it takes to add one. See ``base`` for what an optimizer must provide.
"""

from .shared.base import HIGHEST, KIND, SHARED, Optimizer

__all__ = ["HIGHEST", "KIND", "SHARED", "Optimizer", "create", "get", "names"]

names, get, create = KIND.names, KIND.get, KIND.create
