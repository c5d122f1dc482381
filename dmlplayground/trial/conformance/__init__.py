"""What holds for every part of a kind, as checks that anybody can make of a part: ``dmlplayground check my_loss.py``, or
``dmlplayground check --device gpu:0`` of all parts on a GPU. The project's own tests make the same checks of its own parts.
"""

import contextlib
import re
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ...base import devices, outside, registry
from ...base.errors import UserError, unknown

__all__ = ["CheckOutcome", "check", "checks_of", "named"]


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
    import numpy as np  # here, as listings load this file

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


class CheckOutcome(NamedTuple):
    """What came of one check of a part: ``fault`` is empty if it passed, ``left_out`` says why it was not made."""

    kind: str
    part: str
    check: str
    fault: str = ""
    left_out: str = ""
    seconds: float = 0.0


def check(target: str | Path, kind: str | None = None, device: str = "cpu") -> list[CheckOutcome]:
    """Make every check of a part: of all that a file registers, or of one by its name.

    ``kind`` is needed where parts of several kinds have the name: ``check("all", "miners")``. Losses and networks are
    computed on the device, and compared with the CPU.

    >>> [one.fault for one in dml.check("semihard")]  # doctest: +SKIP
    ['', '', '', '']
    """
    return list(made(named(target, kind), device))


def named(target: str | Path | None, kind: str | None = None) -> list[tuple[str, str]]:
    """The parts that are meant, each by its kind in the plural and its key; all of them, or of the kind, without a target."""
    plurals = [kind] if kind else [plural for plural in registry.HOMES if plural != "studies"]
    if target is None:
        return [(plural, key) for plural in plurals for key in registry.kind(plural).names()]
    if Path(target).suffix == ".py":
        outside.load([target])
        homes = {registry.kind(plural).name: plural for plural in registry.HOMES}
        keys = sorted(outside.registered(Path(target)), key=lambda own: list(homes).index(own[0]))
        return [(homes[name], key) for name, key in keys]
    found = [(plural, str(target)) for plural in plurals if target in registry.kind(plural).names()]
    if not found:
        names = {name for plural in plurals for name in registry.kind(plural).names()}
        raise unknown("part (and no file that ends in .py)", str(target), names)
    if len(found) > 1:
        several = ", ".join(plural for plural, _ in found)
        raise UserError(f"{target} is the name of several parts: {several}. Say which.")
    return found


def checks_of(plural: str) -> list[Callable[[str], None]]:
    """The checks of a kind, each a function of a part's key that fails, or raises ``Skip``."""
    from . import kinds, methods  # these load MXNet

    return [*kinds.of(plural), *(methods.CHECKS if plural == "methods" else ())]


def made(parts: Iterable[tuple[str, str]], device: str = "cpu") -> Iterator[CheckOutcome]:
    """One by one, as they end."""
    context = devices.context(device)
    for plural, key in parts:
        for one in checks_of(plural):
            began, fault, left_out = time.perf_counter(), "", ""
            try:
                with context:  # what names no device is computed here
                    one(key)
            except Skip as reason:
                left_out = str(reason)
            except Exception as problem:  # whatever a part raises is a finding
                fault = _said(problem)
            words = one.__name__.replace("_", " ")
            yield CheckOutcome(plural, key, words, fault, left_out, time.perf_counter() - began)


def _said(problem: Exception) -> str:
    """The problem in a line; of a bare assertion, what it says in the code."""
    text = " ".join(str(problem).split())
    last = traceback.extract_tb(problem.__traceback__)[-1]
    if isinstance(problem, AssertionError):
        return text[:300] or f"it does not hold that {(last.line or '').removeprefix('assert ')}"
    return f"{type(problem).__name__}: {text[:300]} ({Path(last.filename).name}, line {last.lineno})"
