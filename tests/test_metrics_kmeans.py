"""k-means: as good as scikit-learn's, the same for the same seed, and sound where points coincide."""

import sys

import loops_in_numpy
import numpy as np
import pytest
from reference import metrics as reference
from sklearn.cluster import KMeans

from dmlplayground.base.errors import UserError
from dmlplayground.parts.metrics import kmeans
from dmlplayground.parts.metrics.shared.engine.embeddings import Embeddings


def blobs(size=900, classes=40, dim=16, noise=0.7, seed=0):
    random = np.random.default_rng(seed)
    labels = random.integers(classes, size=size)
    centres = random.normal(size=(classes, dim))
    return (centres[labels] + noise * random.normal(size=(size, dim))).astype(np.float32)


def test_inertia_is_that_of_the_clusters():
    points = blobs(200, 8)
    run = kmeans(Embeddings(points), 8, seed=3)
    assert run.inertia == pytest.approx(reference.inertia(points.tolist(), run.clusters.tolist()), rel=1e-5)
    assert run.converged
    assert (run.starts, len(np.unique(run.clusters))) == (10, 8)


def test_is_as_good_as_scikit_learn_over_seeds():
    points = blobs()
    ours = [kmeans(Embeddings(points), 40, seed, starts=1).inertia for seed in range(8)]
    theirs = [KMeans(40, n_init=1, random_state=seed).fit(points).inertia_ for seed in range(8)]
    assert np.mean(ours) < 1.01 * np.mean(theirs)


def test_many_small_clusters_start_in_batches_and_stay_as_good():
    points = blobs(3000, 600, noise=0.5)
    ours = kmeans(Embeddings(points), 600, starts=1)
    theirs = KMeans(600, n_init=1, random_state=0).fit(points)
    assert ours.inertia < 1.01 * theirs.inertia_
    assert len(np.unique(ours.clusters)) == 600


def test_candidates_that_stand_again_gain_what_they_would_if_tried_anew():
    module = sys.modules[kmeans.__module__]
    data = module._Data(Embeddings(blobs(700, 30)), 10**8)
    random = np.random.default_rng(5)
    run = module._Run(data, 20, random)
    run.label, run.value = np.zeros(700, np.int64), np.full(700, np.inf, np.float32)
    run.centres = data.rows[random.integers(700, size=20)]
    run._compare(np.arange(6))
    candidates = random.integers(700, size=(4, 9))
    gains, before = run._gains(candidates, run.value), run.value.copy()
    run._compare(np.arange(6, 20))
    again, found = run._best_again(candidates, gains, before, 5)
    anew = run._gains(candidates, run.value)
    assert (gains > anew + 1e-3).any()
    np.testing.assert_allclose(found, run._gains(again, run.value), rtol=1e-4)
    np.testing.assert_allclose(found, -np.sort(-anew, axis=1)[:, :5], rtol=1e-4)


@pytest.mark.parametrize("size, classes", [(900, 40), (1500, 600)])
def test_threads_change_nothing(monkeypatch, size, classes):
    points, found = Embeddings(blobs(size, classes)), []
    monkeypatch.setitem(kmeans.__globals__, "TILE", 4096)
    for threads in ("1", "4"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append(kmeans(points, classes, starts=1).clusters)
    np.testing.assert_array_equal(*found)


def test_every_point_is_at_its_nearest_centre_and_every_centre_is_a_mean():
    """Fewer comparisons must not stop short of what comparing everything with everything would reach."""
    points = blobs(500, 25).astype(np.float64)
    run = kmeans(Embeddings(points), 25, starts=1)
    centres = np.array([points[run.clusters == c].mean(axis=0) for c in range(25)])
    squares = ((points[:, None] - centres[None]) ** 2).sum(-1)
    own = squares[np.arange(500), run.clusters]
    assert (own <= squares.min(axis=1) + 1e-5).all()


def test_more_starts_are_no_worse():
    points = blobs(noise=1.5)
    assert (
        kmeans(Embeddings(points), 40, starts=6).inertia <= kmeans(Embeddings(points), 40, starts=1).inertia
    )


def test_same_seed_same_clusters_whatever_the_memory():
    points = Embeddings(blobs())
    first, again, other = (kmeans(points, 40, seed, starts=2) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.clusters, again.clusters)
    assert (first.clusters != other.clusters).any()
    np.testing.assert_array_equal(first.clusters, kmeans(points, 40, 1, starts=2, memory=20_000).clusters)


def test_loops_in_numpy_are_as_good(monkeypatch):
    compiled = kmeans(Embeddings(blobs(300)), 20, starts=1)
    monkeypatch.setitem(kmeans.__globals__, "loops", lambda: loops_in_numpy)
    assert kmeans(Embeddings(blobs(300)), 20, starts=1).inertia == pytest.approx(compiled.inertia, rel=0.02)


def test_coinciding_points_are_one_cluster():
    points = np.repeat(np.random.default_rng(0).normal(size=(3, 5)), 4, axis=0)
    run = kmeans(Embeddings(points), 6)
    assert run.inertia == pytest.approx(0.0, abs=1e-12)
    assert len(np.unique(run.clusters)) == 3
    assert len({(tuple(point), cluster) for point, cluster in zip(points, run.clusters)}) == 3


@pytest.mark.parametrize("k", [1, 12])
def test_one_cluster_and_one_cluster_a_point(k):
    points = blobs(12, 4)
    run = kmeans(Embeddings(points), k)
    assert len(np.unique(run.clusters)) == k
    assert run.inertia == pytest.approx(0.0 if k == 12 else 12 * points.var(axis=0).sum(), rel=1e-5)


def test_an_emptied_cluster_takes_the_farthest_point():
    data = kmeans.__globals__["_Data"](Embeddings(np.array([[0.0], [1.0], [9.0], [10.0]])), 10**6)
    run = kmeans.__globals__["_Run"](data, 3, np.random.default_rng(0))
    run.label, run.value = np.array([0, 0, 0, 2]), (-data.squares / 2 + [0, 1, 5, 0]).astype(np.float32)
    changed = run._fill_empty()
    assert run.label.tolist() == [0, 0, 1, 2]
    assert sorted(changed.tolist()) == [0, 1]


@pytest.mark.parametrize(
    ("distance", "factor"), [("euclidean", 1e-12), ("euclidean", 1e12), ("cosine", 1e12)]
)
def test_scale_does_not_matter(distance, factor):
    points = blobs(300).astype(np.float64)
    run, scaled = (kmeans(Embeddings(rows, distance), 10, starts=1) for rows in (points, points * factor))
    assert scaled.inertia == pytest.approx(
        run.inertia * (factor**2 if distance == "euclidean" else 1), rel=0.02
    )


@pytest.mark.parametrize(("k", "starts"), [(0, 1), (13, 1), (3, 0)])
def test_impossible_requests_are_refused(k, starts):
    with pytest.raises(UserError, match="k-means needs"):
        kmeans(Embeddings(blobs(12, 4)), k, starts=starts)
