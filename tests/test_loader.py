"""Batches: the same for any number of threads, in any process, and every batch with random numbers of its
own."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from data_fixture import class_folders

from dmlplayground import data, samplers, transforms
from dmlplayground.base import seeds
from dmlplayground.base.errors import UserError
from dmlplayground.parts.data import Dataset
from dmlplayground.parts.data.shared import loader


def dataset(count: int = 60, size: int = 24) -> Dataset:
    images = np.random.default_rng(0).integers(0, 256, (count, size, size, 3), np.uint8)
    labels = np.repeat(np.arange(count // 6, dtype=np.int32), 6)
    return Dataset("made", "train", images, labels, tuple(map(str, range(count // 6))))


def batches(
    name: str = "pairs",
    transform: str = "paper",
    threads: int = 1,
    epoch: int = 0,
    seed: int = 5,
    of=None,
    **options,
):
    of = of or dataset()
    sampler = samplers.create(name, of.labels, 20, iterations=5, seed=seed)
    made = loader.training_batches(
        of, sampler, transforms.create(transform, **options), seed=seed, epoch=epoch, threads=threads
    )
    return [(np.array(images), labels) for _, images, labels in made]


def fingerprint(made) -> str:
    return hashlib.sha256(
        b"".join(images.tobytes() + labels.tobytes() for images, labels in made)
    ).hexdigest()


@pytest.mark.parametrize(
    ("transform", "options"), [("paper", {}), ("released", {"size": 16}), ("reality_check", {"size": 16})]
)
def test_any_number_of_workers_makes_the_same_batches(transform, options):
    prints = {
        fingerprint(batches(transform=transform, threads=threads, **options)) for threads in (0, 1, 2, 5)
    }
    assert len(prints) == 1


@pytest.mark.parametrize("name", samplers.names())
def test_any_number_of_threads_draws_the_same_with_each_sampler(name):
    of = dataset()
    view = SimpleNamespace(
        proxies=lambda: np.random.default_rng(2).normal(size=(10, 4)),
        embeddings=lambda: np.random.default_rng(3).normal(size=(60, 4)),
    )
    drawn = {}
    for threads in (0, 1, 3):
        sampler = samplers.create(name, of.labels, 20, iterations=4, seed=5)
        made = loader.training_batches(
            of, sampler, transforms.create("paper"), seed=5, epoch=1, threads=threads, view=view
        )
        drawn[threads] = [(rows.tolist(), images.tobytes(), labels.tolist()) for rows, images, labels in made]
    assert len(drawn[0]) == 4 and drawn[0] == drawn[1] == drawn[3]


def test_files_decoded_by_several_threads_make_the_same_batches(tmp_path, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))
    folder = class_folders(tmp_path / "own", [f"{i:02d}" for i in range(24)], per_class=3)
    transform = transforms.create("reality_check", size=32)
    prints = {
        fingerprint(batches(transform="reality_check", threads=threads, size=32, of=of))
        for of in (
            data.load("folder", path=str(folder), stored=transform.stored, cache=cache)
            for cache in ("disk", "none")
        )
        for threads in (0, 3)
    }
    assert len(prints) == 1


def test_another_process_makes_the_same_batches():
    program = "import sys; sys.path.insert(0, sys.argv[1]); from test_loader import batches, fingerprint; "
    program += "print(fingerprint(batches(threads=2)))"
    tests = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": str(tests.parent), "PYTHONHASHSEED": "77"}
    command = [sys.executable, "-c", program, str(tests)]
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert out.strip() == fingerprint(batches(threads=0))


def test_a_label_is_always_that_of_its_image():
    of = dataset()
    of.images[:] = of.labels[:, None, None, None]
    for name in ("pairs", "blocks", "shuffled", "uniform", "episodes"):
        for images, labels in batches(name, threads=2, of=of):
            assert (images == labels[:, None, None, None]).all()


def test_no_two_batches_epochs_or_seeds_share_random_numbers(monkeypatch):
    drawn = []

    class Recording(transforms.plain.Plain):
        def train(self, images, rows, rng):
            drawn.append(tuple(rng.integers(0, 2**62, 4).tolist()))
            return super().train(images, rows, rng)

    of = dataset()
    for seed in (0, 1):
        sampler = samplers.create("shuffled", of.labels, 10, seed=seed)
        for epoch in range(6):
            for threads in (0, 3):
                count = len(drawn)
                list(
                    loader.training_batches(of, sampler, Recording(), seed=seed, epoch=epoch, threads=threads)
                )
                if threads:
                    assert sorted(drawn[count:]) == sorted(drawn[count - 6 : count])
                    del drawn[count:]
    assert len(drawn) == len(set(drawn)) == 2 * 6 * 6
    assert tuple(seeds.generator(0, "batches", 0).integers(0, 2**62, 4).tolist()) not in drawn


def test_epochs_and_seeds_differ():
    assert len({fingerprint(batches(epoch=epoch, seed=seed)) for epoch in (0, 1) for seed in (5, 6)}) == 4


@pytest.mark.parametrize("threads", [0, 2])
def test_test_batches_are_all_images_in_their_order(threads):
    of = dataset(54)
    blocks = list(loader.test_batches(of, transforms.create("plain"), batch_size=10, threads=threads))
    assert [len(block) for block in blocks] == [10] * 5 + [4]
    assert np.array_equal(np.concatenate(blocks), of.images)


def test_an_image_that_breaks_while_training_is_an_error_that_names_it(tmp_path):
    folder = class_folders(tmp_path / "own", list("abcdefghijkl"), per_class=2)
    of = data.load("folder", path=str(folder), stored=transforms.create("paper").stored, cache="none")
    for broken in (folder / "b").iterdir():
        broken.write_bytes(b"")
    with pytest.raises(UserError, match=r"own/b/\d\.jpg: it is empty"):
        batches("shuffled", threads=2, of=of)


def test_what_is_shown_reaches_the_sampler():
    of = dataset()
    sampler = samplers.create("near_proxies", of.labels, 10, iterations=3, seed=1)
    view = SimpleNamespace(proxies=lambda: np.eye(of.num_classes))
    plain = transforms.create("plain")
    made = loader.training_batches(of, sampler, plain, seed=1, epoch=0, view=view)
    drawn = sampler.batches(0, view)
    assert [batch.labels.tolist() for batch in made] == [of.labels[rows].tolist() for rows in drawn]
    with pytest.raises(UserError, match="^sampler near_proxies needs a view with proxies"):
        list(loader.training_batches(of, sampler, plain, seed=1, epoch=0))
