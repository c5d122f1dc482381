"""What the checks of parts have in common: how they compare, refuse and leave out, and what came of them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...base.errors import UserError


class Skip(Exception):
    """The check is not for this part; the message says why."""


def require(condition: Any, message: str) -> None:
    """Fail with this message unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def close(
    value: Any, expected: Any, rel: float = 1e-6, absolute: float = 1e-12, what: str = "the value"
) -> None:
    """Fail unless two numbers or arrays agree."""
    if not np.allclose(value, expected, rel, absolute):
        raise AssertionError(f"{what} is {value}, and should be {expected}")


@contextlib.contextmanager
def refuses(pattern: str) -> Iterator[None]:
    """Fail unless the block is refused in one line that matches."""
    try:
        yield
    except UserError as problem:
        require(re.search(pattern, str(problem)), f"the refusal {str(problem)!r} does not say {pattern!r}")
        return
    raise AssertionError(f"nothing is refused; expected {pattern!r}")
