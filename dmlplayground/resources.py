"""Where the YAML of ``experiments/`` and ``hyperparams/`` is, in a checkout and in an installation."""

from __future__ import annotations

from pathlib import Path

from .errors import unknown

_PACKAGE = Path(__file__).resolve().parent


def experiments() -> Path:
    """The folder of the study's grids."""
    return _folder("experiments")


def hyperparams() -> Path:
    """The folder of tuned values, ``<protocol>/<dataset>/<method>.yaml``."""
    return _folder("hyperparams")


def experiment_names() -> list[str]:
    folder = experiments()
    return sorted(_stem(path.relative_to(folder)) for path in folder.rglob("*.yaml"))


def find_experiment(name: str | Path) -> Path:
    """A path of the user's own, or the file of ours by its name, with or without folder and ``.yaml``."""
    path = Path(name)
    if path.is_file():
        return path
    ours = _stem(Path(*path.parts[1:]) if path.parts[:1] == ("experiments",) else path)
    if ours not in experiment_names():
        raise unknown("experiment (and no such file)", str(name), experiment_names())
    return experiments() / f"{ours}.yaml"


def _stem(path: Path) -> str:
    """Without ``.yaml`` only: a name may hold a dot of its own."""
    return path.as_posix()[: -len(".yaml")] if path.suffix == ".yaml" else path.as_posix()


def _folder(name: str) -> Path:
    """At the top of the checkout if we run from one, as an editable install does; else beside us."""
    checkout = _PACKAGE.parent
    return checkout / name if (checkout / "setup.py").is_file() else _PACKAGE / "_files" / name
