"""YAML files that begin with another: ``like: NAME`` lays a file over the one that it names."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ..base import outside
from ..base.errors import UserError
from ..trial import config

Find = Callable[[str], Path]


def read(given: Path | Mapping[str, Any], find: Find, children: tuple[Path, ...] = ()) -> Any:
    """The content of a file, or a mapping in its place, over that of the file that it is ``like``, which ``find`` finds."""
    content = given if isinstance(given, Mapping) else config.read_yaml(given)
    if not isinstance(content, Mapping):
        return content
    # The configuration in it may name parts, from where it is.
    folder = Path() if isinstance(given, Mapping) else given.parent
    content = {key: outside.located(value, folder.absolute()) for key, value in content.items()}
    for value in content.values():
        outside.load(value.get("parts", ()) if isinstance(value, Mapping) else ())
    if "like" not in content:
        return content
    parent = find(str(content.pop("like")))
    if not isinstance(given, Mapping):
        if parent in (given, *children):
            raise UserError(f"{given.name} is like {parent.name}, which is like {given.name} in turn.")
        children = (given, *children)
    return config.merge(read(parent, find, children), content)


def named(title: str) -> Path:
    """The name of a file with this title."""
    return Path(re.sub(r"\W+", "_", title.lower()).strip("_") or "experiment").with_suffix(".yaml")


def settings(given: Iterable[str] | Mapping[str, Any]) -> list[str]:
    """Settings as texts such as ``epochs=3``, also where they are given as a mapping."""
    try:
        if not isinstance(given, Mapping):
            return list(given)
        return [f"{key}={json.dumps(value)}" for key, value in given.items()]
    except TypeError as problem:
        raise UserError(f"settings are plain values, as YAML has them: {problem}.") from None
