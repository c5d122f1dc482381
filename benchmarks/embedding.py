"""How much of its network's speed the command embed keeps, over as many photographs as you like.

    taskset -c 0 python benchmarks/embedding.py PHOTOGRAPHS [--count 100000] [--engines float32 openvino] [--record FILE]

PHOTOGRAPHS is a folder of JPEGs, such as that of the data set grocery. So many crops of them, none twice, are written as
JPEGs of 300 pixels. The command embeds them with an EfficientNet-Lite0 that was trained for a moment, at 224 pixels: it reads,
checks and resizes every file, computes its digest and embedding, and saves what it has now and then. With each engine it is
killed once, in the middle, and goes on. The bare network is given one batch from memory again and again, before and after.
The share is the bare network's processor time for so many images over that of both runs of the command, start included.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from PIL import Image

import dmlplayground as dml

ABOUT = (
    "The command embed over distinct photographs (JPEG, 300 px), killed once and gone on, beside its network alone "
    "(EfficientNet-Lite0, 224 px, batches from memory). Processor time, everything from the start of the program counts."
)
SIDE, NETWORK = 300, "efficientnet_lite0"


def write(originals: Sequence[Path], folder: Path, count: int) -> None:
    """Distinct crops, a thousand in a folder."""
    random = np.random.default_rng(0)
    for number in range(count):
        with Image.open(originals[number % len(originals)]) as image:
            scale = SIDE / min(image.size) * random.uniform(1.0, 1.2)
            image = image.convert("RGB").resize([round(scale * side) + 1 for side in image.size])
        left, top = (int(random.integers(side - SIDE + 1)) for side in image.size)
        target = folder / f"{number // 1000:04d}" / f"{number % 1000:03d}.jpg"
        target.parent.mkdir(parents=True, exist_ok=True)
        image.crop((left, top, left + SIDE, top + SIDE)).save(target, quality=90)


def model(folder: Path) -> Path:
    """A trial of one short epoch."""
    trial = {
        "data": {"name": "glyphs", "classes": 8},
        "method": "proxy_softmax",
        "embed_dim": 128,
        "batch_size": 4,
        "backbone": {"name": NETWORK, "pretrained": "imagenet"},
        "epochs": 1,
        "iterations": 1,
        "transform": {"name": "paper", "resize": 256, "crop": 0.875},
        "evaluation": {"clustering": False, "every": 1},
    }
    return folder / dml.train(trial, store=folder, quiet=True).id


def bare(trial: Path, engine: str, seconds: float) -> float:
    """Processor seconds an image of the network alone."""
    loaded = dml.load(trial, engine=engine)
    block = np.random.default_rng(0).integers(0, 256, (18, *loaded.input_size, 3), dtype=np.uint8)
    member, images = loaded.members[0], 0
    member.embed([block])
    begun = time.process_time()
    while time.process_time() < begun + seconds:
        member.embed([block] * 10)
        images += 10 * len(block)
    return (time.process_time() - begun) / images


def embed(trial: Path, pictures: Path, engine: str, count: int) -> float:
    """Processor seconds of the command, killed when it has embedded half of them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = pictures.with_name(f"{engine}.index")
    begun = out.with_name(f".{out.stem}-begun.index")
    command = [
        sys.executable,
        "-m",
        "dmlplayground",
        "embed",
        trial,
        pictures,
        "--out",
        out,
        "--engine",
        engine,
    ]
    first = subprocess.Popen(command)
    while first.poll() is None and not (begun.exists() and len(dml.Index.open(begun)) >= count // 2):
        time.sleep(1)
    first.kill()
    first.wait()
    subprocess.run(command, check=True)
    assert len(dml.Index.open(out)) == count
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("photographs", type=Path)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--engines", nargs="+", default=["float32", "openvino"])
    parser.add_argument("--record", type=Path, help="a file for the figures")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        trial, pictures = model(Path(temporary) / "store"), Path(temporary) / "pictures"
        write(sorted(arguments.photographs.rglob("*.jpg")), pictures, arguments.count)
        print(f"{arguments.count:,} photographs of {SIDE} px", flush=True)
        for engine in arguments.engines:
            alone = [bare(trial, engine, 20)]
            each = embed(trial, pictures, engine, arguments.count) / arguments.count
            alone.append(bare(trial, engine, 20))
            share = sum(alone) / 2 / each
            print(
                f"  {engine}: {1e3 * each:.2f} CPU ms an image, the network alone {1e3 * alone[0]:.2f} and "
                f"{1e3 * alone[1]:.2f}: a share of {share:.3f}",
                flush=True,
            )
            case = f"{arguments.count:,} photographs, {engine}"
            ours, theirs = round(1e3 * each, 2), round(1e3 * sum(alone) / 2, 2)
            rows.append(
                {"case": case, "ours": ours, "theirs": theirs, "unit": "CPU ms", "peer": "the network alone"}
            )
    if arguments.record:
        content = {"about": ABOUT, "when": date.today().isoformat()[:7], "rows": rows}
        arguments.record.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
