"""Recipes: the published settings of a study, every value with its source. They are read in layers, where later ones
win:

    hyperparams/<study>/common.yaml                 what all trials of the study share
    hyperparams/<study>/<row>.yaml                  what one row of its tables has on every data set
    hyperparams/<study>/<data set>/common.yaml      what all rows share on one data set
    hyperparams/<study>/<data set>/<row>.yaml       what is left

A row is named after its method; where a study has two rows of one method, the file names the method. All files look alike:

    source: log                      # of the values of the method's record, which hold where no other is given
    note: >
      whatever must be known of it
    values:                          # what differs from that record
      optimizer.name: {value: rmsprop, source: paper, note: ...}
    backbones:                       # what differs again, with another backbone than the study's first
      resnet50_v2: {source: script, values: {...}}

A study's common file has a title besides, and may be ``like`` another study, whose files then lie beneath its own. One that
says ``every_method: true`` has a row for every method on its data sets, files or not. Published results are in ``published``.

In a configuration, ``hyperparams: musgrave2020`` takes the row of the trial's method on the trial's data set.
``musgrave2020/margin_per_class`` names the row; ``musgrave2020/cub200`` takes one data set's settings to another;
``musgrave2020/cub200/margin_per_class`` does both. ``some/file.yaml`` is a file of the user's own, such as a search writes;
``some/folder`` holds the winners of searches for many methods; if each was searched several times, the key ``search`` says
which time counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from ..base import resources
from ..base.errors import UserError, unknown
from ..base.options import build
from ..base.safe_yaml import read_yaml
from ..parts import methods
from ..parts.layers import merge, nested, overlay

SOURCES = {
    "log": "printed in the log of a published run",
    "script": "the default of the released script; no log shows whether the result was made with it",
    "paper": "said in the text of the study",
    "code": "what the released code really does",
    "published search": "the winner of the study's own search, at full precision",
    "search": "found by a search of ours, on validation classes",
    "chosen": "our choice, where nothing was published and the default does not work",
    "unpublished": "nothing was published; the value is that of CUB-200-2011",
}
S = TypeVar("S", bound="Settings")
Source = Literal["log", "script", "paper", "code", "published search", "search", "chosen", "unpublished"]
COMMON = "common"
HOME = "experiments"  # of what our own files name
WINNER = "best.yaml"  # in the folder of a search
INHERITED = ("method", "title", "data", "reported")  # what a file may leave to a more general one


@dataclass(frozen=True)
class Value:
    """One value of a recipe, and where it comes from.

    >>> dml.hyperparams.Value(0.1, "paper").source
    'paper'
    """

    value: Any
    source: Source | None
    note: str = ""


@dataclass(frozen=True)
class Settings:
    """What differs from the method's defaults, and the source of the rest (if not given, that of the layer below).

    >>> dml.hyperparams.Settings().values
    {}
    """

    source: Source | None = None
    values: dict[str, Value] = field(default_factory=dict)
    note: str = ""

    def over(self: S, below: "Settings") -> S:
        """These merged over more general ones."""
        values = overlay(below.values, self.values, plain=lambda entry: entry.value)
        return replace(self, source=self.source or below.source, values=values, note=self.note or below.note)


@dataclass(frozen=True)
class Reported:
    """The result of a search's winner, in percent.

    >>> dml.hyperparams.Reported("conv4", "search", {"R@1": 53.1}).scores
    {'R@1': 53.1}
    """

    backbone: str
    source: Literal["search"]
    scores: dict[str, float]
    runs: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Hyperparams(Settings):
    """A recipe: a user's own file, or the layers of a built-in one.

    >>> dml.hyperparams.find("fehervari2019", "npairs", "cub200").method
    'npairs'
    """

    method: str = ""  # built-in files are named after their methods unless they say otherwise
    title: str = ""
    data: str = ""  # the data set; in a file, where the folder is not named after it
    like: str = ""  # the study whose files these are laid over
    every_method: bool = False  # whether methods without a file are rows of the study too
    backbones: dict[str, Settings] = field(default_factory=dict)
    reported: list[Reported] = field(default_factory=list)
    target: float | None = None  # in percent: the validation score that the study reports of these settings
    search: dict[str, Any] = field(default_factory=dict)  # the search that found the values

    @property
    def parts(self) -> dict[str, dict[str, str]]:
        """The parts of a trial that come with the recipe unless the trial names others."""
        named = {"method": self.method, "backbone": self.backbone}
        return {part: {"name": name} for part, name in named.items() if name}

    @property
    def backbone(self) -> str:
        """The network that the recipe brings; a search's file says it in its results."""
        named = self.values.get("backbone.name")
        return str(named.value) if named else next((result.backbone for result in self.reported), "")

    def on(self, backbone: str, data: str = "") -> Settings:
        """The settings for a backbone, or those shared by all; on another data set, without what they say of their own."""
        found = self.backbones.get(backbone, Settings()).over(self)
        left_out = ["backbone."] if backbone != self.backbone else []
        left_out += ["data."] if data and self.data and data != self.data else []
        values = found.values.items()
        return replace(found, values={key: one for key, one in values if not key.startswith(tuple(left_out))})

    def file_over(self, below: "Hyperparams") -> "Hyperparams":
        """This file merged over a more general one."""
        backbones = dict(below.backbones)
        for name, own in self.backbones.items():
            backbones[name] = own.over(backbones.get(name, Settings()))
        target = below.target if self.target is None else self.target
        own_or_below = {key: getattr(self, key) or getattr(below, key) for key in INHERITED}
        return replace(self.over(below), backbones=backbones, target=target, **own_or_below)


class Name(NamedTuple):
    """A built-in recipe.

    >>> str(dml.hyperparams.Name("fehervari2019", "cub200", "npairs"))
    'fehervari2019/cub200/npairs'
    """

    study: str
    data: str
    row: str

    def __str__(self) -> str:
        return "/".join(self)


def studies() -> dict[str, Hyperparams]:
    """Every study by its key, as its common file tells it.

    >>> "fehervari2019" in dml.hyperparams.studies()
    True
    """
    folders = sorted(path.parent for path in resources.hyperparams().glob(f"*/{COMMON}.yaml"))
    return {folder.name: _file(folder / f"{COMMON}.yaml") for folder in folders}


def names() -> list[Name]:
    """All built-in recipes.

    >>> dml.hyperparams.Name("fehervari2019", "cub200", "npairs") in dml.hyperparams.names()
    True
    """
    return sorted(name for study in studies() for name in _names(study))


def of_method(method: str) -> list[tuple[Name, Hyperparams]]:
    """Every recipe of a method.

    >>> "roth2020" in {name.study for name, recipe in dml.hyperparams.of_method("npairs")}
    True
    """
    methods.get(method)
    found = [(name, read(name)) for name in names()]
    return [(name, recipe) for name, recipe in found if recipe.method == method]


def _names(study: str) -> frozenset[Name]:
    return _names_below(resources.hyperparams(), study, tuple(methods.names()))


@cache  # a grid asks for each of its cells
def _names_below(everything: Path, study: str, known: tuple[str, ...]) -> frozenset[Name]:
    paths = [path for folder in _lineage(study) for path in folder.glob("*/*.yaml")]
    found = {Name(study, path.parent.name, path.stem) for path in paths if path.stem != COMMON}
    if _file(everything / study / f"{COMMON}.yaml").every_method:
        found |= {Name(study, path.parent.name, method) for path in paths for method in known}
    return frozenset(found)


def _lineage(study: str) -> list[Path]:
    """The folder of the study, below it that of the one it is like, and so on."""
    folder = resources.hyperparams() / study
    like = _file(folder / f"{COMMON}.yaml").like
    return [folder, *(_lineage(like) if like else [])]


def read(name: Name | Path) -> Hyperparams:
    """A recipe by its name, or a file of the user's own.

    >>> dml.hyperparams.read(dml.hyperparams.Name("fehervari2019", "cub200", "npairs")).method
    'npairs'
    """
    if isinstance(name, Path):
        return build(Hyperparams, read_yaml(name), where=name.name)
    return _read(name)


@cache
def _read(name: Name) -> Hyperparams:
    recipe = reduce(lambda below, file: file.file_over(below), map(_file, _layers(name)))
    return replace(recipe, method=recipe.method or name.row, data=recipe.data or name.data)


def _layers(name: Name) -> Iterator[Path]:
    """The files of a recipe that are there, the most general first."""
    for folder in reversed(_lineage(name.study)):
        for place in (folder, folder / name.data):
            files = (place / f"{stem}.yaml" for stem in (COMMON, name.row))
            yield from filter(Path.is_file, files)


@cache
def _file(path: Path) -> Hyperparams:
    where = path.relative_to(resources.hyperparams()).with_suffix("").as_posix()
    return build(Hyperparams, read_yaml(path) or {}, where=where)  # a row's file may be empty


def find(given: str, method: str, data: str, search: int = 0) -> Hyperparams:
    """The recipe that ``hyperparams: given`` names for a trial of this method (empty: any) and data set; of several
    searches, what the one with this number found.

    >>> dml.hyperparams.find("fehervari2019/margin", "npairs", "cub200")
    Traceback (most recent call last):
        ...
    dmlplayground.base.errors.UserError: fehervari2019/margin holds settings of margin, not of npairs.
    """
    if not isinstance(given, str):
        raise UserError(f"hyperparams is a name or a .yaml file, not {given!r}.")
    path = _own_file(given, method, search)
    found = read(path) if path else read(resolve(given, method, data))
    if method and found.method != method:
        raise UserError(f"{given} holds settings of {found.method or 'no method'}, not of {method}.")
    return found


def _own_file(given: str, method: str, search: int) -> Path | None:
    """The file of the user's own that is meant, if one is."""
    path = Path(given)
    if path.suffix == ".yaml":
        return path
    if not path.is_dir() and path.parts[:1] == (HOME,):  # in a file of ours: what its search found
        path = resources.experiments().parent / path
        if not path.is_dir():
            raise UserError(f"there are no winners in {given} yet: run the search first.")
    winners = [folder / method / WINNER for folder in (path / str(search), path)]
    found = next((file for file in winners if file.is_file()), None)
    if found is None and path.is_dir() and method and next(path.glob(f"**/{WINNER}"), None):
        raise UserError(f"{given} holds no winner for {method}{f' of search {search}' * bool(search)}.")
    return found


def resolve(given: str, method: str, data: str) -> Name:
    """The recipe that ``study``, ``study/row``, ``study/data set`` or ``study/data set/row`` names.

    >>> str(dml.hyperparams.resolve("fehervari2019", "npairs", "cub200"))
    'fehervari2019/cub200/npairs'
    """
    study, *rest = given.split("/")
    if study not in studies():
        raise unknown("hyperparameters (and no .yaml file)", given, studies())
    known = _names(study)
    places = {name.data for name in known}
    place = rest.pop(0) if rest and rest[0] in places else data
    row = rest.pop(0) if rest else _row_of(place, method, known)
    if rest or Name(study, place, row) not in known:
        here = {name.row for name in known if name.data == place}
        there = {name.data for name in known if name.row == row} or here or places
        some = f"there are some for {', '.join(sorted(there))}"
        raise UserError(f"there are no {study} hyperparameters for {row} on {place}; {some}.")
    return Name(study, place, row)


def _row_of(place: str, method: str, known: frozenset[Name]) -> str:
    """The row named after the method, or else the only row of the method."""
    here = [name for name in known if name.data == place]
    named = any(name.row == method for name in here)
    rows = [] if named else [name.row for name in here if read(name).method == method]
    return rows[0] if len(rows) == 1 else method


def layer(recipe: Hyperparams, backbone: str, data: str = "") -> dict[str, Any]:
    """A recipe's values as a layer of the configuration of a trial on this data set (empty: its own).

    >>> found = dml.hyperparams.find("fehervari2019", "npairs", "cub200")
    >>> sorted(dml.hyperparams.layer(found, "inception_bn"))[:3]
    ['backbone', 'evaluation', 'protocol']
    """
    return merge(*(nested(key, entry.value) for key, entry in recipe.on(backbone, data).values.items()))
