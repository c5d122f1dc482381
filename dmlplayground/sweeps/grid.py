"""An experiment file: a grid of trials in a few lines.

title: Embedding sizes
like: quickstart                              # start from another experiment, and change what follows
base: {backbone: conv4, epochs: 20}           # for every trial; hyperparams: fehervari2019 has published values
grid:                                         # every combination of these keys, dotted where nested
  method: [npairs, margin]                    # or: all
  optimizer.lr: [1e-4, 1e-5]
methods: {margin: {batch_size: 120}}          # settings of one method
exclude: [{method: margin, embed_dim: 128}]   # combinations to leave out; a list means any of these
include: [{method: npairs, embed_dim: 512}]   # more grids, which share the axes that they do not name
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from ..base import resources
from ..base.errors import UserError, unknown
from ..base.options import build
from ..parts import data as datasets
from ..parts import methods
from ..trial import config
from ..trial.config import Named, Trial
from . import checks, derived_files

Choice = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    title: str
    about: str = ""
    base: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, Any] = field(default_factory=dict)
    methods: dict[str, dict[str, Any]] = field(default_factory=dict)
    exclude: list[dict[str, Any]] = field(default_factory=list)
    include: list[dict[str, Any]] = field(default_factory=list)

    def choices(self) -> list[Choice]:
        """Every combination the grid asks for, as dotted keys with one value each."""
        main = [] if self.include and not self.grid else _combinations(self.grid)
        family = _families(self)
        kept = [row for row in main if not any(family(row).matches(row, rule) for rule in self.exclude)]
        included = (_combinations({**self.grid, **further}) for further in self.include)
        return kept + [row for rows in included for row in rows]

    def _empty(self, rules: Iterable[Mapping[str, Any]], where: Iterable[str]) -> UserError:
        """Why no trial is left: a rule asks for what no trial has."""
        facts = [_facts(self.configuration(choice)) for choice in self.choices()]
        for key, value in (pair for rule in rules for pair in config.dotted(rule).items()):
            there = {str(each[key]) for each in facts if key in each}
            if not there and facts:
                return unknown("key of the grid's trials:", key, {key for each in facts for key in each})
            asked = value if isinstance(value, list) else [value]
            if facts and not there.intersection(map(str, asked)):
                return unknown(f"{key} in this grid:", value, there)
        return UserError("the grid is empty" + (f" where {', '.join(where)}." if where else "."))

    def trials(self, where: Iterable[str] = (), overrides: Iterable[str] = ()) -> list[Trial]:
        """The trials, each once. All that cannot work are reported together, before anything runs."""
        where = list(where)
        rules = [config.override(text, flag="--where") for text in where]
        family = _families(self, overrides)
        trials: dict[str, Trial] = {}
        names: dict[str, str] = {}
        problems = []
        for choice in self.choices():
            if not all(family(choice).matches(choice, rule) for rule in rules):
                continue
            name = ", ".join(f"{key} {value}" for key, value in choice.items())
            try:
                trial = family(choice).trial(choice)
                trials[trial.id], names[trial.id] = trial, name
            except UserError as problem:
                problems.append((name, problem))
        if problems:
            further = checks.problems(list(trials.values()), here=False, notes=[])
            raise checks.cannot_run([*problems, *((names[id], problem) for id, problem in further)])
        if not trials:
            raise self._empty(rules, where)
        return list(trials.values())

    def changed(self, name: str, overrides: Iterable[str]) -> "Experiment":
        """The experiment as it is called where settings were changed. What is said of it may not be true of other data."""
        said = ", ".join(overrides)
        if any("data" in config.override(text) for text in overrides):
            return replace(self, title=f"{name}, with {said}", about="")
        return replace(self, title=f"{self.title}, with {said}")

    def configuration(self, choice: Choice) -> dict[str, Any]:
        chosen = config.merge(*(config.expand(config.nested(key, value)) for key, value in choice.items()))
        method = chosen.get("method")
        name = method.get("name") if isinstance(method, Mapping) else None
        own = self.methods.get(name, {}) if isinstance(name, str) else {}
        return config.merge(config.expand(self.base), config.expand(own), chosen)


class _Family:
    """The choices of a grid that differ in free keys alone: what they have in common is found once."""

    def __init__(self, experiment: Experiment, rest: Choice, keys: Iterable[str], overrides: Iterable[str]):
        self.given = experiment.configuration(rest)
        self.facts = _facts(self.given)
        self.keys, self.overrides = keys, overrides

    def matches(self, choice: Choice, rule: Mapping[str, Any]) -> bool:
        """Whether it has every value of the rule; a list in the rule means any of these."""
        facts = {**self.facts, **{key: choice[key] for key in self.keys}}
        return all(
            key in facts and (facts[key] in value if isinstance(value, list) else facts[key] == value)
            for key, value in config.dotted(rule).items()
        )

    def trial(self, choice: Choice) -> Trial:
        if isinstance(self.variants, UserError):
            raise self.variants.with_traceback(None)
        return self.variants.trial(choice)

    @cached_property
    def variants(self) -> config.Variants | UserError:
        return checks.answer(config.Variants, self.given, self.overrides, self.keys, [_check_release])


def _families(experiment: Experiment, overrides: Iterable[str] = ()) -> Callable[[Choice], _Family]:
    """A function that gives the family of a choice."""

    def root(key: str) -> str:
        return key.partition(".")[0]

    free = config.independent
    found: dict[str, _Family] = {}
    said = [config.dotted(config.override(text)) for text in overrides]
    bound = {root(key) for each in said for key, value in each.items() if not free(key, value)}

    def family(choice: Choice) -> _Family:
        keys = [key for key, value in choice.items() if free(key, value) and root(key) not in bound]
        rest = {key: value for key, value in choice.items() if key not in keys}
        name = repr((rest, keys))
        if name not in found:
            found[name] = _Family(experiment, rest, keys, overrides)
        return found[name]

    return family


def _check_release(data: Named, sampler: Named, protocol: Named, batch_size: int) -> None:
    """The number of classes of a published data set is known before it is on this machine."""
    release = datasets.get(data["name"]).release
    if release and not data.get("partial"):
        config.check_batches(sampler, protocol, batch_size, release.counts["train"].classes)


def load(given: str | Path | Mapping[str, Any]) -> tuple[Experiment, Path]:
    """An experiment and its file, by path or by name (``quickstart``); or one that is given as a mapping, with a file of that
    kind that is not there."""
    content = given if isinstance(given, Mapping) else resources.find_experiment(str(given))
    experiment = build(Experiment, derived_files.read(content, resources.find_experiment), where="")
    path = content if isinstance(content, Path) else derived_files.named(experiment.title)
    for key in experiment.methods:
        if key not in methods.names():
            raise unknown(f"method in {path.name}:", key, methods.names())
    return experiment, path


def _combinations(grid: Mapping[str, Any]) -> list[Choice]:
    return [dict(zip(grid, row)) for row in product(*map(_axis, grid, grid.values()))]


def _axis(key: str, values: Any) -> list[Any]:
    if key == "method" and values == "all":
        return methods.names()
    return values if isinstance(values, list) else [values]


def _facts(given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a configuration by dotted key, and its parts' names by the parts' own keys."""
    names = {key: part["name"] for key, part in given.items() if isinstance(part, Mapping) and "name" in part}
    return {**config.dotted(given), **names}
