"""Errors that the user can fix: one clear sentence, exit code 2, no traceback."""

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
    characters are written as in Python (``\\x1b``), except those to ``keep``."""
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(
        char
        if char.isprintable() or char in keep or unicodedata.category(char) == "Zs"
        else char.encode("unicode_escape").decode("ascii")
        for char in shown
    )


MANY = 12  # names; where one of so many is near, it is named alone


def unknown(kind: str, name: object, known: Iterable[str], also: Mapping[str, str] = {}) -> UserError:
    """The error for an unknown name: it suggests the nearest, or lists all. ``also``: other names for known ones."""
    return UserError(f"unknown {kind} {name!r}.{_choices(name, known, also)}")


def neither(kind: str, name: str, known: Iterable[str]) -> UserError:
    """The error for what may be a known name or a file, and is not one of them."""
    return UserError(f"{name!r} is neither a known {kind} nor a file.{_choices(name, known)}")


def _choices(name: object, known: Iterable[str], also: Mapping[str, str] = {}) -> str:
    names = sorted(known)
    word = nearest(name, (*names, *also))
    hint = f" Did you mean {also.get(word, word)!r}?" if word else ""
    if hint and len(names) > MANY:
        return hint
    return f"{hint} Known: {', '.join(names) or 'none'}."


def nearest(name: object, known: Iterable[str], least: float = 0.6) -> str | None:
    """The known name that is spelled most like this one, the first of equals; None if none is as like as ``least``."""
    wanted = _plain(name)
    near = [(difflib.SequenceMatcher(None, wanted, _plain(word)).ratio(), word) for word in known]
    ratio, word = max(near, key=lambda pair: pair[0], default=(0.0, None))
    return word if ratio >= least else None


def _plain(name: object) -> str:
    """Without case, and with one kind of separator, so that ``N. Softmax`` and ``n-softmax`` are close."""
    return "_".join(re.findall(r"[a-z0-9]+", str(name).lower()))


def warn(line: str) -> None:
    """Warn the user of a problem that does not stop the program; each only once."""
    if line not in _WARNED:
        _WARNED.add(line)
        print("warning:", printable(line, keep="\n"), file=sys.stderr)


_WARNED: set[str] = set()
