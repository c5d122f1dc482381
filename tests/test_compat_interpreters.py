"""The MXNet checks under every Python of this machine, each in an environment made afresh with pip."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MXNET, NEEDS_OF_MXNET = "mxnet==1.9.1", ["requests", "graphviz"]
# The MXNet half of gluoncv imports no more than this; its metadata would bring OpenCV and pandas.
GLUONCV, NEEDS_OF_GLUONCV = "gluoncv==0.10.5.post0", ["portalocker", "Pillow", "tqdm"]


def interpreters():
    """Every Python from 3.10 on, of pyenv and on the path, each once, with its minor version."""
    on_path = [
        Path(folder) for folder in os.get_exec_path() if not folder.endswith("/shims")
    ]  # pyenv's scripts
    folders = [*Path.home().glob(".pyenv/versions/*/bin"), *on_path]
    found = {}
    for folder in folders:
        for path in folder.glob("python3.*"):
            version = re.fullmatch(r"python3\.(\d+)", path.name)
            if version and int(version[1]) >= 10:
                found[path.resolve()] = int(version[1])
    return found


def cases():
    """The newest NumPy that MXNet's metadata allows and, of the oldest Pythons, the oldest; later ones have the newest too,
    which it forbids."""
    for python, minor in interpreters().items():
        numpys = (
            ["numpy==1.23.5"] * (minor <= 10) + ["numpy<2"] * (minor <= 12) + ["numpy>=2"] * (minor >= 12)
        )
        yield pytest.param(
            python, numpys, id=f"3.{minor}-{'system' if python.is_relative_to('/usr') else 'own'}"
        )


@pytest.mark.slow
@pytest.mark.parametrize("python, numpys", list(cases()))
def test_mxnet_works(python, numpys, tmp_path):
    hidden = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}

    def run(*command):
        result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        if result.returncode:
            pytest.fail(result.stdout + result.stderr, pytrace=False)

    run(python, "-m", "venv", tmp_path)
    pip = (tmp_path / "bin/python", "-m", "pip", "install", "-q", "--no-compile")  # most is never imported
    run(*pip, "pytest", "scipy", *NEEDS_OF_GLUONCV, *NEEDS_OF_MXNET, numpys[0])
    run(*pip, "--no-deps", MXNET, GLUONCV)
    tests = (
        tmp_path / "bin/python",
        "-m",
        "pytest",
        "-q",
        "-m",
        "",
        "-p",
        "no:cacheprovider",
        "tests/test_compat.py",
    )
    run(*tests)
    for numpy in numpys[1:]:
        run(*pip, numpy)
        run(*tests)
