"""Batches a second and core: ours from the cache and from files, against Gluon's DataLoader, from the same
JPEG files.

The files are made here: about 500 x 375 pixels, with the detail of photographs. Both sides do the same:
squash to 256 x 256 (bicubic), a random crop of 224, a flip; or a window of random area resized to 224, and a
flip. Gluon's own transforms give float32, normalised, channels first, as its examples do, and uint8 as ours
do. Everything runs in this process on one thread, in turns, and the best of several rounds counts, by the
processor's clock: another job on the machine changes little.

    python benchmarks/data.py [--images 400] [--rounds 5] [--batch-size 50]
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import dmlplayground  # noqa: F401  (before mxnet)

# isort: split
import mxnet as mx
import numpy as np
from mxnet import gluon
from mxnet.gluon.data.vision import ImageFolderDataset, transforms
from PIL import Image

from dmlplayground import data, samplers
from dmlplayground import transforms as ours
from dmlplayground.base import seeds
from dmlplayground.parts.data.shared import decoded_cache, images, loader

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CLASSES = 10


def photograph(number: int) -> Image.Image:
    """Smooth shapes, edges and grain: at quality 90 it takes as much room as a photograph."""
    stream = seeds.generator(0, "benchmark", number)
    width, height = 500 + int(stream.integers(-20, 21)), 375 + int(stream.integers(-20, 21))
    if number % 3 == 0:
        width, height = height, width
    layers = [
        np.asarray(
            Image.fromarray(stream.integers(0, 256, (grain * 3 // 4, grain, 3), np.uint8)).resize(
                (width, height), Image.Resampling.BICUBIC
            ),
            np.float32,
        )
        for grain in (4, 16, 64)
    ]
    picture = 0.5 * layers[0] + 0.3 * layers[1] + 0.2 * layers[2] + stream.normal(0, 6, (height, width, 1))
    return Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8))


def make(folder: Path, count: int) -> None:
    for number in range(count):
        place = folder / f"{number % CLASSES:02d}"
        place.mkdir(parents=True, exist_ok=True)
        photograph(number).save(place / f"{number}.jpg", quality=90)


class RandomCrop(gluon.Block):
    """Gluon 1.9.1's own RandomCrop pads; this is the crop alone."""

    def forward(self, image):
        return mx.image.random_crop(image, (224, 224))[0]


GLUON = {
    "paper": [transforms.Resize(256, keep_ratio=False, interpolation=2), RandomCrop()],
    "reality_check": [
        transforms.Resize(256, keep_ratio=True, interpolation=3),
        transforms.RandomResizedCrop(227, scale=(0.16, 1)),
    ],
    "released": [
        transforms.Resize(256, keep_ratio=False, interpolation=2),
        transforms.RandomResizedCrop(224, scale=(0.08, 1), interpolation=10),
    ],
}


def gluon_batches(folder: Path, name: str, batch_size: int, normalise: bool):
    steps = [*GLUON[name], transforms.RandomFlipLeftRight()]
    if normalise:
        steps += [transforms.ToTensor(), transforms.Normalize(MEAN, STD)]
    files = ImageFolderDataset(str(folder)).transform_first(transforms.Compose(steps))

    def epoch(number: int) -> int:
        batches = gluon.data.DataLoader(files, batch_size, shuffle=True, last_batch="discard")
        return sum(block.asnumpy().shape[0] for _, block, _ in batches)

    return epoch


def our_batches(folder: Path, name: str, batch_size: int, cache: str):
    transform = ours.create(name)
    dataset = data.load("folder", path=str(folder), train=0.9, stored=transform.stored, cache=cache)
    sampler = samplers.create("shuffled", dataset.labels, batch_size, last="drop")

    def epoch(number: int) -> int:
        batches = loader.training_batches(dataset, sampler, transform, seed=0, epoch=number, threads=0)
        return sum(mx.nd.from_numpy(block).shape[0] for _, block, _ in batches)

    return epoch


def measure(contenders: dict, rounds: int) -> dict[str, tuple[float, float]]:
    """Images a CPU second, and a second by the clock, in each contender's best round."""
    best = dict.fromkeys(contenders, (0.0, 0.0))
    for number in range(rounds):
        for name, epoch in contenders.items():
            wall, cpu = time.perf_counter(), time.process_time()
            count = epoch(number)
            speeds = count / (time.process_time() - cpu), count / (time.perf_counter() - wall)
            best[name] = tuple(map(max, best[name], speeds))
    return best


def compare(folder: Path, name: str, batch_size: int, rounds: int) -> None:
    contenders = {
        "Gluon's DataLoader, normalised": gluon_batches(folder, name, batch_size, True),
        "Gluon's DataLoader, uint8": gluon_batches(folder, name, batch_size, False),
        "ours, from the files": our_batches(folder, name, batch_size, "none"),
        "ours, from the cache": our_batches(folder, name, batch_size, "disk"),
    }
    speeds = measure(contenders, rounds)
    baseline = max(speeds[contender][0] for contender in list(contenders)[:2])
    print(f"\n{name}: images a CPU second (a second by the clock); times the faster of Gluon's")
    for contender, (cpu, wall) in speeds.items():
        print(f"  {contender:32} {cpu:9.0f} ({wall:9.0f})  x {cpu / baseline:.2f}")


def building(folder: Path) -> None:
    """What it takes to decode all files into the cache."""
    files = data.catalogue("folder", path=str(folder), train=0.9)
    wall, cpu = time.perf_counter(), time.process_time()
    decoded_cache.images(files, ours.create("paper", resize=255).stored)
    seconds = time.process_time() - cpu
    print(
        f"\nthe cache: {len(files) / seconds:.0f} images decoded, resized and written a CPU second, "
        f"{seconds / (time.perf_counter() - wall):.2f} cores at work"
    )


def memory(folder: Path, copies: int = 16) -> None:
    """How much the process grows while it reads a cache several times as large as it may keep of one."""
    many = folder.with_name("many")
    for file in folder.rglob("*.jpg"):
        (many / file.parent.name).mkdir(parents=True, exist_ok=True)
        for copy in range(copies):
            os.link(file, many / file.parent.name / f"{copy}-{file.name}")
    epoch = our_batches(many, "paper", 50, "disk")
    before, most = resident(), 0
    for number in range(3):
        epoch(number)
        most = max(most, resident() - before)
    size = sum(file.stat().st_size for file in decoded_cache.folder().glob("*/pixels.npy")) / 1e6
    print(
        f"memory: {most:.0f} MB more after reading a cache of {size:.0f} MB "
        f"(bound: {images.RESIDENT / 1e6:.0f} MB)"
    )


def resident() -> float:
    """MB of this process in memory, mapped files included."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=50)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.environ["DMLPLAYGROUND_CACHE"] = f"{place}/cache"
        folder = Path(place) / "images"
        make(folder, arguments.images)
        sizes = [file.stat().st_size for file in folder.rglob("*.jpg")]
        threads = os.environ["OMP_NUM_THREADS"]
        print(
            f"{len(sizes)} JPEG files of {np.mean(sizes) / 1000:.0f} kB, OMP_NUM_THREADS={threads}, "
            f"best of {arguments.rounds}, Python {sys.version.split()[0]}, MXNet {mx.__version__}"
        )
        for name in GLUON:
            compare(folder, name, arguments.batch_size, arguments.rounds)
        building(folder)
        memory(folder)


if __name__ == "__main__":
    main()
