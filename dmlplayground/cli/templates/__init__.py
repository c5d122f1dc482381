"""Templates of parts: a folder for each kind, with a small part that works (``part.txt``), its test and what else belongs to it,
such as the slow reference of a method or the settings of a study. ``dmlplayground new`` writes them under the name of a new
part.
"""

import datetime
import keyword
import re
from pathlib import Path
from string import Template

from ...base import files, registry
from ...base.errors import UserError, unknown

__all__ = ["filled", "is_checkout", "kinds", "write"]

HERE = Path(__file__).resolve().parent
CHECKOUT = ("setup.py", "dmlplayground", "tests")  # what every checkout of the source has


def kinds() -> dict[str, str]:
    """The word for one part of each kind -> the word for all: method -> methods."""
    plurals = sorted(path.parent.name for path in HERE.glob("*/part.txt"))
    return {re.sub("ies$", "y", plural).removesuffix("s"): plural for plural in plurals}


def write(word: str, name: str, folder: Path) -> list[Path]:
    """Write the files of a new part into ``folder``; where each belongs if that is a checkout of the source."""
    if word not in kinds():
        raise unknown("kind of part with a template", word, kinds())
    plural = kinds()[word]
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UserError(
            f"{name!r} cannot be a file name: use lower-case letters, digits and _ (such as my_{word})."
        )
    if name in registry.kind(plural).names():
        raise UserError(f"there is a {word} called {name} already: dmlplayground {plural} {name}.")
    inside = is_checkout(folder)
    files_of = (_places if inside else _beside)(plural, name)
    places = {folder / place: kind for kind, place in files_of.items() if _template(plural, kind).is_file()}
    if there := [path for path in places if path.exists()]:
        raise UserError(f"{there[0]} exists already.")
    with files.replacing_all() as begin:
        for path, kind in places.items():
            text = filled(plural, kind, name)
            begin(path).write(text if inside else _absolute(text, plural, name if kind == "test" else ""))
    return list(places)


def is_checkout(folder: Path) -> bool:
    """Whether the folder is a checkout of the source."""
    return all((folder / each).exists() for each in CHECKOUT)


def _absolute(text: str, plural: str, tested: str) -> str:
    """A template for a file outside the package: it imports by whole names. A test imports what it ``tested``."""
    package = registry.kind(plural).package.split(".")

    def whole(found: re.Match) -> str:
        above = package[: len(package) - len(found[1]) + 1]
        return f"from {'.'.join(filter(None, [*above, found[2]]))} import"

    text = re.sub(r"^from (\.+)(\S*) import", whole, text, flags=re.MULTILINE)
    first = re.search(r"^from dmlplayground", text, re.MULTILINE)
    if tested and first:
        text = f"{text[: first.start()]}import {tested}  # noqa: F401 (registers the part)\n{text[first.start() :]}"
    return text


def _places(plural: str, name: str) -> dict[str, Path]:
    """Where each file of a part belongs within a checkout; the test is the last."""
    package = Path(*registry.kind(plural).package.split("."))
    settings = Path("hyperparams", name)
    return {
        "part": package / f"{name}.py",
        "reference": Path("tests", "reference", f"{name}.py"),
        "common": settings / "common.yaml",
        "contrastive": settings / "glyphs" / "contrastive.yaml",
        "margin": settings / "glyphs" / "margin.yaml",
        "grid": Path("experiments", name, "table1.yaml"),
        "test": Path("tests", f"test_{plural}_{name}.py"),
    }


def _beside(plural: str, name: str) -> dict[str, Path]:
    """The files of a part in a folder of somebody's own."""
    if plural == "studies":
        raise UserError(
            "a study has files in several folders of a checkout of the source: name it with --into FOLDER."
        )
    names = {"part": name, "reference": f"{name}_reference", "test": f"test_{name}"}
    return {kind: Path(f"{file}.py") for kind, file in names.items()}


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
