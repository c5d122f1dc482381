"""Methods that a command computes: a name with any options, which are the command's to check."""

import re
from collections.abc import Mapping
from typing import Any

from ....base.errors import UserError, nearest, warn
from .base import KIND, Loss, Method

__all__ = ["ExternalMethod", "external_method"]


class External(Loss):
    """Computed by a command, not by this package."""

    def __init__(self, num_classes: int, embed_dim: int, **options: Any):
        super().__init__(num_classes, embed_dim)


class ExternalMethod(Method):
    """A method by its name alone."""

    def fill(self, options: Mapping[str, Any], kind: str) -> dict[str, Any]:
        return dict(options)


def external_method(name: str) -> Method:
    """The record of a method that a command computes."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.+]*", name):
        raise UserError(f"a method is called by letters, digits and _, not {name!r}.")
    near = nearest(name, (key for key in KIND.names() if not isinstance(KIND.get(key), ExternalMethod)), 0.8)
    if near and near not in name:
        warn(f"method {name}: a label for what the command trains. If {near} is meant, tables show it apart.")
    title = f"{name} (by a command)"
    return ExternalMethod(key=name, title=title, build=External, sampler={"name": "shuffled"})
