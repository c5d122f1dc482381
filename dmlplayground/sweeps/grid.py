"""An experiment file: a grid of trials in a few lines.

title: Embedding sizes
base: {backbone: conv4, epochs: 20}           # for every trial
grid:                                         # every combination of these
  method: [npairs, margin]                    # or: all
  embed_dim: [64, 128]
  optimizer.lr: [1e-4, 1e-5]                  # any key of a configuration, dotted where nested
  seed: [0, 1]
methods:                                      # what a method does differently
  margin: {batch_size: 120}
exclude: [{method: margin, embed_dim: 128}]   # combinations to leave out
include: [{method: npairs, embed_dim: 512}]   # further trials
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from .. import config, methods, resources
from ..config import Trial
from ..errors import UserError, unknown
from ..typed import build

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
        axes = {key: values if isinstance(values, list) else [values] for key, values in self.grid.items()}
        if axes.get("method") == ["all"]:
            axes["method"] = methods.names()
        rows = [dict(zip(axes, values)) for values in product(*axes.values())]
        kept = [row for row in rows if not any(_matches(row, rule) for rule in self.exclude)]
        return kept + self.include

    def trials(self, where: Iterable[str] = (), overrides: Iterable[str] = ()) -> list[Trial]:
        """The trials, each once. All that cannot work are reported together, before anything runs."""
        rules = [config.override(text, flag="--where") for text in where]
        trials: dict[str, Trial] = {}
        problems = []
        for choice in self.choices():
            if not all(_matches(choice, config.dotted(rule)) for rule in rules):
                continue
            try:
                trial = config.trial(self._configuration(choice), overrides)
                trials[trial.id] = trial
            except UserError as problem:
                problems.append(f"  {_describe(choice)}: {problem}")
        if problems:
            raise UserError(
                "these trials of the grid cannot run (exclude them, or mend them):\n" + "\n".join(problems)
            )
        if not trials:
            raise UserError("the grid is empty" + (f" where {', '.join(where)}." if where else "."))
        return list(trials.values())

    def _configuration(self, choice: Choice) -> dict[str, Any]:
        layers = [config.expand(config.nested(key, value)) for key, value in choice.items()]
        chosen = config.merge(*layers)
        own = self.methods.get(chosen.get("method", {}).get("name"), {})
        return config.merge(config.expand(self.base), config.expand(own), chosen)


def load(name: str | Path) -> tuple[Experiment, Path]:
    """An experiment and its file, by path or by name (``quickstart``)."""
    path = resources.find_experiment(str(name))
    content = config.read_yaml(path)
    experiment = build(Experiment, content, where="")
    for key in experiment.methods:
        if key not in methods.names():
            raise unknown(f"method in {path.name}:", key, methods.names())
    return experiment, path


def _matches(choice: Choice, rule: Mapping[str, Any]) -> bool:
    """Whether the choice has every value of the rule; a list in the rule means any of these."""
    return all(
        key in choice and (choice[key] in value if isinstance(value, list) else choice[key] == value)
        for key, value in rule.items()
    )


def _describe(choice: Choice) -> str:
    return ", ".join(f"{key} {value}" for key, value in choice.items())
