"""Plain text for a terminal: options, values and tallies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..base.options import Option


def options(given: Mapping[str, Option]) -> str:
    """``margin=1.0, symmetric=false``; only the name of an option without a default."""
    words = (name if option.required else f"{name}={value(option.default)}" for name, option in given.items())
    return ", ".join(words) or "-"


def value(content: Any) -> str:
    """A value on one line, as in YAML."""
    if isinstance(content, Mapping):
        return "{" + ", ".join(f"{k}: {value(v)}" for k, v in content.items()) + "}"
    if isinstance(content, (list, tuple)):
        return "[" + ", ".join(map(value, content)) + "]"
    if content is None:
        return "null"
    return str(content).lower() if isinstance(content, bool) else str(content)


def tally(states: Counter) -> str:
    """``24 finished, 2 failed``"""
    return ", ".join(f"{count} {state}" for state, count in states.most_common()) + "."
