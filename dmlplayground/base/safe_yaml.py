"""YAML read safely, with limits: an error is one line that says where it is.

PyYAML alone accepts duplicate keys, overflows Python's stack on deep nesting, and expands a few aliases into
gigabytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from .errors import UserError

__all__ = ["parse_yaml", "read_yaml"]

LARGEST_FILE = 4 * 2**20  # bytes
MOST_VALUES = 200_000  # in a text, with aliases expanded
DEEPEST = 50  # levels of nesting
LONGEST_NUMBER = 40  # characters


def read_yaml(path: str | Path) -> Any:
    """The content of a YAML file; a ``UserError`` names the file and the line.

    >>> dml.config.read_yaml("no_such_file.yaml")
    Traceback (most recent call last):
        ...
    dmlplayground.base.errors.UserError: cannot read no_such_file.yaml: No such file or directory.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise UserError(
                f"{path} is larger than {LARGEST_FILE >> 20} MB, which is too large for a configuration."
            )
        text = content.decode("utf-8")
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    except ValueError as problem:  # not UTF-8, or a path with a NUL in it
        raise UserError(f"cannot read {str(path)!r}: {problem}.") from None
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
        self.values: dict[Any, int] = {}  # in each node that is complete, aliases unfolded

    def compose_node(self, parent: Any, index: Any) -> Any:
        alias = self.check_event(yaml.AliasEvent)
        mark = self.peek_event().start_mark
        self.depth += 1
        if self.depth > DEEPEST:
            raise yaml.MarkedYAMLError(None, None, f"this is nested more than {DEEPEST} levels deep", mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        if alias and node not in self.values:
            raise yaml.MarkedYAMLError(None, None, "this alias refers to something that contains it", mark)
        if node not in self.values:
            self.values[node] = 1 + sum(self.values[part] for part in _parts(node))
        if self.values[node] > MOST_VALUES:
            raise yaml.MarkedYAMLError(None, None, f"there are more than {MOST_VALUES:,} values here", mark)
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag in _NO_KEYS:
                raise yaml.MarkedYAMLError(
                    None, None, "a key must be a string; put quotes around this one", key.start_mark
                )
            if key.value in seen:
                raise yaml.MarkedYAMLError(
                    None, None, f"the key {key.value!r} is a duplicate", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_number(self, node: Any) -> Any:
        if len(node.value) > LONGEST_NUMBER:
            raise yaml.MarkedYAMLError(None, None, "this number is too long", node.start_mark)
        return self.construct_yaml_int(node) if node.tag == _INT else self.construct_yaml_float(node)


def _parts(node: Any) -> list:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


_INT, _FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
_NO_KEYS = {_INT, _FLOAT, *(f"tag:yaml.org,2002:{name}" for name in ("bool", "null", "timestamp"))}
for _tag in (_INT, _FLOAT):
    _Loader.add_constructor(_tag, _Loader.construct_number)
