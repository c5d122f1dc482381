"""How long the commands take that only list, check or dry-run: wall and processor time of whole processes.

python benchmarks/startup.py [--repeat 5]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time

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
)


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
    print(f"{'command':32} {'wall s':>8} {'cpu s':>8}   medians of {arguments.repeat}")
    for command in COMMANDS:
        runs = [measured(command.split()) for _ in range(arguments.repeat)]
        wall, processor = (statistics.median(values) for values in zip(*runs))
        print(f"{command:32} {wall:8.2f} {processor:8.2f}")


if __name__ == "__main__":
    main()
