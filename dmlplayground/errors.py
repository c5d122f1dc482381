"""Errors that are the user's to fix: one clear sentence, exit code 2, no traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Bad input. The message names the thing and what to do; the command line prints it and exits with 2."""


def unknown(kind: str, name: object, known: Iterable[str]) -> UserError:
    """The error for a name that is not among the known ones: lists them and offers the nearest."""
    names = sorted(known)
    near = difflib.get_close_matches(str(name), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    listing = ", ".join(names) if names else "none"
    return UserError(f"unknown {kind} {name!r}.{hint} Known: {listing}.")
