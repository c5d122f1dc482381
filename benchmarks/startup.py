"""How long the commands take that only list, check or dry-run: wall and processor time of whole processes.

python benchmarks/startup.py [--repeat 5]
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMANDS = (
    "--help",
    "methods",
    "methods npairs",
    "samplers",
    "metrics",
    "backbones",
    "hyperparams",
    "experiments",
    "train npairs --dry-run",
    "sweep quickstart --dry-run",
    "sweep equal/sop --dry-run",  # the largest of the built-in experiments
    "tune musgrave2020/search/triplet --dry-run",
    "report store",  # of the 26 trials of the quick start: tables, figures and the page
    "sweep seeds.json --dry-run",  # JSON is YAML
    "sweep mixed.json --dry-run",
    "sweep rates.json --dry-run",
)

#: Experiments of a hundred and twenty thousand trials that differ mainly in their seeds, in a little of everything, and in
#: rates alone.
LARGE_GRIDS = {
    "seeds": {
        "method": ["npairs", "margin", "triplet"],
        "embed_dim": [16, 32, 64, 128],
        "optimizer.lr": [1e-3, 3e-4, 1e-4, 3e-5, 1e-5],
        "seed": list(range(2000)),
    },
    "mixed": {
        "method": ["margin", "triplet"],
        "embed_dim": [16, 32, 48, 64, 96],
        "batch_size": [20, 40, 60, 80, 100, 120],
        "optimizer.lr": [rate / 1e5 for rate in range(1, 11)],
        "method.margin": [margin / 10 for margin in range(1, 11)],
        "seed": list(range(20)),
    },
    "rates": {
        "method": "margin",
        "optimizer.lr": [rate / 1e5 for rate in range(1, 101)],
        "schedule.factor": [factor / 100 for factor in range(1, 101)],
        "optimizer.weight_decay": [decay / 1e5 for decay in range(12)],
    },
}

QUICKSTART = Path(__file__).resolve().parents[1] / "experiments" / "results" / "quickstart"


def measured(words: list[str]) -> tuple[float, float]:
    """Wall and processor seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    command = [sys.executable, "-m", "dmlplayground", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=5, help="runs of each command (default: %(default)s)")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        shutil.copytree(QUICKSTART, "store")
        for name, axes in LARGE_GRIDS.items():
            Path(f"{name}.json").write_text(json.dumps({"title": name, "grid": axes}))
        report(arguments.repeat)
        os.chdir("/")


def report(repeat: int) -> None:
    print(f"{'command':38} {'wall s':>8} {'cpu s':>8}   medians of {repeat}")
    for command in COMMANDS:
        runs = [measured(command.split()) for _ in range(repeat)]
        wall, processor = (statistics.median(values) for values in zip(*runs))
        print(f"{command:38} {wall:8.2f} {processor:8.2f}")


if __name__ == "__main__":
    main()
