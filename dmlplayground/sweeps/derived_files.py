"""YAML files that begin with another: ``like: NAME`` lays a file over the one that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..base import outside
from ..base.errors import UserError
from ..trial import config

Find = Callable[[str], Path]


def read(path: Path, find: Find, children: tuple[Path, ...] = ()) -> Any:
    """The content of the file, merged over that of the file that it is ``like``, which ``find`` looks up by name."""
    content = config.read_yaml(path)
    if isinstance(content, Mapping):  # the configuration in it may name parts, from where it is
        content = {key: outside.located(value, path.absolute().parent) for key, value in content.items()}
        for value in content.values():
            outside.load(value.get("parts", ()) if isinstance(value, Mapping) else ())
    if not isinstance(content, Mapping) or "like" not in content:
        return content
    parent = find(str(content["like"]))
    if parent in (path, *children):
        raise UserError(f"{path.name} is like {parent.name}, which is like {path.name} in turn.")
    own = {key: value for key, value in content.items() if key != "like"}
    return config.merge(read(parent, find, (path, *children)), own)
