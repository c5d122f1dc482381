"""The names that other programs call, each loaded when it is first asked for."""

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


def test_the_citation_names_this_version():
    citation = yaml.safe_load((Path(__file__).parents[1] / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == dml.__version__ and citation["license"] == "Apache-2.0"
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
