"""How long it takes to find the nearest of many vectors, exactly, beside faiss and usearch in the same run.

    taskset -c 0 python benchmarks/search.py [--rows 1000000] [--width 128] [--rounds 5] [--record FILE]

One thread each, in turns; the best processor time of ``--rounds``. Single queries are asked one after another, and some
hundreds at once. The peers' exact indexes are meant (faiss's IndexFlatL2, usearch's exact search), which must find the same
rows; ``pip install faiss-cpu usearch`` brings them. The last lines are of the graph that ``Index.to_faiss`` gives, which is
approximate: its recall stands beside.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np

import dmlplayground as dml

K = 10
SINGLE, TOGETHER = 20, 300  # queries


class Clock:
    """The best processor time of each named function over rounds, all of them run once a round."""

    def __init__(self, rounds: int):
        self.rounds = rounds
        self.best: dict[str, float] = {}

    def run(self, queries: int, functions: dict[str, Callable]) -> None:
        for _ in range(self.rounds):
            for name, function in functions.items():
                start = time.process_time()
                function()
                taken = 1e3 * (time.process_time() - start) / queries
                self.best[name] = min(self.best.get(name, np.inf), taken)


def unit(rows: int, width: int, clusters: int, seed: int, centres_seed: int = 0) -> np.ndarray:
    """Vectors of unit length, about as many centres."""
    random, points = np.random.default_rng(seed), np.empty((rows, width), np.float32)
    centres = np.random.default_rng(centres_seed).normal(size=(clusters, width))
    for start in range(0, rows, 65536):
        part = points[start : start + 65536]
        part[:] = centres[random.integers(clusters, size=len(part))] + random.normal(size=part.shape)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return points


def compare(points: np.ndarray, queries: np.ndarray, rounds: int) -> list[dict]:
    import faiss
    from usearch.index import search as usearch

    faiss.omp_set_num_threads(1)
    index = dml.Index.make(points.shape[1])
    start = time.process_time()
    index.add(points)
    index.nearest(queries[:1], K)
    print(f"  added and encoded in {time.process_time() - start:.1f} CPU s")
    flat = faiss.IndexFlatL2(points.shape[1])
    flat.add(points)
    ways: dict[str, Callable] = {
        "ours": lambda some: index.nearest(some, K)[1],
        "faiss": lambda some: flat.search(some, K)[1],
        "usearch": lambda some: usearch(points, some, K, metric="l2sq", exact=True, threads=1).keys,
    }
    rows = []
    for kind, size in (("one by one", 1), (f"{TOGETHER} at once", TOGETHER)):
        asked = [queries[:TOGETHER]] if size > 1 else [queries[row : row + 1] for row in range(SINGLE)]
        found = {
            name: np.concatenate([way(some).reshape(len(some), K) for some in asked])
            for name, way in ways.items()
        }
        clock = Clock(rounds)
        clock.run(
            size * len(asked),
            {name: lambda way=way, asked=asked: [way(some) for some in asked] for name, way in ways.items()},
        )
        for name in ways:
            share = (found[name] == found["ours"]).mean()
            ratio = clock.best["ours"] / clock.best[name]
            print(
                f"  {kind:12s} {name:8s} {clock.best[name]:8.2f} ms a query   ours / it {ratio:5.2f}   same rows {share:.2%}"
            )
            if name != "ours":
                ours, theirs = (round(clock.best[each], 3) for each in ("ours", name))
                case = f"a search among {len(points):,} x {points.shape[1]}, {kind}"
                rows.append({"case": case, "ours": ours, "theirs": theirs, "unit": "CPU ms", "peer": name})
    return rows


def opening(points: np.ndarray) -> None:
    """What it takes to open an index of so many rows, and to search once in it."""
    with tempfile.TemporaryDirectory() as folder:
        index = dml.Index.make(points.shape[1])
        index.add(points)
        path = Path(folder) / "v.index"
        index.save(path)
        for what, action in (
            ("opened", lambda: dml.Index.open(path)),
            ("opened, searched once", lambda: dml.Index.open(path).search(points[:1], K)),
            ("opened, checked whole", lambda: dml.Index.open(path).check()),
        ):
            start = time.process_time()
            action()
            print(f"  {what}: {1e3 * (time.process_time() - start):.1f} CPU ms")


def approximate(points: np.ndarray, queries: np.ndarray) -> None:
    index = dml.Index.make(points.shape[1])
    index.add(points)
    start = time.process_time()
    graph = index.to_faiss()
    print(f"  {len(points):,} rows as a graph for faiss: {time.process_time() - start:.0f} CPU s")
    exact = index.nearest(queries, K)[1]
    for effort in (32, 64, 128, 256):
        graph.hnsw.efSearch = effort
        start = time.process_time()
        found = np.concatenate([graph.search(query[None], K)[1] for query in queries])
        taken = 1e3 * (time.process_time() - start) / len(queries)
        recall = np.mean(
            [len(set(one) & set(other)) / K for one, other in zip(found.tolist(), exact.tolist())]
        )
        print(f"  efSearch {effort:4d}: {taken:6.3f} ms a query, recall {recall:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--clusters", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--record", type=Path, help="a JSON file to keep the ratios in")
    chosen = parser.parse_args()
    points = unit(chosen.rows, chosen.width, chosen.clusters, seed=1)
    queries = unit(TOGETHER, chosen.width, chosen.clusters, seed=2)
    print(f"{chosen.rows:,} x {chosen.width}, {chosen.clusters:,} clusters")
    rows = compare(points, queries, chosen.rounds)
    opening(points)
    approximate(points[:100_000], queries)
    if chosen.record:
        about = (
            f"The {K} nearest, exact, squared Euclidean distances; one thread each, in turns, on a machine of "
            f"{os.cpu_count()} cores with {os.getloadavg()[0]:.0f} programs running. All find the same rows."
        )
        told = {"about": about, "when": date.today().isoformat()[:7], "rows": rows}
        chosen.record.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
