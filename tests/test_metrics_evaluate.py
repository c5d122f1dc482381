"""The evaluation as it is called: names, decisions, galleries, files on disk, memory, no numba."""

import json
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import mxnet as mx
import numpy as np
import pytest
from reference import metrics as reference

import dmlplayground
import dmlplayground as dml
from dmlplayground import metrics
from dmlplayground.base.errors import UserError
from dmlplayground.parts.metrics.shared.engine.embeddings import Embeddings

ROOT = str(Path(dmlplayground.__file__).parents[1])


def embeddings(size=120, classes=9, dim=12, seed=0, noise=1.5):
    random = np.random.default_rng(seed)
    labels = random.integers(classes, size=size)
    points = random.normal(size=(classes, dim))[labels] + noise * random.normal(size=(size, dim))
    return points.astype(np.float32), labels * 1000 - 500


def in_a_new_process(code, *arguments, **environment):
    """What the code prints, run by itself."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    variables = {**os.environ, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("distance", ["euclidean", "cosine", "hamming"])
def test_scores_are_those_of_plain_loops(distance):
    points, labels = embeddings()
    run = metrics.assess(
        points,
        labels,
        [1, 3],
        distance=distance,
        metrics=[*metrics.STANDARD, "P@2", "mAP@7", "mAP_R@4", "mAP"],
    )
    lists = reference.relevance(points.tolist(), labels, distance)
    expected = {
        "R@1": reference.mean(reference.recall_at_k, lists, 1),
        "R@3": reference.mean(reference.recall_at_k, lists, 3),
        "RP": reference.mean(reference.r_precision, lists),
        "MAP@R": reference.mean(reference.map_at_r, lists),
        "NMI": reference.nmi(labels.tolist(), run.clustering.clusters.tolist()),
        "NMI_geometric": reference.nmi(labels.tolist(), run.clustering.clusters.tolist(), "geometric"),
        "AMI": metrics.ami(labels, run.clustering.clusters),
        "F1": reference.pairwise_f1(labels.tolist(), run.clustering.clusters.tolist()),
        "P@2": reference.mean(reference.precision_at_k, lists, 2),
        "mAP@7": reference.mean(reference.map_at_k, lists, 7),
        "mAP_R@4": reference.mean(reference.map_within_k, lists, 4),
        "mAP": reference.mean(reference.map_within_k, lists, len(points)),
    }
    assert run.scores == pytest.approx(expected)
    assert list(run.scores) == list(expected)
    assert (run.clustering.starts, run.queries) == (10, 120)


def test_evaluate_gives_the_scores_alone():
    points, labels = embeddings()
    assert metrics.evaluate(points, labels) == metrics.assess(points, labels).scores
    names = ["R@1", "R@2", "R@4", "R@8", "R@16", "RP", "MAP@R"]
    assert list(metrics.evaluate(points.tolist(), labels.tolist(), clustering=False)) == names


def test_separate_gallery():
    points, labels = embeddings()
    run = metrics.assess(
        points[:40],
        labels[:40],
        [2],
        gallery=points[40:],
        gallery_labels=labels[40:],
        metrics=["R@K", "mAP@9", "mAP", "F1"],
    )
    lists = reference.relevance(
        points[:40].tolist(), labels[:40], gallery=points[40:].tolist(), gallery_labels=labels[40:]
    )
    assert run.scores["R@2"] == pytest.approx(reference.mean(reference.recall_at_k, lists, 2))
    assert run.scores["mAP@9"] == pytest.approx(reference.mean(reference.map_at_k, lists, 9))
    assert run.scores["mAP"] == pytest.approx(reference.mean(reference.map_within_k, lists, 80))
    assert len(run.clustering.clusters) == 40


def test_packed_bits_are_the_bits():
    points, labels = embeddings(dim=21)
    bits = points > 0
    results = [
        metrics.evaluate(codes, labels, distance="hamming", starts=1)
        for codes in (points, bits, bits.astype(np.int64), bits.astype(np.uint8), np.packbits(bits, axis=1))
    ]
    for scores in results:
        assert {name: scores[name] for name in ("R@1", "MAP@R")} == {
            name: results[0][name] for name in ("R@1", "MAP@R")
        }


def test_packed_bits_may_be_searched_for_rows_of_numbers():
    """Nine numbers fill two bytes, whichever side is packed."""
    random = np.random.default_rng(1)
    points, labels = random.normal(size=(30, 9)), random.integers(5, size=30)
    options = {"distance": "hamming", "gallery_labels": labels, "clustering": False}
    expected = metrics.evaluate(points, labels, gallery=points, **options)
    assert metrics.evaluate(points, labels, gallery=np.packbits(points > 0, axis=1), **options) == expected


def test_metrics_of_embeddings_take_packed_bits_as_bits():
    random = np.random.default_rng(2)
    bits, labels = random.integers(2, size=(40, 16)), np.arange(40) % 4
    names = ["density_ratio", "rho_spectrum@1"]
    expected = metrics.evaluate(bits, labels, metrics=names)
    packed = np.packbits(bits.astype(np.uint8), axis=1)
    assert metrics.evaluate(packed, labels, metrics=names, distance="hamming") == expected


@pytest.mark.parametrize("scale", [1e-290, 1e-160, 1e-140, 1e140, 1e160, 1e300])
def test_directions_count_at_any_scale(scale):
    """Also where the squares of a row's numbers are too large or too small for float64."""
    points, labels = embeddings(60)
    points = points.astype(np.float64)
    expected = metrics.evaluate(points, labels, distance="cosine")
    assert metrics.evaluate(points * scale, labels, distance="cosine") == pytest.approx(expected)
    mixed = points * np.where(np.arange(60) % 2, scale, 1.0)[:, None]
    assert metrics.evaluate(mixed, labels, distance="cosine") == pytest.approx(expected)


@pytest.mark.filterwarnings("error")
def test_differences_whose_squares_almost_vanish_still_rank():
    """One number of all rows is the same; the others differ by so little that float32 could hold none of it."""
    points = np.column_stack([np.ones(6), np.array([0.0, 1.0, 3.0, 6.0, 10.0, 15.0]) * 1e-160])
    found = metrics.evaluate(points, [0, 0, 1, 1, 2, 2], [1], clustering=False)
    assert found["R@1"] == pytest.approx(4 / 6)


def test_lone_classes_are_left_out_or_counted():
    points, labels = np.array([[0.0], [0.1], [5.0]]), np.array([7, 7, 8])
    assert metrics.evaluate(points, labels, clustering=False)["R@1"] == 1.0
    run = metrics.assess(points, labels, clustering=False, without_positives="miss")
    assert (run.scores["R@1"], run.queries) == (pytest.approx(2 / 3), 3)


def test_ties_and_duplicates_rank_by_index():
    points, labels = np.zeros((4, 3)), np.array([0, 1, 0, 1])
    found = metrics.evaluate(points, labels, [1, 2, 3], clustering=False)
    assert [found["R@1"], found["R@2"], found["R@3"]] == [0.25, 0.75, 1.0]  # only 2 meets its class (0) first


def test_fewer_points_than_k():
    points, labels = np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 0])
    found = metrics.evaluate(points, labels, [50], metrics=["R@K", "P@4"])
    assert (found["R@50"], found["P@4"]) == (1.0, 0.5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("distance", ["euclidean", "cosine", "hamming"])
def test_rows_that_are_not_finite_are_named(bad, distance):
    points, labels = embeddings()
    points[17, 3] = bad
    with pytest.raises(UserError, match="^embedding 17 holds a value that is not finite"):
        metrics.evaluate(points, labels, distance=distance)
    gallery = {"gallery": points, "gallery_labels": labels}
    with pytest.raises(UserError, match="^gallery embedding 17 holds a value that is not finite"):
        metrics.evaluate(points[:17], labels[:17], distance=distance, **gallery)


def test_collapsed_embeddings_still_have_scores():
    found = metrics.evaluate(np.full((30, 4), 0.3, np.float32), np.arange(30) // 3)
    assert all(0.0 <= value <= 1.0 for value in found.values())
    assert found["NMI"] == 0.0


def test_all_kinds_of_numbers_are_taken():
    points, labels = embeddings()
    points = np.round(points * 8)
    expected = metrics.evaluate(points, labels)
    for kind in (np.float16, np.float64, np.int16, ">f4"):
        assert metrics.evaluate(points.astype(kind), labels) == pytest.approx(expected, rel=1e-9)
    for same in (labels.astype(np.float64), labels.tolist(), mx.nd.array(labels)):
        assert metrics.evaluate(mx.nd.array(points), same) == expected
    assert metrics.evaluate(np.asfortranarray(points), labels[:, None][:, 0]) == expected


def test_memory_and_blocks_change_nothing():
    points, labels = embeddings(400, 30)
    scores = [metrics.evaluate(points, labels, memory=memory) for memory in (70_000, 300_000, 2 * 10**9)]
    assert scores[0] == scores[1] == scores[2]


def in_other_processes(work, blocks):
    """As if every block were sent to another machine, and its values back."""
    sent = pickle.dumps(work)
    return [pickle.loads(pickle.dumps(pickle.loads(sent)(block))) for block in blocks]


@pytest.mark.parametrize("distance", ["euclidean", "cosine", "hamming"])
@pytest.mark.parametrize("blocks", [2, 7, 1000])
def test_blocks_of_queries_have_the_same_scores_to_the_bit(distance, blocks):
    """Also with few bytes, queries without positives (whole blocks of them), and a gallery."""
    points, labels = embeddings()
    labels[:30] = np.arange(30)
    chosen = {
        "metrics": ["R@K", "RP", "MAP@R", "mAP", "mAP_R@4"],
        "distance": distance,
        "intervals": "normal",
    }
    for gallery in ({}, {"gallery": points[40:], "gallery_labels": labels[40:]}):
        for more in ({}, {"without_positives": "miss"}, {"memory": 100_000}):
            whole = metrics.assess(points, labels, **chosen, **gallery, **more)
            found = metrics.assess(
                points, labels, **chosen, **gallery, **more, blocks=blocks, run=in_other_processes
            )
            assert found == whole


def test_sent_embeddings_are_of_the_same_kinds():
    """Numba compiles every loop anew for arrays that may be written to, or may not."""
    points = Embeddings(embeddings()[0], "cosine")
    buffers: list = []
    sent = pickle.dumps(points, protocol=5, buffer_callback=buffers.append)
    for back in (
        pickle.loads(pickle.dumps(points)),
        pickle.loads(sent, buffers=[bytes(each) for each in buffers]),
    ):
        for name in ("raw", "length"):
            assert getattr(back, name).flags.writeable == getattr(points, name).flags.writeable
            np.testing.assert_array_equal(getattr(back, name), getattr(points, name))


def test_embeddings_on_disk(tmp_path):
    points, labels = embeddings(500, 20)
    np.save(tmp_path / "points.npy", points)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    assert metrics.evaluate(mapped, labels, memory=200_000) == metrics.evaluate(points, labels)
    np.testing.assert_array_equal(mapped, points)


@pytest.mark.parametrize("kind", ["bootstrap", "normal"])
def test_intervals_hold_the_score_and_narrow_with_more_queries(kind):
    wide, narrow = (metrics.assess(*embeddings(n), intervals=kind) for n in (60, 600))
    for run in (wide, narrow):
        assert all(low <= run.scores[name] <= high for name, (low, high) in run.intervals.items())
        assert set(run.intervals) == set(run.scores) - {"NMI", "NMI_geometric", "AMI", "F1"}
    width = {run.queries: run.intervals["R@1"][1] - run.intervals["R@1"][0] for run in (wide, narrow)}
    assert width[600] < 0.6 * width[60]
    assert metrics.assess(*embeddings(60), intervals=kind).intervals == wide.intervals


@pytest.mark.parametrize("kind", ["bootstrap", "normal"])
def test_intervals_cover_as_often_as_they_say(kind):
    random, hits = np.random.default_rng(0), 0
    for trial in range(200):
        sample = {"R@1": (random.random(150) < 0.4).astype(float)}
        if kind == "normal":
            low, high = metrics.normal(sample, confidence=0.8)["R@1"]
        else:
            low, high = metrics.bootstrap(sample, trial, confidence=0.8, resamples=200)["R@1"]
        hits += low <= 0.4 <= high
    assert 0.7 < hits / 200 < 0.9


POINTS = np.zeros((2, 2))
MISTAKES = {
    "rows of numbers": (np.zeros(5), [0] * 5, {}),
    "rows of numbers, not <U1": ([["a"]], [0], {}),
    "labels must be 2 whole numbers": (POINTS, [0], {}),
    "labels must be 2 whole numbers.*float64": (POINTS, [0.5, 1.0], {}),
    "labels of float64 must be below 9007199254740992": (POINTS, [1e19, 2e19], {}),
    "labels of float64 must be below": (POINTS, [np.inf, 0.0], {}),
    "labels of float32 must be below 16777216": (POINTS, np.array([2**24] * 2, np.float32), {}),
    "rows of one length": ([[0.0, 1.0], [2.0]], [0, 0], {}),
    "Did you mean 'cosine'": (POINTS, [0, 0], {"distance": "cosin"}),
    "nothing to retrieve": (POINTS, [0, 1], {}),
    "R@0: K must be from 1": (POINTS, [0, 0], {"ks": [0]}),
    "K must be a whole number, not 1.5": (POINTS, [0, 0], {"ks": [1.5]}),
    "K must be a whole number, not nan": (POINTS, [0, 0], {"ks": [np.nan]}),
    "K must be a whole number, not inf": (POINTS, [0, 0], {"ks": [np.inf]}),
    "K must be a whole number, not None": (POINTS, [0, 0], {"ks": [None]}),
    "seed must be a whole number of at least 0, not -1": (POINTS, [0, 0], {"seed": -1}),
    "starts must be a whole number of at least 1, not 1.5": (POINTS, [0, 0], {"starts": 1.5}),
    "memory must be a whole number of at least 1, not '1 GB'": (POINTS, [0, 0], {"memory": "1 GB"}),
    "unknown metric 'R@one'": (POINTS, [0, 0], {"metrics": ["R@one"]}),
    "unknown metric 'NMI@3'": (POINTS, [0, 0], {"metrics": ["NMI@3"]}),
    "Did you mean 'MAP@R'": (POINTS, [0, 0], {"metrics": ["mAP_c"]}),
    "rho_spectrum@0: K must be other than 0": (POINTS, [0, 0], {"metrics": ["rho_spectrum@0"]}),
    "no metric is left": (POINTS, [0, 0], {"metrics": ["NMI"], "clustering": False}),
    "density needs two classes": (POINTS, [0, 0], {"metrics": ["density_ratio"]}),
    "a gallery needs both": (POINTS, [0, 0], {"gallery": POINTS}),
    "2 dimensions, the gallery has 3": (POINTS, [0, 0], {"gallery": np.zeros((1, 3)), "gallery_labels": [0]}),
    "9 dimensions, the gallery has 10": (
        np.zeros((2, 9)),
        [0, 0],
        {"distance": "hamming", "gallery": np.zeros((1, 10)), "gallery_labels": [0]},
    ),
    "embeddings are too large: their squares": (np.full((2, 2), 1e200), [0, 0], {}),
    "embeddings are too small: their squares": (np.full((2, 2), 1e-200), [0, 0], {}),
    "embeddings are too large: their lengths": (np.full((2, 9), 1e308), [0, 0], {"distance": "cosine"}),
    "treatment of queries without positives 'skip'": (POINTS, [0, 0], {"without_positives": "skip"}),
    "lone is called without_positives: write without_positives='miss'": (POINTS, [0, 0], {"lone": "miss"}),
    "confidence is a share": (POINTS, [0, 0], {"intervals": "normal", "confidence": 2}),
    "unknown kind of interval": (POINTS, [0, 0], {"intervals": "exact"}),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_named(message):
    with pytest.raises(UserError, match=message):
        metrics.evaluate(*MISTAKES[message][:2], **MISTAKES[message][2])


def test_importing_is_light():
    code = """
        import sys, dmlplayground.parts.metrics
        print([name for name in ("mxnet", "numba", "sklearn", "scipy") if name in sys.modules])
    """
    assert in_a_new_process(code) == "[]"


NARROW_BLOCKS = """
    from dmlplayground.parts.metrics.shared.engine import vectors
    vectors.WIDTH = 16  # of products, as on processors without AVX-512
"""


@pytest.mark.slow
def test_on_other_machines_the_scores_are_the_same(tmp_path):
    code = """
        import json, sys
        import numpy as np
        from dmlplayground.parts.metrics import evaluate
        data = np.load(sys.argv[1])
        both = data["points"], data["labels"]
        scores = [evaluate(*both, distance=name) for name in ("euclidean", "cosine", "hamming")]
        print(json.dumps(scores))
    """
    points, labels = embeddings()
    points = np.round(points, 1)
    np.savez(tmp_path / "data.npz", points=points, labels=labels)
    whole = textwrap.dedent(NARROW_BLOCKS) + textwrap.dedent(code)
    output = in_a_new_process(whole, tmp_path / "data.npz", NUMBA_CACHE_DIR=str(tmp_path))
    scores = json.loads(output)
    for found, distance in zip(scores, ("euclidean", "cosine", "hamming")):
        assert found == pytest.approx(metrics.evaluate(points, labels, distance=distance), abs=1e-12)


def test_folders_that_cannot_be_written_do_no_harm():
    """Where neither the package's folder nor the user's can be written, compiled code cannot be kept."""
    code = """
        import numba.core.caching as caching
        caching.CacheImpl._locator_classes = []
        import numpy as np
        from dmlplayground.parts.metrics.shared.engine import inner_loops
        x, y = np.zeros((2, 1), np.float32), np.ones((1, 1), np.float32)
        value, least = np.full((2, 2), [[2], [-1]], np.float32)
        print(inner_loops.gains(x, y, np.ones(1), value, least))
    """
    assert in_a_new_process(code) == "[2.]"


PEAK = """
    import sys
    import numpy as np
    from dmlplayground import metrics

    def peak():
        lines = open("/proc/self/status").read().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

    small = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    metrics.evaluate(small, np.arange(300) // 3)  # libraries are loaded
    rows, dim, size, memory, clustering = (int(argument) for argument in sys.argv[2:])
    points = np.memmap(sys.argv[1], np.float32, "r", shape=(rows, dim))
    labels = np.arange(rows) // size
    before = peak()
    scores = metrics.evaluate(points, labels, memory=memory, clustering=bool(clustering), starts=1)
    print(peak() - before - points.nbytes, scores["R@1"])
"""


def write_embeddings(path, rows, dim, size):
    points = np.memmap(path, np.float32, "w+", shape=(rows, dim))
    random = np.random.default_rng(0)
    for start in range(0, rows, 10_000 * size):
        part = points[start : start + 10_000 * size]
        centres = np.repeat(random.normal(size=(len(part) // size + 1, dim)), size, axis=0)[: len(part)]
        part[:] = centres + 0.7 * random.normal(size=part.shape)
    points.flush()


@pytest.mark.parametrize(
    ("rows", "dim", "size", "memory", "clustering"),
    [
        pytest.param(6_000, 64, 4, 40_000_000, 1, id="small", marks=pytest.mark.slow),
        pytest.param(30_000, 128, 5, 150_000_000, 1, id="middle", marks=pytest.mark.slow),
        pytest.param(9_000, 2_048, 10, 200_000_000, 1, id="wide", marks=pytest.mark.slow),
        pytest.param(100_000, 16, 5, 80_000_000, 0, id="long", marks=pytest.mark.slow),
    ],
)
def test_memory_is_bounded(tmp_path, rows, dim, size, memory, clustering):
    """All pairs at once would take 144 MB for the small case and up to 40 GB for the others."""
    write_embeddings(tmp_path / "points", rows, dim, size)
    extra, recall = in_a_new_process(PEAK, tmp_path / "points", rows, dim, size, memory, clustering).split()
    assert int(extra) < memory
    assert float(recall) > 5 * size / rows  # far from chance


def test_labels_may_be_words(tmp_path):
    points, labels = embeddings()
    words = np.array([f"class {label}" for label in labels])
    expected = metrics.evaluate(points, labels)
    for given in (words, words.tolist(), words.astype(object), words[:, None].ravel()):
        assert metrics.evaluate(points, given) == expected
    half = len(points) // 2
    parts = {"embeddings": points[:half], "gallery": points[half:], "metrics": ["R@1", "MAP@R"]}
    by_number = metrics.evaluate(**parts, labels=labels[:half], gallery_labels=labels[half:])
    by_word = metrics.evaluate(**parts, labels=words[:half], gallery_labels=words[half:].tolist())
    assert by_word == by_number
    np.save(tmp_path / "e.npy", points)
    np.save(tmp_path / "l.npy", words)
    assert dml.evaluate(tmp_path / "e.npy", tmp_path / "l.npy") == expected
    for wrong in (words[:-1], [*words[:-1], None], [*words[:-1], 3], words.reshape(2, -1)):
        with pytest.raises(UserError, match="whole numbers or words"):
            metrics.evaluate(points, np.asarray(wrong, object))
    with pytest.raises(UserError, match="whole numbers or words"):
        metrics.evaluate(**parts, labels=words[:half], gallery_labels=labels[half:])
