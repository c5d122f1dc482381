"""Every miner against loops written from its definition: the deterministic ones by what they keep, the others by the
probabilities they draw with.
"""

import itertools

import numpy as np
import pytest

from dmlplayground import mining
from dmlplayground.base.errors import UserError
from dmlplayground.parts.graph import random_draws
from dmlplayground.trial.conformance.losses import unit

# isort: split
import mxnet as mx
from mxnet import nd

ROWS, WIDTH = 14, 4
DETERMINISTIC = ["all", "angular", "batch_hard", "easy_positive", "hard", "multi_similarity", "pair_margin"]


def batch(seed=0):
    """Three classes of four, and two images alone in their classes; rows are not of unit length."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.array([0] * 4 + [1] * 4 + [2] * 4 + [7, 9]))
    return rng.normal(size=(ROWS, WIDTH)), labels


def geometry(x):
    u = unit(x)
    return np.sqrt(((u[:, None] - u) ** 2).sum(axis=2)), u @ u.T, u


def positives(labels, a):
    return [j for j in range(len(labels)) if j != a and labels[j] == labels[a]]


def negatives(labels, a):
    return [j for j in range(len(labels)) if labels[j] != labels[a]]


def every_triplet(labels):
    for a in range(len(labels)):
        yield from itertools.product([a], positives(labels, a), negatives(labels, a))


def mined(name, x, labels, **options) -> set:
    found = mining.create(name, **options).mine(x, labels)
    if len(found) == 3:
        return set(zip(*map(np.ndarray.tolist, found)))
    a1, p, a2, n = (each.tolist() for each in found)
    return {("+", *pair) for pair in zip(a1, p)} | {("-", *pair) for pair in zip(a2, n)}


# --- what is kept ------------------------------------------------------------------------------------------------


def expected(name, x, labels) -> set:
    D, S, u = geometry(x)
    rows = range(len(labels))
    if name == "all":
        kept = {("+", a, p) for a in rows for p in positives(labels, a)}
        return kept | {("-", a, n) for a in rows for n in negatives(labels, a)}
    if name == "pair_margin":
        kept = {("+", a, p) for a in rows for p in positives(labels, a) if D[a, p] > 0.2}
        return kept | {("-", a, n) for a in rows for n in negatives(labels, a) if D[a, n] < 0.8}
    if name == "multi_similarity":
        return multi_similarity(S, labels, self_pairs=False)
    if name == "hard":
        return {(a, p, n) for a, p, n in every_triplet(labels) if D[a, n] <= D[a, p]}
    if name == "angular":
        return {
            (a, p, n)
            for a, p, n in every_triplet(labels)
            if np.degrees(np.arctan(D[a, p] / (2 * np.linalg.norm(u[n] - (u[a] + u[p]) / 2)))) > 20
        }
    found = set()
    for a in rows:
        near, far = positives(labels, a), negatives(labels, a)
        if not near:
            continue
        if name == "batch_hard":
            found.add((a, max(near, key=lambda j: D[a, j]), min(far, key=lambda j: D[a, j])))
        else:
            p = min(near, key=lambda j: D[a, j])
            farther = [n for n in far if D[a, n] > D[a, p]]
            if farther:
                found.add((a, p, min(farther, key=lambda j: D[a, j])))
    return found


def multi_similarity(S, labels, self_pairs, epsilon=0.1) -> set:
    kept = set()
    for a in range(len(labels)):
        near = positives(labels, a) + [a] * self_pairs
        far = negatives(labels, a)
        kept |= {("+", a, p) for p in near if far and S[a, p] - epsilon < max(S[a, n] for n in far)}
        kept |= {("-", a, n) for n in far if near and S[a, n] + epsilon > min(S[a, p] for p in near)}
    return kept


@pytest.mark.parametrize("name", DETERMINISTIC)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_kept_is_what_the_definition_says(name, seed):
    x, labels = batch(seed)
    assert mined(name, x, labels) == expected(name, x, labels)


def test_the_librarys_own_rows_count_as_positives():
    x, labels = batch()
    kept = mined("multi_similarity", x, labels, self_pairs=True, epsilon=0.3)
    assert kept == multi_similarity(geometry(x)[1], labels, self_pairs=True, epsilon=0.3)
    assert any(sign == "+" and a == p for sign, a, p in kept)


def test_every_semi_hard_triplet():
    x, labels = batch()
    D = geometry(x)[0]
    band = {(a, p, n) for a, p, n in every_triplet(labels) if 0 < D[a, n] - D[a, p] <= 0.3}
    assert mined("semihard", x, labels, each="all", margin=0.3) == band
    assert band


# --- what is drawn -----------------------------------------------------------------------------------------------


def weights_of(monkeypatch, name, x, labels, positive=None, **options) -> list[np.ndarray]:
    """The probabilities by which each of a miner's columns is drawn, in their order; the first draw is ``positive``."""
    laws = []

    def column(F, weights, numbers):
        array = weights.asnumpy().astype(float)
        laws.append(array / np.maximum(array.sum(axis=1, keepdims=True), 1e-300))
        chosen = positive if positive is not None and len(laws) == 1 else np.zeros(len(array))
        return nd.array(np.asarray(chosen, dtype="float32").reshape(-1, 1))

    monkeypatch.setattr(random_draws, "column", column)
    mining.create(name, **options).mine(x, labels)
    return laws


def evenly(rows, chosen) -> np.ndarray:
    """Row a: the same probability for each of ``chosen(a)``."""
    law = np.zeros((rows, rows))
    for a in range(rows):
        for j in chosen(a):
            law[a, j] = 1 / len(chosen(a))
    return law


def anchors(labels) -> np.ndarray:
    """Rows that a triplet can start from."""
    return np.array([bool(positives(labels, a)) for a in range(len(labels))])


def test_semihard_draws_evenly_from_the_band_or_else_from_all(monkeypatch):
    x, labels = batch()
    D = geometry(x)[0]
    p = [(positives(labels, a) or [a])[0] for a in range(ROWS)]
    laws = weights_of(monkeypatch, "semihard", x, labels, positive=p, margin=0.2)

    def band(a):
        inside = [n for n in negatives(labels, a) if D[a, p[a]] < D[a, n] < D[a, p[a]] + 0.2]
        return inside or negatives(labels, a)

    kept = anchors(labels)
    np.testing.assert_allclose(laws[0], evenly(ROWS, lambda a: positives(labels, a)), atol=1e-6)
    np.testing.assert_allclose(laws[1][kept], evenly(ROWS, band)[kept], atol=1e-6)
    assert any(len(band(a)) < len(negatives(labels, a)) for a in np.flatnonzero(kept))


def test_softhard_draws_evenly_from_the_hard_ones_or_else_from_all(monkeypatch):
    x, labels = batch()
    D = geometry(x)[0]

    def far(a):
        nearest = min(D[a, n] for n in negatives(labels, a))
        return [p for p in positives(labels, a) if D[a, p] > nearest] or positives(labels, a)

    def near(a):
        farthest = max((D[a, p] for p in positives(labels, a)), default=0)
        return [n for n in negatives(labels, a) if D[a, n] < farthest] or negatives(labels, a)

    laws = weights_of(monkeypatch, "softhard", x, labels)
    kept = anchors(labels)
    np.testing.assert_allclose(laws[0][kept], evenly(ROWS, far)[kept], atol=1e-6)
    np.testing.assert_allclose(laws[1][kept], evenly(ROWS, near)[kept], atol=1e-6)


def distance_law(D, labels, width, cutoff=0.5) -> np.ndarray:
    law = np.zeros_like(D)
    for a in range(len(labels)):
        for n in negatives(labels, a):
            d = max(D[a, n], cutoff)
            law[a, n] = np.exp((2 - width) * np.log(d) - (width - 3) / 2 * np.log(1 - d * d / 4))
    return law / law.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("name", "options"),
    [("distance_weighted", {"each": "anchor", "nonzero_cutoff": None}), ("rho_distance", {})],
)
def test_distance_draws_by_the_law_without_an_upper_cutoff(monkeypatch, name, options):
    x, labels = batch()
    x = unit(x)
    laws = weights_of(monkeypatch, name, x, labels, **options)
    np.testing.assert_allclose(laws[0], evenly(ROWS, lambda a: positives(labels, a)), atol=1e-6)
    np.testing.assert_allclose(laws[1], distance_law(geometry(x)[0], labels, WIDTH), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(
    ("form", "first", "last"),
    [("uniform", 0, 9), ("hards", 0, 0.5), ("veryhards", 0, 0.3), ("semihards", 0.3, 0.7)],
)
def test_parametric_draws_by_the_bin_of_the_distance(monkeypatch, form, first, last):
    rng = np.random.default_rng(3)
    x, labels = unit(rng.normal(size=(ROWS, WIDTH)) + 3 * np.eye(WIDTH)[0]), batch()[1]
    D = geometry(x)[0]
    law = np.zeros_like(D)
    for a in range(ROWS):
        for n in negatives(labels, a):
            if 0.1 <= D[a, n] <= 1.1:
                edge = 0.1 + 0.2 * int((D[a, n] - 0.1) / 0.2)
                law[a, n] = 1.0 if first - 1e-9 <= edge <= last + 1e-9 else 1e-15
        if not law[a].any():
            law[a, negatives(labels, a)] = 1
    laws = weights_of(monkeypatch, "parametric", x, labels, form=form, low=0.1, high=1.1, support=6)
    np.testing.assert_allclose(laws[1], law / law.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-9)


def test_intra_random_draws_a_class_and_then_three_of_its_rows(monkeypatch):
    x, labels = batch()
    size = np.array([(labels == c).sum() for c in labels])
    laws = weights_of(monkeypatch, "intra_random", x, labels, positive=np.arange(ROWS))
    np.testing.assert_allclose(laws[0], np.tile(1 / size / len(set(labels)), (ROWS, 1)), atol=1e-6)
    for law in laws[1:]:
        np.testing.assert_allclose(law, evenly(ROWS, lambda a: [*positives(labels, a), a]), atol=1e-6)
    assert len(laws) == 3


def test_a_column_is_the_inverse_of_the_cumulative_distribution():
    weights = np.array([[0.0, 1, 3, 0, 4], [2, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]])
    grid = (np.arange(80) + 0.5) / 80
    found = np.stack(
        [
            random_draws.column(nd, nd.array(weights), nd.array(np.full((4, 1), u)))
            .asnumpy()[:, 0]
            .astype(int)
            for u in grid
        ]
    )
    share = np.stack([(found == column).mean(axis=0) for column in range(5)], axis=1)
    np.testing.assert_allclose(share[:3], weights[:3] / weights[:3].sum(axis=1, keepdims=True))
    assert (found[:, 3] == 5).all()  # beyond the last: nothing to draw
    edges = random_draws.column(nd, nd.array(weights), nd.zeros((4, 1))).asnumpy()[:, 0]
    np.testing.assert_array_equal(edges, [1, 0, 4, 5])


def test_rho_exchanges_as_many_anchors_as_it_should():
    x, labels = batch()
    mx.random.seed(5)
    lone = ~anchors(labels)
    for p in (0.0, 1.0):
        a, positive, negative = mining.create("rho_distance", p=p).mine(unit(x), labels)
        assert set(a) == set(np.flatnonzero(~lone))
        assert ((a == positive) == (p == 1)).all()
        assert ((labels[negative] == labels[a]) == (p == 1)).all()
        assert (negative != a).all()
    swapped = [
        np.mean(np.equal(*mining.create("rho_distance", p=0.3).mine(unit(x), labels)[:2])) for _ in range(200)
    ]
    assert np.mean(swapped) == pytest.approx(0.3, abs=5 * np.sqrt(0.21 / 2400))


def test_random_draws_as_many_triplets_as_rows_all_different_and_each_as_often():
    x, labels = batch()
    everything = sorted(every_triplet(labels))
    counts = dict.fromkeys(everything, 0)
    mx.random.seed(7)
    miner, repeats = mining.create("random"), 100
    for _ in range(repeats):
        drawn = list(zip(*map(np.ndarray.tolist, miner.mine(x, labels))))
        assert len(drawn) == len(set(drawn)) == ROWS
        for triplet in drawn:
            counts[triplet] += 1
    expected = repeats * ROWS / len(everything)
    assert max(abs(count - expected) for count in counts.values()) < 6 * np.sqrt(expected)


def test_random_takes_all_where_there_are_fewer():
    labels = np.array([0, 0, 1])
    assert mined("random", batch()[0][:3], labels) == {(0, 1, 2), (1, 0, 2)}
    few = np.array([0, 0, 0, 1, 1])  # 18 triplets, which 20 draws list one by one
    assert len(mined("random", batch()[0][:5], few)) == 5


@pytest.mark.parametrize("options", [{}, {"each": "anchor", "nonzero_cutoff": None}])
def test_random_distance_keeps_the_sizes_of_classes_but_not_their_members(options):
    x, labels = batch()
    mx.random.seed(3)
    a, p, _ = mining.create("random_distance", **options).mine(unit(x), labels)
    assert len(a) == (36 if not options else 12)
    assert (a != p).all()
    assert not (labels[a] == labels[p]).all()


# --- any miner ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", mining.names())
@pytest.mark.parametrize("place", ["lone", "one class", "one row", "equal", "opposite"])
def test_batches_with_little_to_mine(name, place):
    x, labels = batch()
    if place == "lone":
        labels = np.arange(ROWS)
    if place == "one class":
        labels = np.zeros(ROWS, int)
    if place == "one row":
        x, labels = x[:1], labels[:1]
    if place == "equal":
        x = np.tile(x[0], (ROWS, 1))
    if place == "opposite":
        x[1::2] = -x[::2]
    miner = mining.create(name)
    try:
        miner.check(*x.shape)
    except UserError:
        return  # it says that it cannot read a batch of this shape
    found = miner.mine(x, labels)
    assert all((each >= 0).all() and (each < len(labels)).all() for each in found)
    if name in ("intra_random", "random_distance", "rho_distance"):
        return
    if len(found) == 3:
        a, p, n = found
        assert (labels[a] == labels[p]).all() and (a != p).all() and (labels[a] != labels[n]).all()
    else:
        a1, p, a2, n = found
        assert (labels[a1] == labels[p]).all() and (a1 != p).all() and (labels[a2] != labels[n]).all()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("semihard", {"margin": 0.0}),
        ("rho_distance", {"p": 1.5}),
        ("angular", {"angle": 90.0}),
        ("parametric", {"low": 2.0}),
        ("parametric", {"support": 1}),
        ("distance_weighted", {"cutoff": 1.5}),
        ("distance_weighted", {"nonzero_cutoff": 2.0}),
    ],
)
def test_impossible_values_are_refused_by_name(name, options):
    with pytest.raises(UserError, match=name):
        mining.create(name, **options)
