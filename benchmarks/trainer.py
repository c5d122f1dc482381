"""What the trainer adds to a bare hybridised loop of the same network, loss and batches.

Both do the same steps. The trainer's loop also draws, gathers, hands over and counts them; the bare loop finds its batches
ready on the device. Each round is a process of its own, in turns: where memory happens to lie moves a process's speed by
more than what is measured here. The best of several rounds is compared. The aim is at most 3 %.

    python benchmarks/trainer.py [--batch-size 64] [--steps 60] [--rounds 6]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import dmlplayground  # noqa: F401  (before mxnet, which it lets work with a new NumPy)

# isort: split
import mxnet as mx
from mxnet import autograd, gluon, nd

from dmlplayground import config
from dmlplayground.trial.store import locks
from dmlplayground.trial.training.feed import Feed
from dmlplayground.trial.training.learner import Learner
from dmlplayground.trial.training.progress import Progress
from dmlplayground.trial.training.run import Run

EPOCHS = 4


class Together(gluon.HybridBlock):
    def __init__(self, network, loss):
        super().__init__()
        self.network = network
        self.loss = loss

    def hybrid_forward(self, F, images, labels):
        return self.loss(self.network(images), labels)


def parts(run: Run) -> tuple[Learner, Feed]:
    """What learns, and what it is fed with."""
    train = run.units[0].fold.train
    learner = Learner(run.trial, train.num_classes, run.contexts, (0, 0))
    return learner, Feed(run.trial, train, [learner], run.transform, seed=0, threads=1)


def bare(run: Run):
    """A loop as one would write it by hand: one graph of network and loss, one trainer, one read at the end."""
    trial, unit = run.trial, run.units[0]
    learner, feed = parts(run)
    together = Together(learner.network, learner.loss)
    together.hybridize(static_alloc=True, static_shape=True)
    optimizer = mx.optimizer.Adam(learning_rate=trial.optimizer["lr"], wd=trial.optimizer["weight_decay"])
    trainer = gluon.Trainer(learner.learned(), optimizer, kvstore=None)
    train = unit.fold.train
    ready = [
        [
            (nd.array(train.images[rows], dtype="uint8"), nd.array(train.labels[rows]))
            for rows in feed.sampler.batches(epoch)
        ]
        for epoch in range(EPOCHS)
    ]

    def epoch(number: int) -> None:
        for images, labels in ready[number]:
            with autograd.record():
                loss = together(images, labels)
            loss.backward()
            trainer.step(1)
        loss.wait_to_read()

    return epoch


def ours(run: Run):
    unit = run.units[0]
    learner, feed = parts(run)
    return lambda number: run._train_epoch(unit, number + 1, [learner], feed)


def measure(arguments) -> None:
    """In a process of its own: seconds of the best epoch after the first, in which graphs are built."""
    trial = config.trial(
        {"method": arguments.method, "batch_size": arguments.batch_size, "iterations": arguments.steps}
    )
    with tempfile.TemporaryDirectory() as folder, locks.hold(Path(folder) / trial.id) as held:
        epoch = {"bare": bare, "trainer": ours}[arguments.only](Run(trial, held, 1, Progress(True, [])))
        times = []
        for number in range(EPOCHS):
            wall, cpu = time.perf_counter(), time.process_time()
            epoch(number)
            times.append((time.perf_counter() - wall, time.process_time() - cpu))
    print(json.dumps([min(wall for wall, _ in times[1:]), min(cpu for _, cpu in times[1:])]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--method", default="npairs")
    parser.add_argument("--only", choices=("bare", "trainer"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        measure(arguments)
        return
    best = {"bare": (float("inf"),) * 2, "trainer": (float("inf"),) * 2}
    for _ in range(arguments.rounds):
        for kind in best:
            command = [sys.executable, *sys.argv, "--only", kind]
            figures = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            best[kind] = tuple(map(min, best[kind], figures))
    threads = os.environ["OMP_NUM_THREADS"]
    print(
        f"{arguments.method}, conv4, {arguments.batch_size} images a step, OMP_NUM_THREADS={threads}, best of {arguments.rounds}"
    )
    for position, clock in enumerate(("wall", "cpu")):
        bare_ms, ours_ms = (1e3 * best[kind][position] / arguments.steps for kind in ("bare", "trainer"))
        print(
            f"{clock:>4}: bare {bare_ms:.2f} ms a step, trainer {ours_ms:.2f} ms, ratio {ours_ms / bare_ms:.3f}"
        )


if __name__ == "__main__":
    main()
