"""Published and tuned settings, every value with its source, in ``hyperparams/<set>/<data set>/<method>.yaml``.

    source: log                      # of the values of the method's record, which hold where no other is given
    note: >
      whatever must be known of it
    values:                          # what differs from that record
      optimizer.name: {value: rmsprop, source: paper, note: ...}
    backbones:                       # what differs again, with another backbone than the study's first
      resnet50_v2: {source: script, values: {...}}
    reported:                        # results published with these settings, in percent
      - {backbone: inception_bn, source: log, runs: 10, scores: {R@1: 51.61, NMI: 62.02}}

As a layer of a configuration, ``hyperparams: paper`` takes the file for the trial's method and data set, and
``hyperparams: some/file.yaml`` a file of the user's own, such as a search writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Optional

from . import config, resources
from .errors import UserError, unknown
from .options import build

SOURCES = {
    "log": "printed in the log of a published run",
    "script": "the default of the released script; no log shows whether the result was made with it",
    "paper": "said in the text of the study",
    "code": "what the released code really does",
    "search": "found by a search of ours, on validation classes",
    "chosen": "our choice, where nothing was published and the default cannot serve",
    "unpublished": "nothing was published; the value is that of CUB-200-2011",
}
Source = Literal["log", "script", "paper", "code", "search", "chosen", "unpublished"]


@dataclass(frozen=True)
class Value:
    value: Any
    source: Source
    note: str = ""


@dataclass(frozen=True)
class Settings:
    """What differs from the method's record, and where the rest of that comes from."""

    source: Source
    values: dict[str, Value] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Reported:
    """A published result, in percent."""

    backbone: str
    source: Literal["log", "paper", "plot", "search"]
    scores: dict[str, float]
    runs: Optional[int] = None
    note: str = ""


@dataclass(frozen=True)
class Hyperparams(Settings):
    """A file."""

    method: str = ""  # our files are named after theirs
    backbones: dict[str, Settings] = field(default_factory=dict)
    reported: list[Reported] = field(default_factory=list)
    search: dict[str, Any] = field(default_factory=dict)  # the search that found the values

    def on(self, backbone: str) -> Settings:
        """The settings for a backbone; of one that the file does not name, those of all."""
        own = self.backbones.get(backbone, Settings(self.source))
        return Settings(own.source, {**self.values, **own.values}, own.note or self.note)


class Name(NamedTuple):
    """A file of ours."""

    set: str
    data: str
    method: str

    def __str__(self) -> str:
        return "/".join(self)


def names() -> list[Name]:
    """All files of ours."""
    folder = resources.hyperparams()
    return sorted(Name(*path.relative_to(folder).with_suffix("").parts) for path in folder.glob("*/*/*.yaml"))


def read(name: Name | Path) -> Hyperparams:
    """A file by its name, or a file of the user's own."""
    if isinstance(name, Path):
        return build(Hyperparams, config.read_yaml(name), where=name.name)
    content = config.read_yaml(resources.hyperparams() / f"{name}.yaml")
    return build(Hyperparams, {**content, "method": name.method}, where=str(name))


def find(given: str, method: str, data: str) -> Hyperparams:
    """What ``hyperparams: given`` stands for in a trial of this method and data set."""
    if not isinstance(given, str):
        raise UserError(f"hyperparams is a name or a .yaml file, not {given!r}.")
    if Path(given).suffix == ".yaml":
        found = read(Path(given))
        if found.method != method:
            raise UserError(f"{given} holds settings of {found.method or 'no method'}, not of {method}.")
        return found
    if given not in {name.set for name in names()}:
        raise unknown("hyperparameters (and no .yaml file)", given, {name.set for name in names()})
    if Name(given, data, method) not in names():
        known = ", ".join(sorted({name.data for name in names() if name.set == given}))
        raise UserError(
            f"there are no {given} hyperparameters for {method} on {data}; there are some for {known}."
        )
    return read(Name(given, data, method))


def layer(given: str, method: str, data: str, backbone: str) -> dict[str, Any]:
    """The values that ``hyperparams: given`` stands for, as a layer of a trial's configuration."""
    values = find(given, method, data).on(backbone).values
    return config.merge(*(config.nested(key, entry.value) for key, entry in values.items()))


def load(
    method: str, *, dataset: str, backbone: str = "inception_bn", protocol: str = "paper"
) -> dict[str, Any]:
    """The whole configuration of a trial with published or tuned settings, every value spelt out.

    ``protocol`` names the set of files: ``paper`` (the study's), ``released`` (what its code really did). Override
    values as of any configuration: ``dml.train(dml.config.merge(dml.hyperparams.load(...), {"epochs": 3}))``.
    """
    given: Mapping[str, Any] = {
        "method": method,
        "data": dataset,
        "backbone": backbone,
        "hyperparams": protocol,
    }
    return config.trial(given).mapping()


def describe(method: str, settings: Settings) -> dict[str, Value]:
    """Every value that the method's record or the file decides, with its source, by its dotted key."""
    from . import methods

    record = methods.get(method)
    own = {f"method.{key}": option.default for key, option in record.options.items()}
    own.update(config.dotted({"embed_dim": config.Trial.embed_dim, **config.expand(record.configuration())}))
    return {**{key: Value(value, settings.source) for key, value in own.items()}, **settings.values}
