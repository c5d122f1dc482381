"""Templates of parts: a folder for each kind, with a small part that works (``part.txt``), its test and what else belongs to it,
such as the slow reference of a method or the settings of a study. ``dmlplayground new`` writes them under the name of a new
part.
"""

from __future__ import annotations

import datetime
import keyword
import re
from pathlib import Path
from string import Template

from ...base import files, registry
from ...base.errors import UserError, unknown

__all__ = ["filled", "kinds", "write"]

HERE = Path(__file__).resolve().parent
CHECKOUT = ("setup.py", "dmlplayground", "tests")  # what every checkout of the source has


def kinds() -> dict[str, str]:
    """The word for one part of each kind -> the word for all: method -> methods."""
    return {
        re.sub("ies$", "y", path.name).removesuffix("s"): path.name
        for path in sorted(HERE.iterdir())
        if (path / "part.txt").is_file()
    }


def write(word: str, name: str, folder: Path) -> list[Path]:
    """Write the files of a new part below ``folder``, a checkout of the source."""
    if word not in kinds():
        raise unknown("kind of part with a template", word, kinds())
    plural = kinds()[word]
    _check(plural, word, name)
    if missing := [each for each in CHECKOUT if not (folder / each).exists()]:
        raise UserError(f"{folder} is not a checkout of dmlplayground: missing are {' and '.join(missing)}.")
    places = {folder / place: kind for kind, place in _places(plural, name).items()}
    if there := [path for path in places if path.exists()]:
        raise UserError(f"{there[0]} exists already.")
    with files.replacing_all() as begin:
        for path, kind in places.items():
            begin(path).write(filled(plural, kind, name))
    return list(places)


def _check(plural: str, word: str, name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UserError(
            f"{name!r} cannot be a file name: use lower-case letters, digits and _ (such as my_{word})."
        )
    if name in registry.kind(plural).names():
        raise UserError(f"there is a {word} called {name} already: dmlplayground {plural} {name}.")


def _places(plural: str, name: str) -> dict[str, Path]:
    """Where each file of a part belongs within a checkout, as far as there is a template of it; the test is the last."""
    package = Path(*registry.kind(plural).package.split("."))
    settings = Path("hyperparams", name)
    places = {
        "part": package / f"{name}.py",
        "reference": Path("tests", "reference", f"{name}.py"),
        "common": settings / "common.yaml",
        "contrastive": settings / "glyphs" / "contrastive.yaml",
        "margin": settings / "glyphs" / "margin.yaml",
        "grid": Path("experiments", name, "table1.yaml"),
        "test": Path("tests", f"test_{plural}_{name}.py"),
    }
    return {kind: place for kind, place in places.items() if _template(plural, kind).is_file()}


def _template(plural: str, kind: str) -> Path:
    return HERE / plural / f"{kind}.txt"


def filled(plural: str, kind: str, name: str) -> str:
    """One template, such as ``part`` or ``test``, with the name of the new part in its places."""
    words = [word for word in name.split("_") if word]
    return Template(_template(plural, kind).read_text(encoding="utf-8")).substitute(
        key=name,
        Class="".join(word.capitalize() for word in words),
        title=" ".join(words).capitalize(),
        year=datetime.date.today().year,
    )
