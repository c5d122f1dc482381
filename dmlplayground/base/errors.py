"""Errors that the user can fix: one clear sentence, exit code 2, no traceback."""

from __future__ import annotations

import difflib
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping


class UserError(Exception):
    """Bad input. The message names the thing and what to do; the command line prints it and exits with 2."""

    def __str__(self) -> str:
        return printable(super().__str__(), keep="\n")


def printable(text: object, keep: str = "") -> str:
    """Text in which nothing moves the cursor, ends the line or speaks to the terminal, as in a hostile file's name: such
    characters are written as in Python (``\\x1b``), except those to ``keep``.

    >>> print(printable("a\\nerror: b.jpg"))
    a\\nerror: b.jpg
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(
        char
        if char.isprintable() or char in keep or unicodedata.category(char) == "Zs"
        else char.encode("unicode_escape").decode("ascii")
        for char in shown
    )


def unknown(kind: str, name: object, known: Iterable[str], also: Mapping[str, str] = {}) -> UserError:
    """The error for an unknown name: it lists the known ones and suggests the nearest. ``also`` maps other common
    names to known ones.
    """
    return UserError(f"unknown {kind} {name!r}.{_choices(name, known, also)}")


def neither(kind: str, name: str, known: Iterable[str]) -> UserError:
    """The error for what may be a known name or a file, and is not one of them."""
    return UserError(f"{name!r} is neither a known {kind} nor a file.{_choices(name, known)}")


def _choices(name: object, known: Iterable[str], also: Mapping[str, str] = {}) -> str:
    names = sorted(known)
    spelled = {_plain(word): word for word in (*names, *also)}
    wanted = _plain(name)
    nearness = {word: difflib.SequenceMatcher(None, wanted, word).ratio() for word in spelled}
    near = max(spelled, key=lambda word: (nearness[word], spelled[word] in names), default="")
    word = spelled[near] if nearness.get(near, 0) >= 0.6 else None
    hint = f" Did you mean {also.get(word, word)!r}?" if word else ""
    listing = ", ".join(names) if names else "none"
    return f"{hint} Known: {listing}."


def _plain(name: object) -> str:
    """Without case, and with one kind of separator, so that ``N. Softmax`` and ``n-softmax`` are close."""
    return "_".join(re.findall(r"[a-z0-9]+", str(name).lower()))


def warn(line: str) -> None:
    """Warn the user of a problem that does not stop the program; each only once."""
    if line not in _WARNED:
        _WARNED.add(line)
        print("warning:", printable(line, keep="\n"), file=sys.stderr)


_WARNED: set[str] = set()
