"""What an evaluation of very many embeddings costs: processor time and memory, on one thread and on more.

    python benchmarks/million.py [--rows 1000000] [--width 128] [--threads 1 2] [--memory 512 6000] [--record FILE]

Each run is a process of its own, which maps the embeddings from a file and computes R@1 to 16, R-precision and MAP@R
(Euclidean, exact, every row a query). Its peak of memory is the system's figure for the whole process, less what it had
before the evaluation: the pages of the mapped file count, as they would if it held the embeddings. All runs must have the
same scores to the last bit. ``--memory`` is what ``evaluate`` takes, in megabytes: with too little for the positives of
all queries together, every product is computed twice.

Classes are Gaussian, of 16 or 17 rows of unit length (a million rows have 60,000 classes).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import numpy as np

ABOUT = (
    "Exact retrieval scores (R@1 to 16, R-precision, MAP@R; Euclidean, every row a query, classes of 16 or 17 rows). "
    "Memory is the peak beyond the program itself; the embeddings, mapped from a file, are part of it. Where the memory "
    "allowed does not hold the positives of all queries, each two rows are compared twice. All runs had the same scores to "
    "the bit. Other programs shared the machine, so only processor time is given."
)
NOISE = 1.2
RUN = """
import json, re, sys, time
import numpy as np
from dmlplayground import metrics

def peak():  # of this program alone: getrusage begins with that of the process that started it
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1.024e-3

points, labels = (np.load(f"{sys.argv[1]}/{name}.npy", mmap_mode="r") for name in ("points", "labels"))
metrics.evaluate(points[:2000], labels[:2000] % 100, clustering=False)
before, wall, processor = peak(), time.perf_counter(), time.process_time()
scores = metrics.evaluate(points, labels, clustering=False, memory=int(sys.argv[2]) * 1_000_000)
figures = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor, "peak": peak() - before}
print(json.dumps({**figures, "scores": {name: value.hex() for name, value in scores.items()}}))
"""


def write(folder: Path, rows: int, width: int) -> int:
    """Embeddings and labels as files, made part by part; the number of classes."""
    random, classes = np.random.default_rng(0), max(rows * 3 // 50, 1)
    labels = random.permutation(np.arange(rows) % classes)
    centres = random.normal(size=(classes, width)).astype(np.float32)
    points = np.lib.format.open_memmap(folder / "points.npy", "w+", np.float32, (rows, width))
    for start in range(0, rows, 65536):
        own = centres[labels[start : start + 65536]]
        part = own + NOISE * random.normal(size=own.shape)
        points[start : start + 65536] = part / np.linalg.norm(part, axis=1, keepdims=True)
    points.flush()
    np.save(folder / "labels.npy", labels)
    return classes


def evaluate(folder: Path, threads: int, memory: int) -> dict:
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, "-c", RUN, str(folder), str(memory)]
    return json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout)


def keep(file: Path, case: str, found: dict) -> None:
    """The figures of a run, in the place of those that the file has for such a run."""
    rows = json.loads(file.read_text())["rows"] if file.exists() else []
    rows = [row for row in rows if row["case"] != case]
    for name, unit in (("processor", "CPU s"), ("peak", "MB")):
        rows.append({"case": case, "ours": round(found[name], 1), "theirs": None, "unit": unit, "peer": ""})
    about = {"about": ABOUT, "when": date.today().isoformat()[:7], "rows": rows}
    file.write_text(json.dumps(about, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--memory", type=int, nargs="+", default=[512, 6000], help="megabytes")
    parser.add_argument("--record", type=Path, help="a file for the figures; runs are added to those it has")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        classes = write(Path(folder), arguments.rows, arguments.width)
        shape = f"{arguments.rows:,} x {arguments.width}, {classes:,} classes"
        print(f"{shape}: {arguments.rows * arguments.width * 4e-6:.0f} MB")
        same = None
        for memory in arguments.memory:
            for threads in arguments.threads:
                found = evaluate(Path(folder), threads, memory)
                scores = found.pop("scores")
                assert scores == (same := same or scores), "the scores differ"
                figures = ", ".join(f"{name} {value:.1f}" for name, value in found.items())
                shown = ", ".join(
                    f"{name} {100 * float.fromhex(value):.2f}" for name, value in scores.items()
                )
                print(f"  {threads} thread(s), memory={memory} MB: {figures}; {shown}", flush=True)
                if arguments.record:
                    case = f"{shape}; {threads} thread(s), memory={memory} MB"
                    keep(arguments.record, case, found)


if __name__ == "__main__":
    sys.exit(main())
