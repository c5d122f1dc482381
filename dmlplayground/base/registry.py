"""One mechanism for everything that has a name: methods, miners, samplers, data sets, metrics and the rest.

A *kind* of part is a package such as ``dmlplayground.parts.samplers``; each file in it registers one part, and adding the
file is all it takes to add the part. A part is described once: its facts in the decorator's arguments, its options in
the signature, and the rest in the docstring. Listings, ``dmlplayground samplers NAME``, the documentation's pages,
"did you mean" and the conformance tests all read this description.

No part's file imports MXNet when it is itself imported: commands that only list or check must answer at once.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from . import outside
from .errors import UserError, unknown
from .options import Option, fill_options, options_of

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        return lambda cls: cls


PARTS = (
    "backbones", "data", "methods", "miners", "regularizers", "protocols", "samplers", "optimizers", "schedules",
    "transforms", "augmentations", "metrics",
)  # fmt: skip
#: Every kind, by the command that lists it (``dmlplayground samplers``), with the package that defines its ``KIND``.
HOMES = {
    **{plural: f"dmlplayground.parts.{plural}" for plural in PARTS},
    "studies": "dmlplayground.studies.published",
}


@dataclass(frozen=True)
class Part:
    """What is known about one part. A kind whose parts have more facts uses a subclass."""

    key: str
    title: str
    # A class or a function that makes the part from its options.
    build: Callable[..., Any] = field(repr=False)
    also: tuple[str, ...] = ()  # other names it goes by; they lead here through "did you mean"

    #: Parameters of ``build`` that the program supplies; the others are the part's options.
    given: ClassVar[tuple[str, ...]] = ()
    #: Notes on options that several parts of a kind have, unless they describe them otherwise.
    shared_notes: ClassVar[Mapping[str, str]] = {}

    @property
    def notes(self) -> str:
        return inspect.cleandoc(self.build.__doc__ or "")

    @property
    def summary(self) -> str:
        """The first paragraph of the notes, on one line."""
        return " ".join(self.notes.partition("\n\n")[0].split())

    @cached_property
    def options(self) -> dict[str, Option]:
        """What a configuration may set, with its types and defaults: a class's fields, or what the signature has. If a
        constructor takes ``**shared``, its base class's options come first."""
        options: dict[str, Option] = {}
        for made in _constructed(self.build) if isinstance(self.build, type) else [self.build]:
            options.update(options_of(made, skip=self.given))
        return {**options, **self.further()}

    def further(self) -> Mapping[str, Option]:
        """What its kind adds to its own options."""
        return {}

    @property
    def prose(self) -> str:
        """The notes without those on single options."""
        return _by_option(self.notes, self.options)[0]

    @property
    def option_notes(self) -> dict[str, str]:
        """The notes on each option, from lines ``name: what it is`` (indented lines that follow belong to it); for a
        base class's option, from that class's docstring."""
        classes = reversed(inspect.getmro(self.build)) if isinstance(self.build, type) else ()
        notes = {name: note for name, note in self.shared_notes.items() if name in self.options}
        for text in (*(inspect.cleandoc(one.__doc__ or "") for one in classes), self.notes):
            notes.update(_by_option(text, self.options)[1])
        return notes

    @property
    def configuration(self) -> Mapping[str, Any]:
        """What a trial with this part sets by default."""
        return {}

    @property
    def facts(self) -> dict[str, str]:
        """What a listing shows beside the part's title, by heading."""
        return {}

    def fill(self, options: Mapping[str, Any], kind: str) -> dict[str, Any]:
        return fill_options(self.options, options, where=f"{kind} {self.key}")

    def make(self, *given: Any, **filled: Any) -> Any:
        """The part itself from all of its options. It knows its key already while it is made."""
        if not (isinstance(self.build, type) and issubclass(self.build, Named)):
            return self.build(*given, **filled)
        made = self.build.__new__(self.build)
        made.key = self.key
        made.__init__(*given, **filled)  # type: ignore[misc]
        return made


@dataclass_transform(eq_default=False, field_specifiers=(field,))
class Named:
    """Base of what a part's file makes: it has the key by which it was asked for, and an error about it begins with that.

    Its options are the fields of a dataclass, ``margin: float = 0.2``; ``__post_init__`` checks them. A class that
    writes its own constructor has its keyword arguments for options.
    """

    kind: ClassVar[str]  # the word for its kind
    key: str = ""

    def __init_subclass__(cls, **given: Any) -> None:
        """Made without its kind, it goes by the name of its file."""
        super().__init_subclass__(**given)
        cls.key = cls.__module__.rpartition(".")[2]
        constructed = next(base for base in cls.__mro__ if "__init__" in vars(base))
        if constructed is object or "__dataclass_fields__" in vars(constructed):
            notes = cls.__doc__
            dataclass(eq=False, repr=False)(cls)
            cls.__doc__ = notes  # where there are none, a dataclass has its signature there

    def require(self, condition: Any, message: str) -> None:
        """Raise UserError with this message, the part's name before it, unless the condition holds."""
        if not condition:
            raise UserError(f"{self.kind} {self.key}: {message}")


def _constructed(cls: type) -> list[type]:
    """The class and those of its bases that its constructor passes ``**shared`` on to, the outermost base first."""
    found: list[type] = []
    for base in cls.__mro__:
        if "__init__" in vars(base):
            found.insert(0, base)
            parameters = inspect.signature(base.__init__).parameters.values()  # type: ignore[misc]
            if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
                break
    return found


def _by_option(notes: str, names: Iterable[str]) -> tuple[str, dict[str, str]]:
    prose: list[str] = []
    options: dict[str, list[str]] = {}
    current = prose
    for line in notes.splitlines():
        word, colon, rest = line.partition(":")
        if colon and word in names:
            current = options[word] = [rest]
        else:
            if not line.startswith(" "):
                current = prose
            current.append(line)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(prose)).strip()
    return text, {name: " ".join(" ".join(lines).split()) for name, lines in options.items()}


P = TypeVar("P", bound=Part)
M = TypeVar("M")  # what a part of the kind makes


@dataclass(eq=False, repr=False)
class Kind(Generic[P, M]):
    """All parts of one kind, found in the files of one package when they are first needed."""

    name: str
    package: str
    record: type[P] = Part  # type: ignore[assignment]
    setting: str = ""  # the configuration's key that chooses a part of this kind; empty: its name
    remark: str = ""  # a remark below a list of them

    known: ClassVar[list["Kind"]] = []  # all that are loaded

    def __post_init__(self) -> None:
        self.setting = self.setting or self.name
        self.outside: dict[str, outside.Source] = {}  # where parts from outside the package are from, by key
        self._parts: dict[str, P] = {}
        self._complete = False
        Kind.known.append(self)

    def register(self, key: str = "", **facts: Any) -> Callable[[Callable], Any]:
        """Decorator: the class or function below makes a part with these facts. Its key is its file's name, unless
        given. In a file of the package, in one of yours, in a script or a notebook, it is all that it takes."""

        def add(build: Callable) -> Callable:
            source = outside.source_of(build)
            name = key or (Path(source.file).stem if source else build.__module__.rpartition(".")[2])
            if not name:
                raise UserError(f'a {self.name} that is typed in needs a name: register("my_own", ...).')
            self.add(self.record(key=name, build=build, **facts), source)
            return build

        return add

    def add(self, part: P, source: outside.Source | None = None) -> None:
        """``source``: where it is from, if from outside the package. Registered once more, it takes its own place."""
        if source is None:
            if part.key in self._parts:
                raise ValueError(f"two {self.name}s are called {part.key!r}")
            self.put(part, None)
            return
        self._discover()
        key = part.key
        if key in self._parts and key not in self.outside:
            raise UserError(f"a {self.name} called {key} is in the package already; choose another name.")
        self.put(part, source)
        outside.add(self, part, source)

    def put(self, part: P, source: outside.Source | None) -> None:
        """Let a part be the one that goes by its key: one from outside, or one that has no code and so no source."""
        self._parts[part.key] = part
        if source is not None:
            self.outside[part.key] = source

    def names(self) -> list[str]:
        """The keys of all parts, sorted.

        >>> "pairs" in dml.samplers.names()
        True
        """
        self._discover()
        return sorted(self._parts)

    def get(self, key: str) -> P:
        """The facts of one part; an unknown name raises ``UserError`` and suggests the nearest.

        >>> dml.methods.get("npairs").title
        'N-pairs'
        """
        self._discover()
        try:
            return self._parts[key]
        except (KeyError, TypeError):
            also = {name: part.key for part in self._parts.values() for name in part.also}
            raise unknown(self.name, key, self._parts, also) from None

    def holds(self, name: str) -> str:
        """The key of the part that goes by this name, or of the family that it is a member of."""
        return name

    def create(self, name: str, *given: Any, **options: Any) -> M:
        """The part itself, made from the program's arguments and its options.

        >>> dml.mining.create("multi_similarity", epsilon=0.2).epsilon
        0.2
        """
        part = self.get(name)
        made: M = part.make(*given, **part.fill(options, self.name))
        return made

    def _discover(self) -> None:
        if self._complete:
            return
        folder = importlib.import_module(self.package).__path__
        for module in pkgutil.iter_modules(folder):
            if not module.ispkg:  # shared/: what its parts have in common
                importlib.import_module(f"{self.package}.{module.name}")
        self._complete = True
        outside.installed()


def kind(plural: str) -> Kind[Any, Any]:
    """The kind with this plural name: ``kind("samplers")``."""
    if plural not in HOMES:
        raise unknown("kind of part", plural, HOMES)
    found: Kind[Any, Any] = importlib.import_module(HOMES[plural]).KIND
    return found


def split(one: str | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and the options of a part as stated: ``{"name": "pairs", "same_image": 0.1}``, or its bare name."""
    if isinstance(one, str):
        return one, {}
    if not isinstance(one, Mapping) or "name" not in one:
        raise UserError(f"a part is given by its name, or by a mapping with a name and options, not {one!r}.")
    options = dict(one)
    return options.pop("name"), options
