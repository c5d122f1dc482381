"""dml.Index: an exact search, what an index knows of its contents, and files whose damage is noticed."""

import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import dmlplayground as dml
from dmlplayground.base import files
from dmlplayground.base.errors import UserError
from dmlplayground.serving import expansion, neighbours
from dmlplayground.serving.neighbours import distances

KINDS = ("euclidean", "cosine", "hamming")


def by_sorting(queries, points, kind, k):
    """What a search should find: all distances in double precision, sorted, equal ones by their numbers."""
    away = [distances(query, points, kind) for query in queries]
    order = [np.argsort(each, kind="stable")[:k] for each in away]
    return np.array([each[rows] for each, rows in zip(away, order)]), np.array(order)


def cases():
    rng = np.random.default_rng(0)
    many = 4500
    for width in (1, 3, 64, 130):
        yield f"{width} numbers", rng.normal(size=(many, width))
    ties = rng.normal(size=(many, 16))
    ties[::3] = ties[0]
    yield "copies", ties
    yield "whole numbers", rng.integers(0, 3, (many, 8))
    yield "all the same", np.ones((many, 8))
    yield "zeros", np.zeros((many, 8))
    yield "far from the origin", rng.normal(size=(many, 32)) * 1e-3 + 1000
    yield "huge", rng.normal(size=(many, 8)) * 1e30
    yield "tiny", rng.normal(size=(many, 8)) * 1e-38
    outlier = rng.normal(size=(many, 8))
    outlier[5] *= 1e20
    yield "an outlier", outlier
    yield (
        "tight clusters",
        rng.normal(size=(3, 32))[rng.integers(0, 3, many)] + 1e-4 * rng.normal(size=(many, 32)),
    )
    points = rng.normal(size=(many, 16))
    yield "farthest first", points[np.argsort(-np.linalg.norm(points - points[0], axis=1))]


CASES = dict(cases())


def check_search(points, kind):
    points = np.asarray(points, np.float32)
    rng = np.random.default_rng(1)
    noise = np.float32(0.01) * rng.normal(size=(4, points.shape[1])).astype(np.float32)
    queries = np.concatenate(
        [points[[0, 5, -1]], points[:4] + noise, 0 * points[:1], points[:1] * np.float32(1e3)]
    )
    codes = neighbours.encode(points, kind)
    for k in (1, 10, 400):
        away, rows = neighbours.nearest(queries, points, kind, k, codes)
        expected = by_sorting(queries, points, kind, k)
        np.testing.assert_array_equal(rows, expected[1])
        np.testing.assert_array_equal(away, expected[0])
    return codes


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_a_search_finds_what_sorting_all_distances_finds(case, kind):
    check_search(CASES[case], kind)


def test_the_scan_leaves_few_rows():
    points = np.random.default_rng(0).normal(size=(20_000, 64)).astype(np.float32)
    codes = neighbours.encode(points, "euclidean")
    left = neighbours._candidates(points[:5], "euclidean", 10, codes, len(points))
    assert max(map(len, left)) < 300


OTHER_PROCESSOR = """
import sys; sys.path.insert(0, {tests!r})
import numba, test_index
from dmlplayground.parts.metrics.shared.engine import vectors
assert not vectors.BYTE_PRODUCTS
for kind in test_index.KINDS:
    assert test_index.check_search(test_index.CASES["130 numbers"], kind) is not None
"""


@pytest.mark.slow
def test_other_processors_find_the_same(tmp_path):
    """As if this one had no instruction for products of bytes."""
    import os

    subprocess.run(
        [sys.executable, "-c", OTHER_PROCESSOR.format(tests=str(Path(__file__).parent))],
        env={**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path)},
        check=True,
    )


# --- what is in it ------------------------------------------------------------------------------------------


def vectors(count=5000, width=24, seed=0):
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


def test_a_vector_is_known_by_its_name_and_its_numbers():
    index = dml.Index.make(24)
    points = vectors(2)
    assert index.add(points[:1], ["first"]) == 1
    assert index.add(points[:1], ["first"]) == 0
    assert index.add(points[1:], ["first"]) == 1 and index.add(points[:1], ["second"]) == 1


def test_vectors_are_added_found_and_removed():
    points, index = vectors(60), dml.Index.make(24)
    names = [f"v{number}" for number in range(60)]
    assert index.add(points[:40], names[:40]) == 40 and index.add(points, names) == 20
    away, found = index.search(points[[3, 50]], k=2)
    assert [each[0] for each in found] == ["v3", "v50"] and away.shape == (2, 2) and (away[:, 0] == 0).all()
    assert index.remove(["v3", "v4"]) == 2 and len(index) == 58
    assert index.search(points[3], k=58)[1][0].count("v3") == 0
    assert index.search(points[:1], k=1000)[0].shape == (1, 58)  # all there are
    assert dml.Index.make(24).search(points[:2], k=3)[1] == [[], []]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda index: index.add(np.zeros((2, 5))), "vectors of 3 numbers"),
        (lambda index: index.add([[1, 2, np.nan]]), "vector 0 .* not finite"),
        (lambda index: index.add([[1, 2, 1e300]]), "vector 0 .* not finite"),
        (lambda index: index.add(np.zeros((2, 3)), ["a"]), "2 entries to add, and 1 names"),
        (lambda index: index.add("photos"), "vectors of no model"),
        (lambda index: index.search("photo.jpg"), "vectors of no model"),
        (lambda index: index.search(np.zeros((1, 3)), k=0), "at least one"),
        (lambda index: index.remove("nobody"), "no entry 'nobody'"),
        (lambda index: index.save("x.bin"), "an .index, a .npy or a .parquet"),
        (lambda index: dml.Index.make(0), "at least one number"),
        (lambda index: dml.Index.make(3, "euclidian"), "Did you mean 'euclidean'"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(call, message):
    index = dml.Index.make(3)
    index.add(np.eye(3))
    with pytest.raises(UserError, match=message):
        call(index)


def test_expansion_searches_with_the_mean_of_query_and_neighbours():
    points, index = vectors(300, 8), dml.Index.make(8)
    index.add(points)
    query = vectors(1, 8, seed=9)
    near = np.linalg.norm(points - query, axis=1).argsort()[:5]
    mean = (query + points[near].sum(axis=0)) / 6
    expected = np.linalg.norm(points - mean, axis=1).argsort()[:7]
    assert index.search(query, k=7, expand=5)[1] == [[str(row) for row in expected]]


def test_the_gain_of_expansion_is_measured_without_the_query_itself():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(20), 10)
    points = rng.normal(size=(20, 16))[labels] + 1.1 * rng.normal(size=(200, 16))
    gain = expansion.gain(points, labels, "euclidean", 3, "here")
    scores = dml.metrics.evaluate(points, labels, clustering=False)
    assert gain.recall[0] == pytest.approx(scores["R@1"]) and gain.precision[0] == pytest.approx(
        scores["MAP@R"]
    )
    assert (
        gain.precision[1] > gain.precision[0] + 0.02
    )  # clusters of one normal distribution each: means help


# --- files --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    points = vectors()
    index = dml.Index.make(24)
    index.add(points, [f"bild-{number}-ä" for number in range(5000)], ["c"] * 5000)
    path = tmp_path_factory.mktemp("index") / "v.index"
    index.save(path)
    queries = points[::500] + 0.1 * vectors(10, seed=3)
    return path, queries, index.search(queries, k=5)


def same(one, other):
    return np.array_equal(one[0], other[0]) and one[1] == other[1]


def test_an_opened_index_reads_what_it_needs(saved):
    path, queries, expected = saved
    index = dml.Index.open(path)
    assert not index._stored._checked.any() and len(index) == 5000 and index.width == 24
    assert same(index.search(queries, k=5), expected)
    assert 0.2 < index._stored._checked.mean() < 1  # the codes, and few of the rows and names
    assert index.add(vectors(1, seed=5), ["new"]) == 1 and len(index) == 5001
    assert index.search(vectors(1, seed=5), k=1)[1] == [["new"]]


def test_an_index_replaces_the_file_that_it_was_opened_from(saved, tmp_path):
    path = tmp_path / "v.index"
    path.write_bytes(saved[0].read_bytes())
    index = dml.Index.open(path)
    index.remove("bild-7-ä")
    index.save(path)
    assert len(dml.Index.open(path)) == 4999
    assert same(dml.Index.open(path).search(saved[1], k=5), index.search(saved[1], k=5))


def test_damage_is_refused_or_changes_nothing(saved, tmp_path):
    path, queries, expected = saved
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for number in range(150):
        damaged = bytearray(content)
        if number % 3:
            place = int(
                rng.integers(len(content)) if number % 3 == 1 else len(content) - rng.integers(1, 3000)
            )
            damaged[place] ^= 1 << int(rng.integers(8))
        else:
            damaged = damaged[: rng.integers(len(content))]
        target = tmp_path / f"{number}.index"
        target.write_bytes(damaged)
        try:
            found = dml.Index.open(target).search(queries, k=5)
        except UserError as problem:
            refused += 1
            assert str(target) in str(problem)
        else:
            assert same(found, expected)
            with pytest.raises(UserError, match="damaged"):
                dml.Index.open(target).check()
        target.unlink()
    assert refused > 100


@pytest.mark.parametrize("suffix", [".npy", ".parquet"])
def test_other_files_hold_the_same(saved, tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path, queries, expected = saved
    target = dml.Index.open(path).save(tmp_path / f"v{suffix}")[0]
    again = dml.Index.open(target)
    assert same(again.search(queries, k=5), expected)
    assert list(again.rows.classes) == ["c"] * 5000


def test_embeddings_and_names_of_two_indexes_are_refused(saved, tmp_path, monkeypatch):
    """What was left by a process that was killed between two renames."""
    one, other = dml.Index.make(4), dml.Index.make(4)
    one.add(np.eye(4), list("abcd"))
    other.add(2 * np.eye(4), list("efgh"))
    one.save(tmp_path / "i.npy")
    other.save(tmp_path / "j.npy")
    (tmp_path / "j.json").replace(tmp_path / "i.json")
    with pytest.raises(UserError, match="do not belong together"):
        dml.Index.open(tmp_path / "i.npy")


def test_a_flipped_bit_of_an_npy_is_refused(tmp_path):
    index = dml.Index.make(4)
    index.add(np.eye(4), list("abcd"))
    path, manifest = index.save(tmp_path / "i.npy")
    for file in (path, manifest):
        content = file.read_bytes()
        file.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        with pytest.raises(UserError, match=r"i\.(npy|json)"):
            dml.Index.open(path)
        file.write_bytes(content)


def test_a_block_is_checked_by_its_own_sum(saved):
    """The format as its file describes it, read without our code."""
    import json
    import struct

    content = saved[0].read_bytes()
    length, _, magic = struct.unpack("<Q32s8s", content[-48:])
    end = content[-48 - length : -48]
    described = json.loads(end[described_from(end) :])
    sums = np.frombuffer(end[: 4 * described["blocks"]], "<u4")
    assert magic == b"dmlindex" and zlib.crc32(content[:16384]) == sums[0]
    place = described["arrays"]["embeddings"]
    first = np.frombuffer(content, "<f4", 24, place["start"] * 16384)
    np.testing.assert_array_equal(first, vectors()[0])


def described_from(end):
    return end.rindex(b'{"about"')


def test_a_million_rows_open_at_once(tmp_path, monkeypatch):
    """Nothing but the end of the file is read."""
    index = dml.Index.make(4)
    index.add(vectors(20_000, 4))
    path = tmp_path / "v.index"
    index.save(path)
    monkeypatch.setattr(files, "read_bytes", lambda path: pytest.fail("the file was read"))
    opened = dml.Index.open(path)
    assert len(opened) == 20_000 and not opened._stored._checked.any()


def test_faiss_finds_most_of_what_is_near(saved):
    pytest.importorskip("faiss")
    path, queries, (_, names) = saved
    index = dml.Index.open(path)
    _, rows = index.to_faiss().search(queries.astype(np.float32), 5)
    found = [
        len({index.rows.names[row] for row in near} & set(exact)) / 5 for near, exact in zip(rows, names)
    ]
    assert np.mean(found) > 0.8
