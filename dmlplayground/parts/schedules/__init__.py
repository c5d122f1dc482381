"""Schedules, one file each: what the learning rate is multiplied by during training.

>>> import dmlplayground as dml
>>> schedule = dml.schedules.create("step", factor=0.5, steps=[2, 4])
>>> [schedule.scale(epoch, epochs=4) for epoch in (1, 2, 3, 4)]
[1.0, 0.5, 0.5, 0.25]

A new file that registers a schedule is all it takes to add one. See ``base`` for what a schedule must provide.
"""

from __future__ import annotations

from typing import Any

from ...base.registry import Part
from .shared.base import KIND, Schedule

__all__ = ["KIND", "Schedule", "create", "get", "names"]


def names() -> list[str]:
    """The keys of all schedules, sorted.

    >>> "cosine" in dml.schedules.names()
    True
    """
    return KIND.names()


def get(name: str) -> Part:
    """The facts of a schedule: its title, its options, its notes.

    >>> list(dml.schedules.get("step").options)
    ['moves', 'rise', 'factor', 'steps', 'every']
    """
    return KIND.get(name)


def create(name: str, **options: Any) -> Schedule:
    """A schedule by name; options that are not given have their defaults.

    >>> dml.schedules.create("constant").moves
    'step'
    """
    schedule: Schedule = KIND.create(name, **options)
    return schedule
