"""The trials of a large grid, which differ in a few values: what these leave as it is gets built and checked once.

Two things make that possible. A key is completed by itself, only ``optimizer`` and ``groups`` need each other; and a
check says by its parameters which keys it looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from ..errors import UserError
from . import building, checking, trial_ids
from .layers import expand, merge, nested, override
from .schema import COMPONENTS, FIELDS, Trial

__all__ = ["Variants", "free"]

Section = tuple[str, ...]
TOGETHER: Section = ("optimizer", "groups")


def free(key: str, value: Any) -> bool:
    """Whether nothing but this key's own part, and checks, depend on what it says: it gives no part another name, and
    is none of those that other layers look at.

    >>> dml.config.free("seed", 3), dml.config.free("method", "npairs")
    (True, False)
    """
    root, *rest = key.split(".")
    names_a_part = rest[-1:] == ["name"] or (not rest and root in COMPONENTS) or isinstance(value, Mapping)
    return root in FIELDS and root != "data" and not names_a_part


class Part(NamedTuple):
    """What a section of the configuration comes to."""

    values: dict[str, Any]
    departures: dict[str, str]


class Variants:
    """Trials that differ in the values of some free keys.

    >>> variants = Variants({"method": "npairs"}, keys=["seed", "optimizer.lr"])
    >>> variants.trial({"seed": 3, "optimizer.lr": 0.1}).optimizer["lr"]
    0.1
    """

    def __init__(
        self,
        given: Mapping[str, Any],
        overrides: Iterable[str] = (),
        keys: Iterable[str] = (),
        further: Iterable[Callable[..., None]] = (),
    ):
        """``further``: checks beside those of every trial."""
        overrides = list(overrides)
        self.said = building.layered(given, overrides)
        self.changes = merge(*(expand(override(text)) for text in overrides))
        self.sections: dict[Section, list[str]] = {}
        for key in keys:
            root = key.partition(".")[0]
            self.sections.setdefault(TOGETHER if root in TOGETHER else (root,), []).append(key)
        varied = {key for section in self.sections for key in section}
        fixed = {key: value for key, value in self.said.items() if key not in varied}
        self.fixed = _part(fixed)
        self.checks = [
            (check, [section for section in self.sections if set(section) & set(checking.looks_at(check))])
            for check in (*checking.CHECKS, *further)
        ]
        self._once: dict[Hashable, Any] = {}

    def trial(self, choice: Mapping[str, Any]) -> Trial:
        """The trial with these values of the free keys."""
        names = {section: repr([choice[key] for key in keys]) for section, keys in self.sections.items()}
        values, departures = dict(self.fixed.values), dict(self.fixed.departures)
        for section, name in names.items():
            part = self.once((section, name), self.part, section, choice)
            values.update(part.values)
            departures.update(part.departures)
        trial = Trial(**values)
        for check, sections in self.checks:
            self.once((check, *[names[section] for section in sections]), checking.run, check, trial)
        object.__setattr__(trial, "id", trial_ids.named(trial, departures))
        return trial

    def part(self, section: Section, choice: Mapping[str, Any]) -> Part:
        below = {key: self.said[key] for key in section if key in self.said}
        chosen = [nested(key, choice[key]) for key in self.sections[section]]
        changed = {key: self.changes[key] for key in section if key in self.changes}
        return _part(merge(below, *chosen, changed))

    def once(self, name: Hashable, make: Callable[..., Any], *given: Any) -> Any:
        """What ``make`` gave, or what it raised, when it was first called by this name."""
        if name not in self._once:
            try:
                self._once[name] = make(*given)
            except UserError as problem:
                self._once[name] = problem
        if isinstance(self._once[name], UserError):
            raise self._once[name].with_traceback(None)
        return self._once[name]


def _part(said: Mapping[str, Any]) -> Part:
    values = building.completed(said)
    return Part(values, trial_ids.texts(trial_ids.departures(values)))
