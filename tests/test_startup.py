"""Commands that list, check or dry-run load no MXNet, nor anything else that takes long."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = ("mxnet", "sklearn", "scipy", "matplotlib", "numba", "pandas", "optuna", "ray", "gluoncv", "torch")
COMMANDS = [
    "--help",
    "methods",
    "methods npairs",
    "backbones",
    "metrics",
    "samplers",
    "protocols validated",
    "optimizers",
    "schedules",
    "data",
    "hyperparams",
    "experiments",
    "sweep quickstart --dry-run",
    "train npairs --dry-run",
]
PROGRAM = """
import contextlib, io, json, sys
from dmlplayground.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    try:
        code = main(sys.argv[2:])
    except SystemExit as end:
        code = end.code
print(json.dumps([code, [name for name in sys.argv[1].split(",") if name in sys.modules]]))
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_heavy_is_loaded(command, tmp_path):
    words = [*command.split(), *(["--store", str(tmp_path)] if "--dry-run" in command else [])]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, ",".join(HEAVY), *words], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    code, loaded = json.loads(done.stdout)
    assert not code, done.stderr
    assert loaded == []
