"""Pipelines: which pixels they take, what they draw, and that a draw depends on nothing but its generator."""

import numpy as np
import pytest
from data_fixture import class_folders
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlplayground import data, transforms
from dmlplayground.base import opencv
from dmlplayground.base.errors import UserError
from dmlplayground.parts.transforms import Stored


def coordinates(count: int, height: int, width: int) -> np.ndarray:
    """Images whose pixels say where they are: row, column and number of the image."""
    grid = np.empty((count, height, width, 3), np.uint8)
    grid[..., 0], grid[..., 1] = np.arange(height)[:, None], np.arange(width)
    grid[..., 2] = np.arange(count)[:, None, None]
    return grid


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


ROWS = np.array([3, 0, 2, 2])


def test_plain_takes_images_as_they_are():
    images = coordinates(4, 8, 9)
    plain = transforms.create("plain")
    assert np.array_equal(plain.train(images, ROWS, rng()), images[ROWS])
    assert np.array_equal(plain.test(images, ROWS), images[ROWS])
    assert plain.test_shape(images) == (8, 9)


def test_the_papers_crops_are_windows_of_the_stored_image_half_of_them_mirrored():
    images = coordinates(4, 256, 256)
    paper = transforms.create("paper")
    rows = np.arange(400) % 4
    block = paper.train(images, rows, rng())
    assert block.shape == (400, 224, 224, 3) and block.dtype == np.uint8 and block.flags.c_contiguous
    tops, lefts, mirrored = [], [], 0
    for row, crop in zip(rows, block):
        flipped = crop[0, 0, 1] > crop[0, -1, 1]
        mirrored += flipped
        crop = crop[:, ::-1] if flipped else crop
        top, left = crop[0, 0, :2].tolist()
        assert np.array_equal(crop, images[row, top : top + 224, left : left + 224])
        tops.append(top)
        lefts.append(left)
    assert 160 < mirrored < 240
    assert {min(tops), min(lefts)} == {0} and {max(tops), max(lefts)} == {32}, (
        "every place is reached, the last as well"
    )
    assert len(set(zip(tops, lefts))) > 300


def test_the_papers_test_crop_is_the_centre():
    images = coordinates(4, 256, 256)
    paper = transforms.create("paper")
    assert np.array_equal(paper.test(images, ROWS), images[ROWS, 16:240, 16:240])
    assert paper.test_shape(images) == (224, 224)
    small = coordinates(4, 64, 64)
    assert paper.test_shape(small) == (56, 56) == paper.train(small, ROWS, rng()).shape[1:3]


def test_without_flips_and_with_another_share():
    images = coordinates(4, 40, 20)
    block = transforms.create("paper", flip=False, crop=0.5).train(images, np.zeros(50, int), rng())
    assert block.shape == (50, 20, 10, 3) and (np.diff(block[..., 1].astype(int), axis=2) == 1).all()


def test_how_each_pipeline_stores_its_images():
    assert (
        transforms.create("paper").stored
        == transforms.create("paper").stored_for_test
        == Stored("squash", 256, "cubic")
    )
    assert transforms.create("paper", resize=128).stored.size == 128
    assert transforms.create("released").stored == Stored("squash", 256, "cubic")
    assert transforms.create("released", squash=0).stored == Stored("none")
    assert transforms.create("released").stored_for_test == Stored("short", 256, "cubic")
    dreml = transforms.create("released", squash=246, squash_test=True)
    assert dreml.stored == dreml.stored_for_test == Stored("squash", 246, "cubic")
    assert transforms.create("reality_check").stored == Stored("short", 256, "area")


@pytest.mark.parametrize(
    ("name", "smallest", "size"),
    [("released", 0.08, 224), ("reality_check", 0.16, 227), ("training_strategies", 0.08, 224)],
)
def test_area_crops_are_drawn_as_they_say(name, smallest, size):
    transform = transforms.create(name)
    stream, height, width = rng(1), 256, 384
    windows = np.array(
        [
            transform._window(
                height, width, stream.random((transforms.shared.base.TRIES, 2)), stream.random(2)
            )
            for _ in range(4000)
        ]
    )
    tops, lefts, highs, wides = windows.T
    assert (tops >= 0).all() and (lefts >= 0).all()
    assert (tops + highs <= height).all() and (lefts + wides <= width).all()
    areas, aspects = highs * wides / (height * width), wides / highs
    assert smallest * 0.99 < areas.min() < smallest + 0.01
    assert 0.85 < areas.max() <= 1
    assert 0.74 < aspects.min() < 0.76 and 1.32 < aspects.max() < 1.35
    assert abs(np.log(aspects[areas < 0.5]).mean()) < 0.02, "the logarithm of the proportions is uniform"
    share = (areas < (smallest + 0.5) / 2).sum() / (areas < 0.5).sum()
    assert 0.46 < share < 0.54, "the area is uniform where no window is too large"
    slack = tops[highs < height] / (height - highs[highs < height])
    assert 0.47 < slack.mean() < 0.53
    images = coordinates(4, height, width // 2)
    assert transform.train(images, ROWS, rng()).shape == (4, size, size, 3)


@pytest.mark.parametrize(
    ("name", "wide", "high"),
    [("released", (0, 495, 10, 10), (495, 0, 10, 10)), ("reality_check", (0, 493, 10, 13), (493, 0, 13, 10))],
)
def test_a_window_that_never_fits_becomes_the_centre(name, wide, high):
    """MXNet's is a square, torchvision's the largest of allowed proportions."""
    transform = transforms.create(name)
    assert transform._window(10, 1000, np.ones((10, 2)), np.zeros(2)) == wide
    assert transform._window(1000, 10, np.ones((10, 2)), np.zeros(2)) == high
    assert transform._window(300, 400, np.ones((10, 2)), np.zeros(2)) != wide


def test_windows_of_the_training_strategies_as_they_are():
    """With crop: window every window has the size itself, from images of 256 on the shorter side."""
    transform = transforms.create("training_strategies", crop="window")
    assert transform.stored == transform.stored_for_test == Stored("short", 256, "area")
    images = coordinates(2, 256, 256)
    tops, lefts = set(), set()
    for crop in transform.train(images, np.arange(300) % 2, rng()):
        crop = crop[:, ::-1] if crop[0, 0, 1] > crop[0, -1, 1] else crop
        top, left = crop[0, 0, :2].tolist()
        assert np.array_equal(crop[..., :2], images[0, top : top + 224, left : left + 224, :2])
        tops.add(top)
        lefts.add(left)
    assert {min(tops), min(lefts)} == {0} and {max(tops), max(lefts)} == {32}


def test_a_larger_crop_in_training_than_in_test():
    transform = transforms.create("training_strategies", size=256)
    assert transform.stored == Stored("none")
    images = coordinates(2, 256, 300)
    assert transform.train(images, np.arange(2), rng()).shape == (2, 256, 256, 3)
    assert transform.test(images, np.arange(2)).shape == (2, 224, 224, 3) and transform.test_shape(
        images
    ) == (224, 224)


@pytest.mark.parametrize("name", ["training_strategies", "released", "reality_check"])
def test_training_images_are_embedded_as_test_images_are(name):
    """However they are stored for training."""
    transform = transforms.create(name, **({"squash": 0} if name == "released" else {}))
    originals = rng().integers(0, 256, (3, 300, 411, 3), np.uint8)
    stored = np.stack([transform.stored_for_test.apply(image) for image in originals])
    expected = transform.test(stored, np.arange(3))
    assert np.array_equal(transform.test(originals, np.arange(3)), expected)


def test_a_window_made_smaller_is_averaged():
    stripes = np.zeros((64, 64, 3), np.uint8)
    stripes[::2] = 255
    small = opencv.resize(stripes, 16, 16, "antialiased")
    assert (np.abs(small.astype(int) - 127) <= 1).all()
    assert np.array_equal(opencv.resize(small, 40, 40, "antialiased"), opencv.resize(small, 40, 40, "linear"))


def test_released_draws_among_all_interpolations(monkeypatch):
    used = []
    resize = opencv.resize
    monkeypatch.setattr(opencv, "resize", lambda *arguments: used.append(arguments[3]) or resize(*arguments))
    transform = transforms.create("released", size=16)
    transform.train(coordinates(4, 40, 50), np.arange(500) % 4, rng())
    shares = [used.count(name) / len(used) for name in opencv.INTERPOLATIONS]
    assert sum(shares) == pytest.approx(1) and min(shares) > 0.14


@pytest.mark.parametrize("name", ["released", "reality_check"])
def test_in_test_the_centre_is_taken_without_resizing(name):
    transform = transforms.create(name)
    images = coordinates(2, 256, 300)
    size = transform.size
    top, left = (256 - size) // 2, (300 - size) // 2
    expected = images[:, top : top + size, left : left + size]
    assert np.array_equal(transform.test(images, np.arange(2)), expected)
    assert transform.test_shape(images) == (size, size)
    assert transform.test(coordinates(2, 64, 64), np.arange(2)).shape == (2, size, size, 3)


@pytest.mark.parametrize("name", transforms.names())
@given(
    seed=st.integers(0, 2**32), count=st.integers(1, 6), height=st.integers(8, 40), width=st.integers(8, 40)
)
@settings(max_examples=20, deadline=None)
def test_a_block_is_a_function_of_its_generator_alone(name, seed, count, height, width):
    sizes = {key: 12 for key in ("size", "test_size") if key in transforms.get(name).options}
    transform = transforms.create(name, **sizes)
    images = coordinates(count, height, width)
    rows = rng(seed).integers(0, count, 5)
    block = transform.train(images, rows, rng(seed))
    assert np.array_equal(block, transform.train(images.copy(), rows, rng(seed)))
    assert block.shape[1:3] == transform.test_shape(images)
    assert {*np.unique(block[..., 2])} <= {*rows.tolist()} or name in ("released",)
    assert np.array_equal(images, coordinates(count, height, width)), "nothing is written to the images"


@pytest.mark.parametrize("name", transforms.names())
def test_arrays_caches_and_files_give_the_same_batches(name, tmp_path, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))
    folder = class_folders(tmp_path / "own", list("ab"), per_class=4)
    transform = transforms.create(name)
    as_they_are = transform.stored.resize == "none"  # so only those of one size fit in a block
    rows = np.array([2, 2]) if as_they_are else np.array([1, 3, 0])
    blocks = []
    for cache in ("disk", "none"):
        dataset = data.load("folder", path=str(folder), stored=transform.stored, cache=cache)
        blocks.append(transform.train(dataset.images, rows, rng(3)))
        blocks.append(transform.train(data.shared.images.select(dataset.images, np.arange(4)), rows, rng(3)))
    if name == "paper":
        blocks.append(transform.train(np.asarray(dataset.images), rows, rng(3)))
    assert all(np.array_equal(block, blocks[0]) for block in blocks)


@pytest.mark.parametrize("name", ["paper", "plain"])
def test_images_of_different_sizes_are_refused_where_they_do_not_fit(name, tmp_path):
    folder = class_folders(tmp_path / "own", list("ab"))
    dataset = data.load("folder", path=str(folder), stored=Stored("none"), cache="none")
    with pytest.raises(UserError, match="size"):
        transforms.create(name).train(dataset.images, np.arange(3), rng())


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("papre", {}, "Did you mean 'paper'"),
        ("paper", {"crop": 0}, "crop"),
        ("paper", {"resize": 0}, "resize"),
        ("paper", {"size": 3}, "'size'"),
        ("released", {"squash": -1}, "squash"),
        ("released", {"squash": 0, "squash_test": True}, "squash_test"),
        ("reality_check", {"size": 0}, "size"),
    ],
)
def test_what_cannot_be_done_is_refused(name, options, words):
    with pytest.raises(UserError, match=words):
        transforms.create(name, **options)
