"""The names that other programs call, each loaded when it is first asked for."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import dmlplayground as dml


@pytest.mark.parametrize(
    "name",
    [
        "augmentations",
        "backbones",
        "config",
        "data",
        "hyperparams",
        "methods",
        "metrics",
        "samplers",
        "transforms",
    ],
)
def test_modules(name):
    module = getattr(dml, name)
    assert isinstance(module, ModuleType) and module.__name__.endswith(f".{name}")


@pytest.mark.parametrize(
    "name, home", [("train", "dmlplayground.trial.training"), ("sweep", "dmlplayground.sweeps")]
)
def test_functions(name, home):
    function = getattr(dml, name)
    assert callable(function) and function.__module__.startswith(home)


def test_all_of_them_are_listed():
    assert {"train", "sweep", "methods", "metrics", "data", "backbones", "hyperparams", "__version__"} <= set(
        dir(dml)
    )


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        dml.trian  # noqa: B018


def test_module_is_the_command():
    result = subprocess.run(
        [sys.executable, "-m", "dmlplayground", "--version"], capture_output=True, text=True
    )
    assert result.stdout == f"dmlplayground {dml.__version__}\n", result.stderr


def test_the_version_stands_in_one_place():
    root = Path(__file__).parents[1]
    assert "version" not in yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert f"\n## {dml.__version__} (" in (root / "CHANGELOG.md").read_text(encoding="utf-8")


def test_an_error_shows_where_it_arose_if_asked():
    command = [sys.executable, "-m", "dmlplayground", "methods", "nparis"]
    plain = subprocess.run(command, capture_output=True, text=True)
    debug = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "DMLPLAYGROUND_DEBUG": "1"}
    )
    assert plain.returncode == 2 and plain.stderr.count("\n") == 1
    assert "Traceback" in debug.stderr and "nparis" in debug.stderr


def test_the_picture_of_the_rooms_is_that_of_the_imports():
    docs = Path(__file__).parents[1] / "docs"
    drawn = subprocess.run(
        [sys.executable, "-c", "import rooms; print(rooms.picture(), end='')"],
        cwd=docs,
        capture_output=True,
        text=True,
    )
    assert drawn.stdout == (docs / "rooms.svg").read_text(encoding="utf-8"), "run: python docs/rooms.py"
