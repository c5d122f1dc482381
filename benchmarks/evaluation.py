"""What the evaluation costs, against the bare product of all pairs and against its peers, in one run.

    python benchmarks/evaluation.py [--cases cub cars sop] [--rounds 3] [--peer-python PYTHON] [--record FILE]

Every figure is the best of ``--rounds``, taken in turns, in wall and in processor seconds; the ratios are
what to read, since seconds belong to the machine and to whoever shares it. The baselines:

* the bare product of all pairs, by MXNet's operator in tiles that stay in the cache: who multiplies every pair cannot
  be faster, and who multiplies each two points once, not faster than half of it;
* the released study's method (whole matrix, then a partial sort of every row), at a size that fits into
  memory, and extrapolated by the square of the size, which is said where it is done;
* scikit-learn's neighbours and clusterings;
* pytorch-metric-learning's AccuracyCalculator, where ``--peer-python`` names an interpreter that has it (with
  torch and faiss-cpu); it runs as a process of its own, on the same embeddings.

Embeddings are synthetic: classes are Gaussian, rows have unit length.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import numpy as np

import dmlplayground  # noqa: F401  (before mxnet)
from dmlplayground import metrics
from dmlplayground.parts.metrics.shared.engine.embeddings import Embeddings

SIZES = {
    "cub": (5_924, 100, 2.0),
    "cars": (8_131, 98, 2.0),
    "sop": (60_502, 11_316, 1.2),
}  # rows, classes, noise
SEEDS = 24  # over which inertias of few clusters are compared: one start is 0.3 % from the next
STUDY_ROWS = 8_000  # at most so many at once for the study's method: its matrices take 36 bytes a pair

PEER = """
import sys, time, resource
import numpy as np
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
import torch
data = np.load(sys.argv[1])
points, labels = torch.from_numpy(data["points"]), torch.from_numpy(data["labels"])
calculator = AccuracyCalculator(include=sys.argv[2].split(","), k="max_bin_count")
calculator.get_accuracy(points[:2000], labels[:2000])
wall, processor = time.perf_counter(), time.process_time()
scores = calculator.get_accuracy(points, labels)
wall, processor = time.perf_counter() - wall, time.process_time() - processor
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(wall, processor, peak, {name: round(float(value), 4) for name, value in scores.items()})
"""


def embeddings(rows: int, classes: int, noise: float, dim: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    labels = random.permutation(np.arange(rows) % classes)
    points = random.normal(size=(classes, dim))[labels] + noise * random.normal(size=(rows, dim))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32), labels


class Clock:
    """The best time of each named function over rounds, all of them run once a round."""

    def __init__(self, rounds: int):
        self.rounds = rounds
        self.wall: dict[str, float] = {}
        self.processor: dict[str, float] = {}

    def run(self, **functions) -> None:
        for _ in range(self.rounds):
            for name, function in functions.items():
                wall, processor = time.perf_counter(), time.process_time()
                function()
                self._keep(name, time.perf_counter() - wall, time.process_time() - processor)

    def _keep(self, name: str, wall: float, processor: float) -> None:
        self.wall[name] = min(self.wall.get(name, np.inf), wall)
        self.processor[name] = min(self.processor.get(name, np.inf), processor)

    def report(self, name: str, baseline: str, note: str = "") -> None:
        wall, processor = self.wall[name], self.processor[name]
        ratios = f"{wall / self.wall[baseline]:8.2f} {processor / self.processor[baseline]:8.2f}"
        print(f"  {name:34s} {wall:9.3f} s {processor:9.3f} cpu-s   x {baseline}: {ratios} {note}")


def compared(clock: Clock, case: str, ours: str, peers: dict[str, str]) -> list[dict]:
    """A row for each of the peers that was timed, as the documentation's page of figures reads it."""
    seconds = {name: round(clock.processor[name], 4) for name in (ours, *peers) if name in clock.processor}
    return [
        {"case": case, "ours": seconds[ours], "theirs": seconds[name], "unit": "CPU s", "peer": peer}
        for name, peer in peers.items()
        if name in seconds
    ]


def record(rows: list[dict]) -> dict:
    about = (
        "Exact retrieval scores (R@1 to 16, R-precision, MAP@R) and one start of k-means, beside libraries on the same "
        f"synthetic embeddings in turns, {os.environ.get('OMP_NUM_THREADS', 'no set number of')} thread(s), on a "
        f"machine of {os.cpu_count()} cores, with {os.getloadavg()[0]:.0f} programs running. "
        "The library of neighbours finds 17 and counts nothing."
    )
    return {"about": about, "when": date.today().isoformat()[:7], "rows": rows}


def bare_product(points: np.ndarray):
    """All products, tile by tile, by the operator of MXNet that reaches the limit of the processor."""
    import mxnet as mx

    queries, references = (
        [mx.nd.array(points[start : start + size]) for start in range(0, len(points), size)]
        for size in (1024, 4096)
    )
    buffer = mx.nd.empty((1024 * 4096,))

    def run():
        for query in queries:
            for reference in references:
                shape = len(query), len(reference)
                out = buffer[: shape[0] * shape[1]].reshape(shape)
                mx.nd.FullyConnected(query, reference, num_hidden=shape[1], no_bias=True, out=out)
        mx.nd.waitall()

    return run


def study(points: np.ndarray, labels: np.ndarray) -> dict[int, float]:
    """The released study's Recall@K, as its paper's code goes about it."""
    squares = (points**2).sum(axis=1)
    distances = squares[:, None] + squares[None] - 2 * points @ points.T
    np.fill_diagonal(distances, 1e10)
    nearest = np.argpartition(distances, range(1, 17), axis=1)[:, :16]
    hits = labels[nearest] == labels[:, None]
    return {k: hits[:, :k].any(axis=1).mean() for k in (1, 2, 4, 8, 16)}


def library_neighbours(points: np.ndarray):
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=17, algorithm="brute").fit(points).kneighbors(return_distance=False)


def peer(python: str, points: np.ndarray, labels: np.ndarray, include: str) -> tuple[float, float, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "embeddings.npz"
        np.savez(path, points=points, labels=labels)
        done = subprocess.run([python, "-c", PEER, path, include], capture_output=True, text=True, check=True)
    wall, processor, peak, scores = done.stdout.strip().split(" ", 3)
    return float(wall), float(processor), f"peak {float(peak):.0f} MB {scores}"


def retrieval(case: str, dim: int, clock: Clock, peer_python: str | None) -> list[dict]:
    rows, classes, noise = SIZES[case]
    points, labels = embeddings(rows, classes, noise, dim)
    some = slice(0, min(rows, STUDY_ROWS))
    ours = {"starts": 1, "clustering": False}
    metrics.evaluate(points[:500], labels[:500], **ours)
    clock.run(
        product=bare_product(points),
        evaluate=lambda: metrics.evaluate(points, labels, **ours),
        evaluate_to_1000=lambda: metrics.evaluate(points, labels, [1, 10, 100, 1000], **ours),
        sklearn=lambda: library_neighbours(points),
        study=lambda: study(points[some], labels[some]),
    )
    print(f"\n{case}: {rows} x {dim}, {classes} classes; R@1..16, R-precision, MAP@R (R@1..1000 where said)")
    growth = (rows / (some.stop - some.start)) ** 2
    for seconds in (clock.wall, clock.processor):
        seconds["study"] *= growth
    note = "(extrapolated by the square of the size)" if growth > 1 else ""
    if peer_python:
        include = "precision_at_1,r_precision,mean_average_precision_at_r"
        runs = [peer(peer_python, points, labels, include) for _ in range(clock.rounds)]
        for wall, processor, _ in runs:
            clock._keep("AccuracyCalculator", wall, processor)
    for name in clock.wall:
        clock.report(name, "product", note if name == "study" else "")
    for name in set(clock.wall) - {"product", "evaluate", "evaluate_to_1000"}:
        print(f"  evaluate is {clock.wall[name] / clock.wall['evaluate']:.1f} times as fast as {name}")
    print(f"  evaluate: {metrics.evaluate(points, labels, **ours)}")
    if peer_python:
        print(f"  AccuracyCalculator: {runs[0][2]}")
    peers = {
        "product": "the bare product of all pairs",
        "sklearn": "scikit-learn's brute-force neighbours",
        "AccuracyCalculator": "pytorch-metric-learning's AccuracyCalculator",
    }
    return compared(clock, f"retrieval, {rows} x {dim}, {classes} classes", "evaluate", peers)


def clusterings(case: str, dim: int, clock: Clock) -> list[dict]:
    from sklearn.cluster import KMeans, MiniBatchKMeans

    rows, classes, noise = SIZES[case]
    points, labels = embeddings(rows, classes, noise, dim)
    found = {}

    def keep(name, run):
        def function():
            found[name] = run()

        return function

    metrics.kmeans(Embeddings(points[:500]), 10, starts=1)
    runs = {
        "kmeans": keep("kmeans", lambda: metrics.kmeans(Embeddings(points), classes, starts=1).clusters),
        "sklearn": keep("sklearn", lambda: KMeans(classes, n_init=1, random_state=0).fit_predict(points)),
        "evaluate_with_clustering": lambda: metrics.evaluate(points, labels, starts=1),
    }
    if classes > 1000:  # what the study's code uses there
        mini = MiniBatchKMeans(classes, n_init="auto", random_state=0)
        runs["sklearn_minibatch"] = keep("sklearn_minibatch", lambda: mini.fit_predict(points))
    clock.run(**runs)
    print(f"\n{case}: k-means of {rows} x {dim} into {classes} clusters, one start")
    for name in runs:
        note = ""
        if name in found:
            ratio = inertia(points, found[name]) / inertia(points, found["sklearn"])
            note = f"inertia {inertia(points, found[name]):.1f} ({ratio - 1:+.2%}), "
            note += f"NMI {metrics.nmi(labels, found[name]):.4f}, {len(np.unique(found[name]))} clusters"
        clock.report(name, "kmeans", note)
    seeds = range(1 if classes > 1000 else SEEDS)
    ours = [metrics.kmeans(Embeddings(points), classes, seed, starts=1).clusters for seed in seeds]
    theirs = [KMeans(classes, n_init=1, random_state=seed).fit_predict(points) for seed in seeds]
    sums = [np.mean([inertia(points, clusters) for clusters in side]) for side in (ours, theirs)]
    ratio = sums[0] / sums[1] - 1
    print(f"  inertia over {len(seeds)} seed(s): {ratio:+.2%} of scikit-learn's")
    name = f"k-means, {rows} x {dim} into {classes}, inertia {ratio:+.2%} over {len(seeds)} seed(s)"
    return compared(clock, name, "kmeans", {"sklearn": "scikit-learn's KMeans"})


def inertia(points: np.ndarray, clusters: np.ndarray) -> float:
    """By one formula for all: squared distances from the means of the clusters."""
    names, clusters = np.unique(clusters, return_inverse=True)
    sums = np.zeros((len(names), points.shape[1]))
    np.add.at(sums, clusters, points.astype(np.float64))
    means = sums / np.bincount(clusters)[:, None]
    return float(((points - means[clusters]) ** 2).sum())


def settings() -> None:
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE"]
    print("threads and BLAS:", ", ".join(f"{name}={os.environ.get(name, 'not set')}" for name in names))
    from threadpoolctl import threadpool_info

    for pool in threadpool_info():
        kind = f"{pool['internal_api']} {pool['version'] or ''} {pool.get('architecture', '')}"
        print(f"  {kind}: {pool['num_threads']} threads, {Path(pool['filepath']).name}")
    load = os.getloadavg()[0]
    print(f"  {os.cpu_count()} processors; other programs kept {load:.1f} of them busy in the last minute")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", nargs="+", choices=sorted(SIZES), default=["cub", "sop"])
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--parts", nargs="+", choices=["retrieval", "clustering"], default=["retrieval", "clustering"]
    )
    parser.add_argument(
        "--peer-python", help="an interpreter with pytorch-metric-learning, torch and faiss-cpu"
    )
    parser.add_argument("--record", type=Path, help="a file for the figures, as the documentation reads them")
    arguments = parser.parse_args()
    import mxnet  # noqa: F401  (loaded, so that its settings can be shown)

    settings()
    rows: list[dict] = []
    for case in arguments.cases:
        if "retrieval" in arguments.parts:
            rows += retrieval(case, arguments.dim, Clock(arguments.rounds), arguments.peer_python)
        if "clustering" in arguments.parts:
            rows += clusterings(case, arguments.dim, Clock(arguments.rounds))
    if arguments.record:
        arguments.record.write_text(json.dumps(record(rows), indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
