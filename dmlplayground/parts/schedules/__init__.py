"""Schedules, one file each: what the learning rate is multiplied by during training.

>>> import dmlplayground as dml
>>> schedule = dml.schedules.create("step", factor=0.5, steps=[2, 4])
>>> [schedule.scale(epoch, epochs=4) for epoch in (1, 2, 3, 4)]
[1.0, 0.5, 0.5, 0.25]
"""

from .shared.base import KIND, Schedule

__all__ = ["KIND", "Schedule", "create", "get", "names"]

names, get, create = KIND.names, KIND.get, KIND.create
