"""Ranks of positives: equal to a stable sort in plain loops, whatever the blocks, loops and ties."""

import itertools

import loops_in_numpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import metrics as reference

from dmlplayground.base.errors import UserError
from dmlplayground.parts.metrics.shared.engine import MEMORY, inner_loops, rank_counting
from dmlplayground.parts.metrics.shared.engine.embeddings import DISTANCES, Embeddings
from dmlplayground.parts.metrics.shared.engine.rounded import Coordinates

LOOPS = {"compiled": inner_loops, "plain": loops_in_numpy}
SMALL_BLOCKS = 60_000  # bytes: a few rows a block at 20 dimensions


@pytest.fixture(params=LOOPS)
def either_loops(request, monkeypatch):
    monkeypatch.setattr(rank_counting, "loops", lambda: LOOPS[request.param])


def cloud(random, size, dim, kind):
    if kind == "spread":
        return random.normal(size=(size, dim))
    if kind == "whole numbers":
        return random.integers(-2, 3, size=(size, dim)).astype(float)
    if kind == "duplicates":
        return random.normal(size=(4, dim))[random.integers(4, size=size)]
    if kind == "nearly one point":
        return random.normal(size=dim) + 1e-6 * random.normal(size=(size, dim))
    return np.zeros((size, dim))


KINDS = ["spread", "whole numbers", "duplicates", "nearly one point", "zeros"]


def ranks_by_query(queries, labels, distance, gallery=None, gallery_labels=None, depth=3, memory=MEMORY):
    """For each query its R and the ranks of its positives, as listed."""
    pool = None if gallery is None else Embeddings(gallery, distance)
    found = {}
    for rows, ranks in rank_counting.positive_ranks(
        Embeddings(queries, distance), labels, pool, gallery_labels, depth, memory
    ):
        lists = np.split(ranks.rank, np.cumsum(ranks.counts)[:-1])
        found.update({row: (r, one.tolist()) for row, r, one in zip(rows, ranks.relevant, lists)})
    return [found[row] for row in range(len(queries))]


def ranks_by_loops(queries, labels, distance, gallery=None, gallery_labels=None, depth=3):
    lists = []
    for relevant in reference.relevance(queries.tolist(), labels, distance, gallery, gallery_labels):
        deepest = max(depth, sum(relevant))
        lists.append((sum(relevant), [i + 1 for i, hit in enumerate(relevant[:deepest]) if hit]))
    return lists


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("distance", ["euclidean", "hamming"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_plain_loops_in_any_blocks(either_loops, kind, distance, dtype):
    random = np.random.default_rng(len(kind))
    points = cloud(random, 67, 11, kind).astype(dtype)
    labels = random.integers(-3, 9, size=67)
    expected = ranks_by_loops(points, labels, distance)
    for memory in (SMALL_BLOCKS, MEMORY):
        assert ranks_by_query(points, labels, distance, memory=memory) == expected


@pytest.mark.parametrize("kind", ["spread", "duplicates", "zeros"])
def test_cosine_equals_plain_loops(either_loops, kind):
    random = np.random.default_rng(5)
    points = cloud(random, 60, 9, kind)
    points[::7] = 0.0  # similarity 0 to everything
    labels = random.integers(8, size=60)
    for memory in (SMALL_BLOCKS, MEMORY):
        found = ranks_by_query(points, labels, "cosine", memory=memory)
        assert found == ranks_by_loops(points, labels, "cosine")


@pytest.mark.parametrize("distance", ["euclidean", "cosine", "hamming"])
def test_separate_gallery_equals_plain_loops(either_loops, distance):
    random = np.random.default_rng(6)
    queries, gallery = random.normal(size=(31, 6)), random.normal(size=(45, 6))
    gallery[10:20] = queries[:10]  # a query's twin in the gallery is a reference like any other
    labels, gallery_labels = random.integers(12, size=31), random.integers(2, 14, size=45)
    expected = ranks_by_loops(queries, labels, distance, gallery.tolist(), gallery_labels)
    for memory in (SMALL_BLOCKS, MEMORY):
        assert ranks_by_query(queries, labels, distance, gallery, gallery_labels, memory=memory) == expected


@settings(max_examples=40, deadline=None)
@given(
    size=st.integers(2, 25),
    dim=st.integers(1, 19),
    classes=st.integers(1, 6),
    depth=st.integers(1, 30),
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 99),
)
def test_equals_plain_loops_for_any_sizes(size, dim, classes, depth, kind, seed):
    random = np.random.default_rng(seed)
    points, labels = cloud(random, size, dim, kind), random.integers(classes, size=size)
    expected = ranks_by_loops(points, labels, "euclidean", depth=depth)
    assert ranks_by_query(points, labels, "euclidean", depth=depth) == expected


@pytest.mark.parametrize("memory", [SMALL_BLOCKS, MEMORY])
def test_threads_change_nothing(monkeypatch, memory):
    """Tiles that are looked at side by side count for different queries."""
    monkeypatch.setattr(rank_counting, "PART", 16)
    random = np.random.default_rng(8)
    points, labels = random.normal(size=(300, 9)), random.integers(60, size=300)
    found = []
    for threads in ("1", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append([ranks_by_query(points, labels, name, memory=memory) for name in DISTANCES])
    assert found[0] == found[1]


@pytest.mark.parametrize("count", [1, 2, 3, 8, 31])
def test_each_two_parts_meet_once_and_no_list_has_one_twice(count):
    parts = [slice(number, number + 1) for number in range(count)]
    seen = []
    for pairs in rank_counting.each_two(parts):
        numbers = [number for one, other in pairs for number in {one.start, other.start}]
        assert len(numbers) == len(set(numbers))
        seen += [(one.start, other.start) for one, other in pairs]
    assert sorted(seen) == [(one, other) for one in range(count) for other in range(one, count)]


def test_loops_agree_to_the_last_bit():
    random = np.random.default_rng(1)
    for dtype in (np.float32, np.float64):
        x, y = random.normal(size=(9, 21)).astype(dtype), random.normal(size=(30, 21)).astype(dtype)
        begin = np.concatenate([[0], np.cumsum(random.integers(8, size=9))])
        index = random.integers(30, size=begin[-1])
        for cosine in (False, True):
            lengths = [
                np.linalg.norm(rows.astype(float), axis=1) if cosine else np.ones(30) for rows in (x, y)
            ]
            arguments = (x, lengths[0], np.arange(9), y, lengths[1], begin, index, cosine)
            np.testing.assert_array_equal(
                inner_loops.distances(*arguments), loops_in_numpy.distances(*arguments)
            )


def test_each_distance_within_a_class_serves_both_its_rows():
    random = np.random.default_rng(3)
    labels, points = random.integers(4, size=40), random.normal(size=(40, 13))
    norms = np.linalg.norm(points, axis=1)
    members = [np.flatnonzero((labels == own) & (np.arange(40) != row)) for row, own in enumerate(labels)]
    begin, index = np.concatenate([[0], np.cumsum([len(each) for each in members])]), np.concatenate(members)
    for cosine, length in ((False, np.ones(40)), (True, norms)):
        each = loops_in_numpy.distances(points, length, np.arange(40), points, length, begin, index, cosine)
        for module in LOOPS.values():
            found = module.mutual_distances(points, length, begin, index, cosine)
            np.testing.assert_array_equal(found, each)


def test_lists_are_sorted_by_distance_and_index():
    random = np.random.default_rng(2)
    begin = np.concatenate([[0], np.cumsum([0, 1, 5, 64, 65, 300, 2])])
    distance = random.integers(9, size=begin[-1]).astype(float)
    index = np.arange(begin[-1])
    values, places = distance.copy(), index.copy()
    rank_counting._sort(begin, values, places)
    for first, last in itertools.pairwise(begin):
        expected = sorted(zip(distance[first:last], index[first:last]))
        assert list(zip(values[first:last], places[first:last])) == expected


def test_half_the_products_count_for_all_if_all_positives_fit_the_memory():
    """Tiles of several sizes, many positives and few, and depths above and below them."""
    random = np.random.default_rng(4)
    for classes, depth in ((3, 5), (40, 2), (40, 60), (150, 8)):
        labels = random.integers(classes, size=500)
        points = random.normal(size=(classes, 7))[labels] + random.normal(size=(500, 7))
        expected = ranks_by_loops(points, labels, "euclidean", depth=depth)
        pairs = int((np.bincount(labels) ** 2).sum())
        for memory in (150_000, 320 * (pairs - 1), 320 * pairs, MEMORY):
            positives = rank_counting._Positives(labels, labels, own=True)
            plan = rank_counting._Plan.within(memory, Embeddings(points), positives)
            assert plan.mirrored == (pairs <= memory // 320)
            assert ranks_by_query(points, labels, "euclidean", depth=depth, memory=memory) == expected


@pytest.mark.parametrize(("rows", "others", "dim"), [(50, 130, 21), (3, 64, 1), (37, 1, 16), (1, 5, 40)])
def test_loops_of_kmeans_agree(rows, others, dim):
    """Products of whole numbers are exact, in whatever order they are added; blocks of rows and columns are not full."""
    random = np.random.default_rng(2)
    x, y = (random.integers(-3, 4, size=(size, dim)).astype(np.float32) for size in (rows, others))
    bias = random.integers(-9, 9, size=others).astype(float)
    value = np.quantile(bias - x @ y.T, 0.2, axis=1).round().astype(np.float32)
    arguments = (x, y, bias)
    for least in (value - 2, np.full(rows, -np.inf, np.float32)):
        gains = np.maximum(value[:, None] - np.maximum(bias - x @ y.T, least[:, None]), 0).sum(axis=0)
        for module in LOOPS.values():
            np.testing.assert_array_equal(module.gains(*arguments, value, least), gains)
    results = []
    for module in LOOPS.values():
        label, least = np.full(rows, -1), value.copy()
        module.nearest(*arguments, np.arange(others) * 3, label, least)
        results.append((label.tolist(), least.tolist()))
    assert results[0] == results[1]
    expected = np.minimum(value, (bias - x @ y.T).min(axis=1))
    assert results[0][1] == expected.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_the_bound_on_rounding_holds(kind, distance, scale):
    """A float32 value of a product is off by no more than its slack, which is small where points differ."""
    random = np.random.default_rng(3)
    points = Embeddings(cloud(random, 80, 48, kind) * scale + scale, distance)
    frame = Coordinates(points)
    block, framed = frame.known(points, slice(None)), frame.rows(points, slice(None))
    tile = block.bias.astype(np.float32) - framed @ framed.T
    rows = points.rows(slice(None))
    difference = rows[:, None] - rows[None]
    exact = (difference**2).sum(-1) if distance == "euclidean" else 1 - rows @ rows.T
    error = np.abs(tile - (frame.gain * exact - block.shift[:, None]))
    slack = frame.slack(block, block)
    assert (error <= slack).all()
    if kind in ("spread", "whole numbers", "duplicates"):
        assert slack < 1e-4


def test_products_of_bits_are_exact():
    points = Embeddings(np.random.default_rng(0).integers(256, size=(40, 33), dtype=np.uint8), "hamming")
    frame = Coordinates(points)
    block, framed = frame.known(points, slice(None)), frame.rows(points, slice(None))
    found = (block.bias - framed @ framed.T + block.shift[:, None]) / frame.gain
    bits = points.rows(slice(None))
    np.testing.assert_array_equal(found, (bits[:, None] != bits[None]).sum(-1))
    assert frame.slack(block, block) == 0


def test_too_little_memory_is_refused():
    with pytest.raises(UserError, match="memory of 1000 bytes is too little"):
        ranks_by_query(np.zeros((5, 64)), np.zeros(5, int), "euclidean", memory=1000)
