"""What it costs to plan batches that look at embeddings, and the share of a training step that this is.

Planning is timed on one core: pools of 512 images of 128 dimensions, batches of 112, as the training-strategies study
has them, on data sets of the size of CUB-200 and of Stanford Online Products. Beside it stands a plain program of the
same definition, with scipy's functions, timed in the same run. A step of conv4 (64 x 64
pixels) and, with --resnet, of ResNet-50 (224 x 224) is timed here too. Planning runs beside training, so its share is
lost only where no core is free: whole epochs show it.

    python benchmarks/samplers.py [--rounds 5] [--resnet]
"""

import argparse
import itertools
import os
import time
from collections.abc import Callable
from types import SimpleNamespace

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import dmlplayground  # noqa: F401  (before mxnet, which it lets work with a new NumPy)

# isort: split
import mxnet as mx
import numpy as np
from mxnet import nd
from scipy.linalg import sqrtm
from scipy.spatial.distance import cdist, pdist
from scipy.stats import wasserstein_distance

from dmlplayground import config, data, samplers, transforms
from dmlplayground.trial.training.feed import Feed
from dmlplayground.trial.training.learner import Learner

BATCH, WIDTH, POOL, CANDIDATES = 112, 128, 512, 10
STEPS = 15  # of an epoch
TARGETS = {"greedy_coreset": 12, "distance_matching": 28, "frechet_matching": 110}  # milliseconds
SIZES = {"CUB-200": (100, 5864), "SOP": (11318, 59551)}  # classes and images of the training half


def best(measured: Callable[[], object], rounds: int) -> float:
    """Milliseconds of processor time of the quickest round: others on the machine show less in it."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        measured()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


# --- the same definitions, written plainly ---------------------------------------------------------------------------


def plain_greedy_coreset(pool: np.ndarray) -> None:
    picks = [0]
    while len(picks) < BATCH // 2:
        picks.append(int(cdist(pool, pool[picks], "sqeuclidean").min(axis=1).argmax()))


def plain_distance_matching(pool: np.ndarray) -> None:
    distances = pdist(pool)
    edges = np.histogram_bin_edges(distances, 50)
    heights, middles = np.histogram(distances, edges)[0], (edges[:-1] + edges[1:]) / 2
    for candidate in _plain_candidates(pool):
        counts = np.histogram(pdist(candidate), edges)[0]
        wasserstein_distance(middles, middles, heights, counts)
        np.linalg.norm(pool.mean(axis=0) - candidate.mean(axis=0))
        np.linalg.norm(pool.std(axis=0) - candidate.std(axis=0))


def plain_frechet_matching(pool: np.ndarray) -> None:
    covariance, ridge = np.cov(pool.T), 1e-8 * np.eye(WIDTH)
    for candidate in _plain_candidates(pool):
        other = np.cov(candidate.T)
        np.trace(sqrtm((covariance + ridge) @ (other + ridge)).real)


def _plain_candidates(pool: np.ndarray) -> np.ndarray:
    return pool[np.random.default_rng(0).integers(POOL, size=(CANDIDATES, BATCH))]


PLAIN = {
    "greedy_coreset": plain_greedy_coreset,
    "distance_matching": plain_distance_matching,
    "frechet_matching": plain_frechet_matching,
}


# --- ours ------------------------------------------------------------------------------------------------------------


def planning(name: str, classes: int, images: int, rounds: int) -> float:
    """Milliseconds a batch."""
    rng = np.random.default_rng(0)
    labels = np.sort(np.concatenate([np.arange(classes), rng.integers(classes, size=images - classes)]))
    memory = _unit(rng.normal(size=(images, WIDTH)).astype(np.float32))
    sampler = samplers.create(name, labels, BATCH, iterations=5, seed=1)
    shown = SimpleNamespace(embeddings=lambda: memory)
    return best(lambda: list(sampler.batches(0, shown)), rounds) / 5


def _unit(points: np.ndarray) -> np.ndarray:
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def step(backbone: str, size: int, batch: int, rounds: int) -> float:
    """Milliseconds of a training step of 112 images, from steps of ``batch`` of them."""
    trial = config.trial(
        {"method": "npairs", "backbone": {"name": backbone, "pretrained": "none"}, "embed_dim": WIDTH}
    )
    learner = Learner(trial, 100, [mx.cpu()])
    learner.begin_epoch(1)
    images = np.random.default_rng(0).integers(0, 256, (batch, size, size, 3), np.uint8)
    labels = np.repeat(np.arange(batch // 2, dtype=np.int32), 2)

    def once() -> None:
        learner.step([(images, labels)])
        nd.waitall()

    once()
    return best(once, rounds) * BATCH / batch


def epochs_of(name: str, threads: int) -> Callable[[], float]:
    """A function that trains conv4 for an epoch, planning included, and gives its seconds by the clock."""
    trial = config.trial(
        {
            "method": "npairs",
            "data": {"name": "glyphs", "classes": 240, "size": 64},
            "sampler": {"name": name},
            "transform": "plain",
            "batch_size": BATCH,
            "iterations": STEPS,
            "embed_dim": WIDTH,
        }
    )
    images = data.load(**trial.data, split="train")
    learner = Learner(trial, images.num_classes, [mx.cpu()])
    learner.begin_epoch(1)
    feed = Feed(trial, images, [learner], transforms.create(**trial.transform), seed=1, threads=threads)

    numbers = itertools.count(1)

    def once() -> float:
        start = time.perf_counter()
        for batches in feed.batches(next(numbers)):
            feed.seen([learner.step(batches)])
        nd.waitall()
        return time.perf_counter() - start

    once()  # graphs are built, and the memory is filled
    return once


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--resnet", action="store_true", help="time ResNet-50 too (some minutes)")
    arguments = parser.parse_args()
    steps = {"conv4": step("conv4", 64, BATCH, arguments.rounds)}
    if arguments.resnet:
        steps["ResNet-50"] = step("resnet50_v2", 224, 16, 2)
    print("a training step of 112 images: " + ", ".join(f"{name} {ms:.0f} ms" for name, ms in steps.items()))
    pool = _unit(np.random.default_rng(0).normal(size=(POOL, WIDTH)))
    heading = " ".join(f"of {name:10}" for name in steps)
    print(
        f"{'sampler':20} {'data set':8} {'ms a batch':>10} {'aim':>5} {'plain':>7} {'ratio':>6}  share {heading}"
    )
    for name in (*TARGETS, "coreset_d2"):
        plain = best(lambda name=name: PLAIN[name](pool), arguments.rounds) if name in PLAIN else None
        for title, (classes, images) in SIZES.items():
            ms = planning(name, classes, images, arguments.rounds)
            shares = " ".join(f"{ms / whole:13.1%}" for whole in steps.values())
            aim = TARGETS.get(name, "-")
            beside = f"{plain:7.1f} {ms / plain:6.2f}" if plain else f"{'-':>7} {'-':>6}"
            print(f"{name:20} {title:8} {ms:10.1f} {aim:>5} {beside} {shares}")

    for threads, where in ((0, "between the steps"), (1, "beside training")):
        runs = {name: epochs_of(name, threads) for name in ("per_class", *TARGETS, "coreset_d2")}
        rounds = [{name: run() for name, run in runs.items()} for _ in range(arguments.rounds)]  # in turns
        seconds = {name: min(times[name] for times in rounds) for name in runs}
        base = seconds.pop("per_class")
        more = ", ".join(f"{name} {time / base - 1:+.1%}" for name, time in seconds.items())
        print(f"an epoch of {STEPS} steps of conv4, planned {where}: per_class {base:.2f} s, {more}")


if __name__ == "__main__":
    main()
