"""Commands that list, check or dry-run load no MXNet, nor anything else that takes long."""

import json
import os
import subprocess
import sys
from pathlib import Path

from sweeps_fixture import ready

from dmlplayground.base import registry, resources

ROOT = Path(__file__).parent.parent
HEAVY = {
    *("mxnet", "gluoncv", "torch", "numba", "sklearn", "scipy", "pandas", "matplotlib", "cv2"),
    *("optuna", "ray", "pyarrow", "onnx", "tensorboard", "wandb", "mlflow", "starlette"),
    # small ones, which together would be a quarter of the time that a dry run takes
    *("PIL", "simplejpeg", "tqdm", "http.client", "urllib.request", "tarfile", "importlib.metadata"),
    *("asyncio", "multiprocessing", "concurrent.futures", "logging"),
}
COMMANDS = [
    "--help",
    *registry.HOMES,
    "methods npairs",
    "backbones gluoncv:cifar_resnet20_v1",
    "protocols validated",
    "studies musgrave2020",
    "hyperparams",
    "experiments",
    "experiments musgrave2020/search/triplet",
    "train npairs --dry-run",
    "tune musgrave2020/search/triplet --dry-run",
    *(f"sweep {name} --dry-run" for name in resources.experiment_names()),
]
PROGRAM = """
import contextlib, io, json, sys
from dmlplayground.cli import main
heavy, *commands = sys.argv[1:]
told = {}
for command in commands:
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            code = main(command.split())
        except SystemExit as end:
            code = end.code
    told[command] = [code or 0, [name for name in heavy.split(",") if name in sys.modules]]
print(json.dumps(told))
"""


def test_nothing_heavy_is_loaded(tmp_path):
    """One process runs them all: what none of them loads, each of them does without."""
    commands = [f"{line} --store {tmp_path}" if "--dry-run" in line else line for line in COMMANDS]
    program = [sys.executable, "-c", PROGRAM, ",".join(HEAVY), *commands]
    no_data = {**os.environ, "DMLPLAYGROUND_DATA": str(tmp_path / "data")}  # whatever is on this machine
    done = subprocess.run(program, capture_output=True, text=True, cwd=ROOT, env=no_data)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {command: loaded for command, (_, loaded) in told.items()} == {command: [] for command in commands}
    refused = [command.split()[1] for command, (code, _) in told.items() if code]
    waiting = [name for name in resources.experiment_names() if not ready(name)]
    assert refused == waiting
