"""YAML read safely: an error is one line that says where it is. PyYAML alone accepts duplicate keys, and overflows the
stack on deep nesting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

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
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    except ValueError as problem:
        raise UserError(f"cannot read {path}: {problem}.") from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, where: str) -> Any:
    """The content of a YAML text; ``where`` names it in errors.

    >>> dml.config.parse_yaml("{lr: 1e-4, steps: [3, 5]}", "an example")
    {'lr': '1e-4', 'steps': [3, 5]}
    """
    try:
        loader = _Loader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.YAMLError as problem:
        raise UserError(f"{where} is not valid YAML: {_in_a_line(problem)}") from None
    except (ValueError, OverflowError) as problem:  # such as the 31st of February
        raise UserError(f"{where} holds a value that cannot be read: {problem}.") from None


def _in_a_line(problem: yaml.YAMLError) -> str:
    mark = getattr(problem, "problem_mark", None)
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    said = getattr(problem, "problem", None) or str(problem).partition("\n")[0]
    return f"{place}{said}."


# libyaml reads a text in a tenth of the time, where PyYAML was built with it; what is made of its events is PyYAML's own.
_Events: Any = vars(yaml.cyaml)["CParser"] if yaml.__with_libyaml__ else None
_Base: Any = type("_Base", (Composer, _Events, SafeConstructor, Resolver), {}) if _Events else yaml.SafeLoader


class _Loader(_Base):
    def __init__(self, text: str):
        if _Events:
            _Events.__init__(self, text)
            for part in (Composer, SafeConstructor, Resolver):
                part.__init__(self)
        else:
            super().__init__(text)
        self.depth = 0
        self.complete: set[Any] = set()  # nodes

    def compose_node(self, parent: Any, index: Any) -> Any:
        alias, mark = self.check_event(yaml.AliasEvent), self.peek_event().start_mark
        self.depth += 1
        if self.depth > DEEPEST:
            raise _wrong(f"this is nested more than {DEEPEST} levels deep", mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        if alias and node not in self.complete:
            raise _wrong("this alias refers to something that contains it", mark)
        self.complete.add(node)
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag in _NO_KEYS:
                raise _wrong("a key must be a string; put quotes around this one", key.start_mark)
            if key.value in seen:
                raise _wrong(f"the key {key.value!r} is a duplicate", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _wrong(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(None, None, problem, mark)
