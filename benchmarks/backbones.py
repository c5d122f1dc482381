"""Images a second through the backbones, embedding and training, beside PyTorch's in the same run.

    python benchmarks/backbones.py [--peer-python PATH] [--networks inception_bn_caffe resnet50_v1b]
                                   [--batch-size 32] [--rounds 3] [--clock wall]

Every network takes uint8 images of 224 pixels, normalises them and ends in a linear embedding of 64 numbers.
Embedding is a forward pass, by each of our engines; a training step is forward, backward and Adam, in float32 and as
``amp: bfloat16`` has it. The peer
is any interpreter that has torch; it computes the same layers (tests/reference/torch_networks.py) in float32,
by both memory layouts, of which the better counts. Both sides stay loaded and take turns; the best of all
rounds counts, in processor seconds, which others on the machine disturb least. One thread each unless
OMP_NUM_THREADS says otherwise; then read the wall clock, on an idle machine.

The last table is what the engines do to recall: EfficientNet-Lite0 with ImageNet weights, on the characters.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent
CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}
OURS = ("float32", "fused", "bfloat16", "train", "train bfloat16")
PEERS = ("embed", "embed channels_last", "train", "train channels_last")
REPEATS = 2  # of a job in one turn; the first call of a job, which builds graphs, does not count


# --- either side: jobs on request, over standard input and output -------------------------------------------


def serve(prepare, clock: str) -> None:
    """Answer each line ``[network, job, batch size]`` with the seconds of the job's best repeat."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a library prints is not an answer
    jobs: dict[str, object] = {}
    for line in sys.stdin:
        if line not in jobs:
            jobs[line] = prepare(*json.loads(line))
            jobs[line]()
        times = []
        for _ in range(REPEATS):
            start = CLOCKS[clock]()
            jobs[line]()
            times.append(CLOCKS[clock]() - start)
        answers.write(json.dumps(min(times)) + "\n")


def embedder(name: str, **options):
    """A backbone with a linear embedding, from uint8 images, initialised."""
    from dmlplayground import backbones
    from dmlplayground.parts.backbones.shared.heads import Embedder, Head
    from dmlplayground.trial.config import Head as HeadConfig

    record = backbones.get(name)
    head = Head(HeadConfig(), record.features, 64, 2)
    network = Embedder(backbones.create(name, **options), record.preprocessing, head)
    for parameter in [*head.collect_params().values(), network.mean, network.scale]:
        parameter.initialize()
    network.hybridize(static_alloc=True, static_shape=True)
    return network


def ours(name: str, job: str, batch_size: int):
    import mxnet as mx
    import numpy as np
    from mxnet import autograd, gluon, nd

    from dmlplayground.parts.backbones.shared.engines import Engine
    from dmlplayground.trial.training.mixed_precision import Mixed

    network = embedder(name)
    pixels = np.random.default_rng(0).integers(0, 256, (batch_size, 224, 224, 3))
    images = nd.array(pixels, dtype="uint8")
    if not job.startswith("train"):
        engine = Engine(network, job)
        return lambda: engine(images).wait_to_read()
    learned = [parameter for parameter in network.collect_params().values() if parameter.grad_req != "null"]
    trainer = gluon.Trainer(learned, mx.optimizer.Adam(learning_rate=1e-5), kvstore=None)
    trained = Mixed(network, "bfloat16") if job.endswith("bfloat16") else network

    def step():
        with autograd.record():
            loss = (trained(images) ** 2).mean()
        loss.backward()
        trainer.step(1)
        mx.nd.waitall()

    return step


def peer(name: str, job: str, batch_size: int):
    import torch

    sys.path.insert(0, str(ROOT / "tests/reference"))
    from torch_networks import NETWORKS

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    layout = torch.channels_last if job.endswith("channels_last") else torch.contiguous_format
    network = NETWORKS[name]().to(memory_format=layout)
    head = torch.nn.LazyLinear(64)
    pixels = torch.randint(0, 256, (batch_size, 224, 224, 3), dtype=torch.uint8)
    mean, std = torch.tensor([104.0, 117.0, 128.0]), torch.tensor([58.0, 57.0, 57.0])

    def forward():
        images = ((pixels.float() - mean) / std).permute(0, 3, 1, 2).contiguous(memory_format=layout)
        return head(network.features(images))

    if job.startswith("embed"):
        network.eval()
        return torch.inference_mode()(forward)
    network.train()
    forward()
    learned = [*network.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(learned, lr=1e-5)

    def step():
        optimizer.zero_grad()
        (forward() ** 2).mean().backward()
        optimizer.step()

    return step


# --- the comparison -----------------------------------------------------------------------------------------


class Side:
    """A process that does jobs."""

    def __init__(self, python: str, role: str, clock: str):
        command = [python, "-W", "ignore", __file__, "--role", role, "--clock", clock]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
        )

    def seconds(self, *job: object) -> float:
        self.process.stdin.write(json.dumps(job) + "\n")
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the process for {job} has ended; see its message above")
        return json.loads(answer)


def compare(arguments) -> None:
    for name in arguments.networks:  # new processes for each: memory of one does not burden the next
        sides = {"ours": Side(sys.executable, "ours", arguments.clock)}
        if arguments.peer_python:
            sides["torch"] = Side(arguments.peer_python, "peer", arguments.clock)
        turns = [("ours", job) for job in OURS] + [("torch", job) for job in PEERS if "torch" in sides]
        best = dict.fromkeys(turns, float("inf"))
        for _ in range(arguments.rounds):
            for side, job in turns:
                best[side, job] = min(best[side, job], sides[side].seconds(name, job, arguments.batch_size))
        for side in sides.values():
            side.process.stdin.close()
        report(
            name, {turn: arguments.batch_size / seconds for turn, seconds in best.items()}, arguments.clock
        )


def report(name: str, speeds: dict[tuple[str, str], float], clock: str) -> None:
    print(f"\n{name}, images per {clock} second")
    theirs = {job: speed for (side, job), speed in speeds.items() if side == "torch"}
    peers = {
        kind: max((speed for job, speed in theirs.items() if job.startswith(kind)), default=None)
        for kind in ("embed", "train")
    }
    for (side, job), speed in speeds.items():
        best = peers["train" if job.startswith("train") else "embed"]
        ratio = f"  {speed / best:.2f} x torch" if side == "ours" and best else ""
        print(f"  {side:5} {job:20} {speed:8.1f}{ratio}", flush=True)


def recall() -> None:
    """R@1 and MAP@R of the same embeddings by each engine."""
    from mxnet import nd

    import dmlplayground as dml
    from dmlplayground.parts.backbones.shared.engines import ENGINES, Engine, extract

    dataset = dml.data.load("glyphs", split="test", size=64)
    network = embedder("efficientnet_lite0", pretrained="imagenet")
    print(
        f"\nrecall of efficientnet_lite0, a random projection of ImageNet features, on {len(dataset)} images"
    )
    for kind in ENGINES:
        engine = Engine(network, kind)
        blocks = (nd.array(dataset.images[i : i + 100], dtype="uint8") for i in range(0, len(dataset), 100))
        scores = dml.metrics.evaluate(extract(engine, blocks, 64), dataset.labels, clustering=False)
        print(f"  {kind:10} R@1 {100 * scores['R@1']:.2f}  MAP@R {100 * scores['MAP@R']:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer-python", help="an interpreter with torch")
    parser.add_argument("--networks", nargs="+", default=["inception_bn_caffe", "resnet50_v1b"])
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="cpu")
    parser.add_argument("--role", choices=("ours", "peer"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.role != "peer":
        import dmlplayground  # noqa: F401  (before mxnet)
    if arguments.role:
        serve({"ours": ours, "peer": peer}[arguments.role], arguments.clock)
        return
    threads = os.environ["OMP_NUM_THREADS"]
    print(f"OMP_NUM_THREADS={threads}, batches of {arguments.batch_size}, best of {arguments.rounds} rounds")
    compare(arguments)
    recall()


if __name__ == "__main__":
    main()
