"""Where the files of ``experiments/`` and ``hyperparams/`` and the built pages are, in a checkout or installed."""

import os
from pathlib import Path

from . import files
from .errors import UserError, neither

SEARCH = "search"  # a folder of searches, or a search in a folder
RESULTS = "results"  # the folder beside the experiments that holds records by the thousand, and none of them
_PACKAGE = Path(__file__).resolve().parents[1]


def experiments() -> Path:
    """The folder of the grids and searches."""
    return _folder("experiments")


def hyperparams() -> Path:
    """The folder of the recipes."""
    return _folder("hyperparams")


def experiment_names(study: str = "") -> list[str]:
    """All grids: ``quickstart``, and those of studies, such as ``fehervari2019/table2_cub200``; or those of one study."""
    return [name for name in _files(study) if SEARCH not in name.split("/")]


def search_names(study: str = "") -> list[str]:
    """All searches of studies, such as ``musgrave2020/search/contrastive``; or those of one study."""
    return [name for name in _files(study) if SEARCH in name.split("/")]


def find_experiment(name: str | Path) -> Path:
    """A user's own path, or a built-in file by its name, with or without ``.yaml`` and folders."""
    return _find("experiment", name, experiment_names())


def find_search(name: str | Path) -> Path:
    """The same for searches."""
    return _find("search", name, search_names())


def _files(study: str) -> list[str]:
    home = experiments()
    found = []
    for folder, below, names in os.walk(home):
        if RESULTS in below and Path(folder) == home:
            below.remove(RESULTS)
        found += [Path(folder, name) for name in names if name.endswith(".yaml")]
    stems = sorted(_stem(path.relative_to(home)) for path in found)
    return [stem for stem in stems if not study or stem.startswith(f"{study}/")]


def _find(kind: str, name: str | Path, known: list[str]) -> Path:
    path = Path(name)
    if path.is_file():
        return path
    ours = _stem(Path(*path.parts[1:]) if path.parts[:1] == ("experiments",) else path)
    found = [one for one in known if one == ours] or [one for one in known if one.endswith(f"/{ours}")]
    if len(found) > 1:
        raise UserError(f"there are several {kind}s called {ours}: {', '.join(found)}.")
    if not found:
        raise neither(kind, str(name), known)
    return experiments() / f"{found[0]}.yaml"


def _stem(path: Path) -> str:
    return path.as_posix().removesuffix(".yaml")  # no other ending, since a name may contain a dot


def checkout() -> Path | None:
    """The checkout of the source that the program runs from; None if it is installed."""
    return _PACKAGE.parent if (_PACKAGE.parent / "setup.py").is_file() else None


def cache() -> Path:
    """Where what can be made again is kept: $DMLPLAYGROUND_CACHE, else dmlplayground/ in the user's cache folder."""
    chosen = os.environ.get("DMLPLAYGROUND_CACHE")
    if chosen:
        return files.expanded(chosen)
    return files.expanded(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "dmlplayground"


def pages() -> Path | None:
    """The built documentation, if it was built here or before the package was."""
    folder = _folder("site")
    return folder if (folder / "index.html").is_file() else None


def _folder(name: str) -> Path:
    """At the top of a checkout, or else inside the installed package."""
    top = checkout()
    return top / name if top else _PACKAGE / "_files" / name
