"""Samples that a trial keeps: the right neighbours, small, and the same every time."""

import io
import tracemalloc

import numpy as np
import pytest
from PIL import Image

from dmlplayground.parts.data import Dataset
from dmlplayground.trial.store import snapshots


@pytest.fixture
def dataset():
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(20, dtype=np.int32), 9)
    images = random.integers(0, 256, (len(labels), 48, 48, 3), np.uint8)
    return Dataset("made", "test", images, labels, tuple(f"class {i}" for i in range(20)))


@pytest.fixture
def embeddings(dataset):
    random = np.random.default_rng(1)
    centres = random.normal(size=(20, 16))
    return (centres[dataset.labels] + 0.9 * random.normal(size=(len(dataset), 16))).astype(np.float32)


@pytest.mark.parametrize("distance", ["euclidean", "cosine", "hamming"])
def test_neighbours_are_the_nearest_others(dataset, embeddings, distance):
    found = snapshots.collect(embeddings, dataset, distance)
    points = embeddings.astype(np.float64)
    if distance == "cosine":
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    if distance == "hamming":
        points = np.sign(points)
    queries = snapshots._queries(dataset.labels, 0)
    for query, names, right in zip(queries, found["names"], found["right"]):
        distances = np.linalg.norm(points - points[query], axis=1)
        distances[query] = np.inf
        nearest = np.argsort(distances, kind="stable")[: snapshots.NEIGHBOURS]
        assert names == [dataset.class_names[dataset.labels[row]] for row in (query, *nearest)]
        assert right.tolist() == (dataset.labels[nearest] == dataset.labels[query]).tolist()


def test_the_sheet_shows_queries_and_neighbours_in_their_places(dataset, embeddings):
    flat = np.broadcast_to(np.arange(len(dataset), dtype=np.uint8)[:, None, None, None], dataset.images.shape)
    plain = Dataset(
        "made", "test", flat, dataset.labels, dataset.class_names
    )  # an image is its number as a grey
    sheet = Image.open(io.BytesIO(snapshots.collect(embeddings, plain)["sheet"].tobytes()))
    size = snapshots.THUMB
    assert sheet.size == ((snapshots.NEIGHBOURS + 1) * size, snapshots.QUERIES * size)
    for row, query in enumerate(snapshots._queries(dataset.labels, 0)):
        assert sheet.getpixel((size // 2, row * size + size // 2))[0] == pytest.approx(query, abs=6)


def test_queries_are_of_different_classes(dataset, embeddings):
    names = [row[0] for row in snapshots.collect(embeddings, dataset)["names"]]
    assert len(set(names)) == len(names) == snapshots.QUERIES


def test_the_map_keeps_the_largest_spreads(dataset, embeddings):
    found = snapshots.collect(embeddings, dataset, seed=3)
    assert len(found["map"]) == len(found["map_labels"]) == 8 * 9
    names = np.array(found["map_names"])[found["map_labels"]]
    rows = [i for i in range(len(dataset)) if dataset.class_names[dataset.labels[i]] in found["map_names"]]
    assert sorted(names) == sorted(dataset.class_names[dataset.labels[i]] for i in rows)
    points = embeddings[rows].astype(np.float64)
    values = np.linalg.eigvalsh(np.cov(points.T))
    assert found["share"] == pytest.approx(values[-2:].sum() / values.sum(), rel=1e-3)
    assert found["map"].var(axis=0, ddof=1) == pytest.approx(values[[-1, -2]], rel=1e-3)


def test_a_map_by_tsne_keeps_neighbours_and_is_the_same_again(dataset):
    random = np.random.default_rng(0)
    points = random.normal(size=(dataset.num_classes, 16))[
        dataset.labels
    ]  # every class in a place of its own
    points = points + 0.01 * random.normal(size=points.shape)
    found, again = (snapshots.collect(points, dataset, tsne=True) for _ in range(2))
    assert (found["tsne"] == again["tsne"]).all() and found["tsne"].shape == found["map"].shape
    distances = ((found["tsne"][:, None] - found["tsne"]) ** 2).sum(axis=-1)
    np.fill_diagonal(distances, np.inf)
    assert (found["map_labels"][distances.argmin(axis=0)] == found["map_labels"]).all()
    assert "tsne" not in snapshots.collect(points, dataset)
    same = snapshots.collect(np.ones_like(points), dataset, tsne=True)
    assert (same["tsne"] == 0).all()


def test_the_same_seed_chooses_the_same_and_another_seed_others(dataset, embeddings):
    first, again, other = (snapshots.collect(embeddings, dataset, seed=seed) for seed in (0, 0, 1))
    assert (first["sheet"] == again["sheet"]).all() and first["names"] == again["names"]
    assert first["names"] != other["names"]


def test_small_sets_and_one_dimension_and_collapsed_embeddings(dataset):
    few = dataset.subset([0, 1])
    found = snapshots.collect(np.arange(len(few))[:, None], few)
    assert len(found["names"]) == 2 and found["map"].shape == (len(few), 2)
    tiny = Dataset("made", "test", dataset.images[:3], dataset.labels[:3], ("class 0",))
    found = snapshots.collect(np.ones((3, 4)), tiny)
    assert found["right"].shape == (1, 2) and found["share"] == 0


def test_saved_and_loaded(tmp_path, dataset, embeddings):
    snapshots.save(tmp_path, "ours", snapshots.collect(embeddings, dataset))
    found, expected = snapshots.load(tmp_path, "ours"), snapshots.collect(embeddings, dataset)
    assert found.keys() == expected.keys()
    assert (found["map"] == expected["map"]).all() and found["names"] == expected["names"]
    assert (tmp_path / snapshots.FILE).stat().st_size < 80_000
    assert snapshots.load(tmp_path / "elsewhere", "ours") is None


def test_samples_of_another_trial_are_named_and_left_out(tmp_path, dataset, embeddings, capsys):
    snapshots.save(tmp_path, "another", snapshots.collect(embeddings, dataset))
    assert snapshots.load(tmp_path, "ours") is None
    said = f"{tmp_path / snapshots.FILE} holds the samples of another trial, another."
    assert said in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("distance", ["euclidean", "cosine", "hamming"])
def test_a_large_test_set_takes_little_room(tmp_path, dataset, distance):
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(4000, dtype=np.int32), 5)
    pictures = np.broadcast_to(dataset.images[:1], (len(labels), *dataset.images.shape[1:]))
    large = Dataset("made", "test", pictures, labels, tuple(f"class {i}" for i in range(4000)))
    embeddings = random.standard_normal((len(labels), 2048), dtype=np.float32)
    tracemalloc.start()
    snapshots.save(tmp_path, "ours", snapshots.collect(embeddings, large, distance))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.3 * embeddings.nbytes  # a copy in the form that the distance asks for, and little else
    assert (tmp_path / snapshots.FILE).stat().st_size < 80_000
