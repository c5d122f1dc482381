"""Images a second through the backbones, embedding and training, beside PyTorch's in the same run.

    taskset -c 0 python benchmarks/backbones.py [--peer-python PATH] [--networks resnet50_v1b inception_bn_caffe]
                                                [--batch-size 32] [--rounds 3] [--clock wall] [--record FILE]

Every network takes uint8 images of 224 pixels, normalises them and ends in a linear embedding of 64 numbers.
Embedding is a forward pass, by each of our engines; a training step is forward, backward and Adam, in float32 and as
``amp: bfloat16`` has it. The peer is any interpreter that has torch; it computes the same layers
(tests/reference/torch_networks.py) in both precisions: as they are called, in both memory layouts, and compiled
(``torch.compile``; weights frozen where nothing is trained). Like is compared with like: float32 with the best of torch's
float32, bfloat16 with the best of its bfloat16. Both sides stay loaded and take turns; the best of all rounds counts, in
processor seconds, which others on the machine disturb least. One thread each unless OMP_NUM_THREADS says otherwise; then
read the wall clock, on an idle machine.

The last table is what the engines do to recall: EfficientNet-Lite0 with ImageNet weights, on the characters.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent
CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}
#: What is compared, each of our jobs with the best of the peer's.
KINDS = {
    "embed float32": ("float32", "fused", "openvino"),
    "embed bfloat16": ("bfloat16", "openvino_bfloat16"),
    "train float32": ("train",),
    "train bfloat16": ("train bfloat16",),
}
WAYS = ("plain", "channels_last", "compiled")  # of torch; what is compiled is channels last, too
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
    from dmlplayground.trial.training.networks import Mixed

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
    import torch._inductor.config

    sys.path.insert(0, str(ROOT / "tests/reference"))
    from torch_networks import NETWORKS

    kind, precision, way = job.split()
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    layout = torch.contiguous_format if way == "plain" else torch.channels_last
    network = NETWORKS[name]().to(memory_format=layout)
    head = torch.nn.LazyLinear(64)
    pixels = torch.randint(0, 256, (batch_size, 224, 224, 3), dtype=torch.uint8)
    mean, std = torch.tensor([104.0, 117.0, 128.0]), torch.tensor([58.0, 57.0, 57.0])

    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network, self.head = network, head

        def forward(self, pixels):
            images = ((pixels.float() - mean) / std).permute(0, 3, 1, 2).contiguous(memory_format=layout)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bfloat16"):
                return self.head(self.network.features(images)).float()

    whole = Whole().train(kind == "train")
    whole(pixels)  # which gives the head its shape
    forward = torch.compile(whole) if way == "compiled" else whole
    if kind == "embed":
        torch._inductor.config.freezing = True

        def embed():
            with torch.no_grad():
                forward(pixels)

        return embed
    optimizer = torch.optim.Adam(whole.parameters(), lr=1e-5)

    def step():
        optimizer.zero_grad()
        (forward(pixels) ** 2).mean().backward()
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


def compare(arguments) -> list[dict]:
    rows = []
    for name in arguments.networks:
        print(f"\n{name}, images per {arguments.clock} second")
        for kind in arguments.kinds:
            rows += report(name, kind, speeds(name, kind, arguments), arguments.clock)
    return rows


def speeds(name: str, kind: str, arguments) -> dict[tuple[str, str], float]:
    """Images a second of each side's jobs. New processes for each kind: the memory of one does not burden the next."""
    sides = {"ours": Side(sys.executable, "ours", arguments.clock)}
    turns = [("ours", job) for job in KINDS[kind]]
    if arguments.peer_python:
        sides["torch"] = Side(arguments.peer_python, "peer", arguments.clock)
        turns += [("torch", f"{kind} {way}") for way in WAYS]
    best = dict.fromkeys(turns, float("inf"))
    for _ in range(arguments.rounds):
        for side, job in turns:
            best[side, job] = min(best[side, job], sides[side].seconds(name, job, arguments.batch_size))
    for side in sides.values():
        side.process.stdin.close()
        side.process.wait()
    return {turn: arguments.batch_size / taken for turn, taken in best.items()}


def report(name: str, kind: str, found: dict[tuple[str, str], float], clock: str) -> list[dict]:
    """Print the speeds; the rows of ours beside the peer's best."""
    rows = []
    theirs = max(((speed, job) for (side, job), speed in found.items() if side == "torch"), default=None)
    for (side, job), speed in found.items():
        ratio = f"  {speed / theirs[0]:.2f} x {theirs[1]}" if side == "ours" and theirs else ""
        print(f"  {kind:15} {side:5} {job:30} {speed:8.1f}{ratio}", flush=True)
        if side == "ours":
            case = f"{name}, {kind}" + (f", {job}" if len(KINDS[kind]) > 1 else "")
            peer = f"torch, {theirs[1].split()[2]}" if theirs else ""
            unit = f"images a {clock} second"
            rows.append(
                {
                    "case": case,
                    "ours": speed,
                    "theirs": theirs[0] if theirs else None,
                    "unit": unit,
                    "peer": peer,
                }
            )
    return rows


def recall() -> None:
    """R@1 and MAP@R of the same embeddings by each engine."""
    from mxnet import nd

    import dmlplayground as dml
    from dmlplayground.base import optional
    from dmlplayground.parts.backbones.shared.engines import ENGINES, PRECISIONS, Engine, extract

    dataset = dml.data.load("glyphs", split="test", size=64)
    network = embedder("efficientnet_lite0", pretrained="imagenet")
    print(
        f"\nrecall of efficientnet_lite0, a random projection of ImageNet features, on {len(dataset)} images"
    )
    for kind in ENGINES:
        if kind in PRECISIONS and not optional.installed("openvino"):
            continue
        engine = Engine(network, kind)
        blocks = (nd.array(dataset.images[i : i + 100], dtype="uint8") for i in range(0, len(dataset), 100))
        scores = dml.metrics.evaluate(extract(engine, blocks, 64), dataset.labels, clustering=False)
        print(f"  {kind:10} R@1 {100 * scores['R@1']:.2f}  MAP@R {100 * scores['MAP@R']:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer-python", help="an interpreter with torch")
    parser.add_argument("--networks", nargs="+", default=["resnet50_v1b", "inception_bn_caffe"])
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS), metavar="KIND")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="cpu")
    parser.add_argument("--record", help="a file for the figures")
    parser.add_argument("--role", choices=("ours", "peer"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.role != "peer":
        import dmlplayground  # noqa: F401  (before mxnet)
    if arguments.role:
        serve({"ours": ours, "peer": peer}[arguments.role], arguments.clock)
        return
    threads = os.environ["OMP_NUM_THREADS"]
    print(f"OMP_NUM_THREADS={threads}, batches of {arguments.batch_size}, best of {arguments.rounds} rounds")
    rows = compare(arguments)
    if arguments.record:
        about = (
            f"Images of 224 pixels, batches of {arguments.batch_size}, {threads} thread, in turns. The other is the fastest of "
            "torch's ways in the same precision: as called, channels last, or compiled (frozen where nothing is trained)."
        )
        when = f"{date.today():%Y-%m}"
        Path(arguments.record).write_text(
            json.dumps({"about": about, "when": when, "rows": rows}, indent=1) + "\n"
        )
    recall()


if __name__ == "__main__":
    main()
