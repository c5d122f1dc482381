"""Typed values from untyped mappings (YAML, JSON, the command line), checked and completed; errors name the key.

Two forms of description are read: dataclasses (``build``), and a class's fields or the keyword arguments of a function
(``options_of``, ``fill_options``), so a component's options are stated once.
"""

import contextlib
import dataclasses
import functools
import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from .errors import UserError, unknown

_MISSING = inspect.Parameter.empty
_UNIONS = (typing.Union, types.UnionType)
_WORDS = {
    int: "a whole number",
    float: "a number",
    str: "a word",
    bool: "true or false",
    list: "a list",
    type(None): "nothing",
}
_MANY = {"a whole number": "whole numbers", "a number": "numbers", "a word": "words", "a mapping": "mappings"}


class Must(NamedTuple):
    """What must hold of a value beside its type: ``Annotated[float, Must("be above 0", lambda value: value > 0)]``."""

    words: str
    holds: Callable[[Any], bool]


def within(low: float, high: float) -> Must:
    """From ``low`` to ``high``, both included."""
    return Must(f"be from {low} to {high}", lambda value: low <= value <= high)


def at_least(low: float) -> Must:
    return Must(f"be at least {low}", lambda value: value >= low)


Positive = Annotated[float, Must("be above 0", lambda value: value > 0)]
NotNegative = Annotated[float, Must("not be negative", lambda value: value >= 0)]
Share = Annotated[float, Must("be between 0 and 1", lambda value: 0 <= value <= 1)]
Fraction = Annotated[float, Must("be above 0 and at most 1", lambda value: 0 < value <= 1)]
Count = Annotated[int, at_least(1)]


class Option(NamedTuple):
    """What a configuration may set of a part."""

    type: Any
    default: Any

    @property
    def required(self) -> bool:
        return self.default is _MISSING


def options_of(made: Callable, skip: tuple[str, ...] = ()) -> dict[str, Option]:
    """What a configuration may set of a dataclass, of another class or of a function, with types and defaults."""
    if "__dataclass_fields__" in getattr(made, "__dict__", ()):
        hints = typing.get_type_hints(made, include_extras=True)
        return {
            field.name: Option(hints[field.name], _default(field))
            for field in dataclasses.fields(made)  # type: ignore[arg-type]
            if field.init and field.name not in skip
        }
    function = made.__init__ if isinstance(made, type) else made  # type: ignore[misc]
    hints = typing.get_type_hints(function, include_extras=True)
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: Option(hints.get(name, Any), parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in ("self", *skip) and parameter.kind in named
    }


def _default(field: dataclasses.Field) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return _MISSING if field.default is dataclasses.MISSING else field.default


def fill_options(options: Mapping[str, Option], given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """``given``, checked against ``options`` and completed with their defaults, in the order of the signature."""
    for name in given:
        if name not in options:
            raise unknown(f"option of {where}:", name, options)
    filled = {}
    for name, option in options.items():
        if name in given:
            filled[name] = convert(given[name], option.type, f"{where}: {name}")
        elif option.required:
            raise UserError(f"{where} needs {name!r} ({describe(option.type)}).")
        else:
            filled[name] = option.default
    return filled


_fields = functools.cache(options_of)


def build(cls: type, given: Any, where: str) -> Any:
    """A dataclass from a mapping; missing keys take the field's default."""
    if isinstance(given, cls):
        return given
    if not isinstance(given, Mapping):
        raise UserError(f"{where or 'the configuration'} must be a mapping of keys to values, not {given!r}.")
    options, values = _fields(cls), {}
    for name, value in given.items():
        if name not in options:
            raise unknown(f"key in {where}:" if where else "configuration key", name, options)
        values[name] = convert(value, options[name].type, f"{where}.{name}" if where else name)
    for name, option in options.items():
        if name not in values and option.required:
            raise UserError(f"{where or 'the configuration'} needs {name!r} ({describe(option.type)}).")
    return cls(**values)


def convert(value: Any, kind: Any, where: str) -> Any:
    """``value`` as ``kind``, or a UserError that says what was expected."""
    if kind is Any or (kind is type(value) and kind in (bool, int, str)):
        return value
    origin, arguments = _made_of(kind)
    if origin is Annotated:
        value = convert(value, arguments[0], where)
        for must in arguments[1:]:
            if not must.holds(value):
                raise UserError(f"{where} must {must.words}, not {value!r}.")
        return value
    if origin in _UNIONS:
        return _convert_union(value, arguments, kind, where)
    if origin is typing.Literal:
        if value in arguments and not isinstance(value, bool):
            return value
        raise UserError(f"{where} must be one of {', '.join(map(str, arguments))}, not {value!r}.")
    if origin in (list, tuple, dict, Mapping):
        return _convert_items(value, kind, where)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return build(kind, value, where)
    return _convert_scalar(value, kind, where)


def _convert_items(value: Any, kind: Any, where: str) -> Any:
    origin, arguments = _made_of(kind)
    if not isinstance(value, (list, tuple) if origin in (list, tuple) else Mapping):
        raise UserError(f"{where} must be {describe(kind)}, not {value!r}.")
    if isinstance(value, Mapping):
        key, one = arguments
        return {convert(k, key, where): convert(v, one, f"{where}.{k}") for k, v in value.items()}
    return origin([convert(item, arguments[0], f"{where}[{i}]") for i, item in enumerate(value)])


@functools.cache
def _made_of(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    return typing.get_origin(kind), typing.get_args(kind)


def _convert_union(value: Any, members: tuple, kind: Any, where: str) -> Any:
    if value is None and type(None) in members:
        return None
    problems = []
    members = tuple(member for member in members if member is not type(None))
    for member in sorted(members, key=lambda member: member is not type(value)):  # 1.0 is not a whole number
        try:
            return convert(value, member, where)
        except UserError as problem:
            problems.append(problem)
    if len(problems) == 1:
        raise problems[0]
    raise UserError(f"{where} must be {describe(kind)}, not {value!r}.")


def _convert_scalar(value: Any, kind: type, where: str) -> Any:
    if kind is float and isinstance(value, (int, float, str)) and not isinstance(value, bool):
        # YAML 1.1 reads "1e-4" as a word; people write it all the time.
        with contextlib.suppress(ValueError):
            number = float(value)
            if math.isfinite(number):
                return number
    elif kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    elif isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise UserError(f"{where} must be {describe(kind)}, not {value!r}.")


def describe(kind: Any) -> str:
    """A type in plain words."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return describe(arguments[0])
    if origin in _UNIONS:
        return " or ".join(describe(member) for member in arguments)
    if origin is typing.Literal:
        return "one of " + ", ".join(map(str, arguments))
    if origin in (list, tuple):
        one = describe(arguments[0])
        return f"a list of {_MANY[one]}" if one in _MANY else f"a list, each entry being {one}"
    if dataclasses.is_dataclass(kind) or origin in (dict, Mapping):
        return "a mapping"
    return _WORDS.get(kind, getattr(kind, "__name__", str(kind)))
