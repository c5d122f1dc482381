"""YAML with errors of one line that say where; PyYAML alone takes duplicate keys, and dies of deep nesting."""

from pathlib import Path
from typing import Any

import yaml

from . import files
from .errors import UserError

DEEPEST = 50  # levels of nesting
_NO_KEYS = {f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null", "timestamp")}


def read_yaml(path: str | Path) -> Any:
    """The content of a YAML file; a ``UserError`` names the file and the line.

    >>> dml.config.read_yaml("no_such_file.yaml")
    Traceback (most recent call last):
        ...
    dmlplayground.base.errors.UserError: cannot read no_such_file.yaml: No such file or directory.
    """
    try:
        text = files.read_bytes(path).decode("utf-8")
    except (OSError, ValueError) as problem:
        raise UserError(f"cannot read {path}: {getattr(problem, 'strerror', None) or problem}.") from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, where: str) -> Any:
    """The content of a YAML text; ``where`` names it in errors.

    >>> dml.config.parse_yaml("{lr: 1e-4, steps: [3, 5]}", "an example")
    {'lr': '1e-4', 'steps': [3, 5]}
    """
    try:
        _check_nesting(text)
        return yaml.load(text, _Loader)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        said = getattr(problem, "problem", None) or str(problem).partition("\n")[0]
        raise UserError(f"{where} is not valid YAML: {place}{said}.") from None
    except (ValueError, OverflowError) as problem:  # such as the 31st of February
        raise UserError(f"{where} holds a value that cannot be read: {problem}.") from None


_Fastest: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml takes a tenth of the time


class _Loader(_Fastest):
    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag in _NO_KEYS:
                raise _wrong("a key must be a string; put quotes around this one", key.start_mark)
            if key.value in seen:
                raise _wrong(f"the key {key.value!r} is a duplicate", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _check_nesting(text: str) -> None:
    """An error where lists and mappings are nested so deeply, or in themselves, that reading them would not end well."""
    begun: list[str | None] = []  # what is not complete yet, by the name that aliases have for it
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            begun.append(event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            begun.pop()
        elif isinstance(event, yaml.AliasEvent) and event.anchor in begun:
            raise _wrong("this alias refers to something that contains it", event.start_mark)
        if len(begun) > DEEPEST:
            raise _wrong(f"this is nested more than {DEEPEST} levels deep", event.start_mark)


def _wrong(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(None, None, problem, mark)
