"""The trials of a large grid differ in a few values. Everything else is built and checked only once.

Two things make that possible. A key is completed without the others, except that ``groups`` need the ``optimizer``.
And the parameters of a check are the keys that it looks at; checks of groups look at one group at a time.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from ...base.errors import UserError
from ...parts.layers import COMPONENTS, expand, merge, nested, override
from . import building, checking, trial_ids
from .schema import FIELDS, Groups, Trial

Section = tuple[str, ...]  # keys that are completed together
TOGETHER: Section = ("optimizer", "groups")


def independent(key: str, value: Any) -> bool:
    """Whether only the key's own part and checks depend on its value. That is so unless it names a part, or other
    layers look at it.

    >>> dml.config.independent("seed", 3), dml.config.independent("method", "npairs")
    (True, False)
    """
    root, *rest = key.split(".")
    names_a_part = rest[-1:] == ["name"] or (not rest and root in COMPONENTS) or isinstance(value, Mapping)
    return root in FIELDS and root not in ("data", "search") and not names_a_part


class SectionValues(NamedTuple):
    """What a section of the configuration comes to."""

    values: dict[str, Any]
    departures: dict[str, str]
    groups: dict[str, Any]
    of_groups: dict[str, str]  # their departures


class Variants:
    """Trials that differ in the values of some independent keys.

    >>> variants = Variants({"method": "npairs"}, keys=["seed", "optimizer.lr"])
    >>> variants.trial({"seed": 3, "optimizer.lr": 0.1}).optimizer["lr"]
    0.1
    """

    def __init__(
        self,
        given: Mapping[str, Any],
        overrides: Iterable[str] = (),
        keys: Iterable[str] = (),
        more_checks: Iterable[Callable[..., None]] = (),
    ):
        """``more_checks``: checks beside those of every trial."""
        overrides = list(overrides)
        self.said = building.layered(given, overrides)
        self.changes = merge(*(expand(override(text)) for text in overrides))
        self.sections = _sections(list(keys), self.said)
        varied = {_root(key) for section in self.sections for key in section}
        fixed = {key: value for key, value in self.said.items() if key not in varied}
        self.fixed = _part(fixed)
        checks = [(check, set(checking.looks_at(check))) for check in (*checking.CHECKS, *more_checks)]
        self.group_checks = [one for one, keys in checks if TOGETHER in self.sections and keys <= {*TOGETHER}]
        self.checks = [
            (check, [section for section in self.sections if keys & {*map(_root, section)}])
            for check, keys in checks
            if check not in self.group_checks
        ]
        self._results: dict[Hashable, Any] = {}

    def trial(self, choice: Mapping[str, Any]) -> Trial:
        """The trial with these values of the independent keys."""
        names = {section: repr([choice[key] for key in keys]) for section, keys in self.sections.items()}
        values, departures, groups, of_groups = map(dict, self.fixed)
        for section, name in names.items():
            part = self.remembered((section, name), self.part, section, choice)
            values.update(part.values)
            departures.update(part.departures)
            groups.update(part.groups)
            of_groups.update(part.of_groups)
        values["groups"] = Groups(**groups)
        if parts := building.own_parts(values):
            values["parts"] = parts
            departures.update(trial_ids.texts(trial_ids.departures({"parts": parts})))
        if of_groups:
            departures["groups"] = trial_ids.as_text(of_groups)
        trial = Trial(**values)
        for check, sections in self.checks:
            self.remembered((check, *[names[each] for each in sections]), checking.run, check, vars(trial))
        object.__setattr__(trial, "id", trial_ids.named(trial, departures))
        return trial

    def part(self, section: Section, choice: Mapping[str, Any]) -> SectionValues:
        chosen = [nested(key, choice[key]) for key in self.sections[section]]
        said, changes = (self.of_section(section, layer) for layer in (self.said, self.changes))
        part = _part(merge(said, *chosen, changes))
        if section[0] in TOGETHER:
            for check in self.group_checks:
                checking.run(check, {**part.values, "groups": Groups(**part.groups)})
        if group := _group(section[-1]):  # what else it needed is part of TOGETHER
            own = {name: text for name, text in part.of_groups.items() if name == group}
            return SectionValues({}, {}, {group: part.groups[group]}, own)
        return part

    def of_section(self, section: Section, layer: Mapping[str, Any]) -> dict[str, Any]:
        """What a layer says of a section."""
        found = {key: layer[key] for key in map(_root, section) if key in layer}
        alone = {_group(key) for each in self.sections for key in each} - {""}
        if alone and "groups" in found:
            wanted = {_group(section[-1])} if _group(section[-1]) else found["groups"].keys() - alone
            found["groups"] = {name: own for name, own in found["groups"].items() if name in wanted}
        return found

    def remembered(self, name: Hashable, make: Callable[..., Any], *given: Any) -> Any:
        """What ``make`` returned or raised when it was first called under this name."""
        if name not in self._results:
            try:
                self._results[name] = make(*given)
            except UserError as problem:
                self._results[name] = problem
        if isinstance(self._results[name], UserError):
            raise self._results[name].with_traceback(None)
        return self._results[name]


def _sections(keys: list[str], said: Mapping[str, Any]) -> dict[Section, list[str]]:
    """The keys by their sections. A group that has some is a section of its own, with the optimizer, which it needs: then
    the combinations of several groups' values need not be gone through."""
    apart = "groups" not in keys and isinstance(said["groups"], Mapping)
    sections: dict[Section, list[str]] = {}
    alone: dict[Section, list[str]] = {}
    for key in keys:
        if apart and (group := _group(key)):
            alone.setdefault(("optimizer", f"groups.{group}"), []).append(key)
        else:
            root = _root(key)
            sections.setdefault(TOGETHER if root in TOGETHER else (root,), []).append(key)
    if alone:
        shared = sections.setdefault(TOGETHER, [])
        sections.update({section: [*shared, *own] for section, own in alone.items()})
    return sections


def _root(key: str) -> str:
    return key.partition(".")[0]


def _group(key: str) -> str:
    """The group that a key belongs to, if any: ``head`` of ``groups.head.lr``."""
    root, *rest = key.split(".")
    return rest[0] if rest and root == "groups" else ""


def _part(said: Mapping[str, Any]) -> SectionValues:
    values = building.completed(said)
    departures = trial_ids.departures(values)
    of_groups = trial_ids.texts(departures.pop("groups", {}))
    groups = vars(values.pop("groups")) if "groups" in values else {}
    return SectionValues(values, trial_ids.texts(departures), dict(groups), of_groups)
