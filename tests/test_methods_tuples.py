"""What a loss makes of given pairs, of given triplets, of rows of unequal weight and of a fourth row that it draws."""

import numpy as np
import pytest
from mxnet import autograd, nd

from dmlplayground import methods
from dmlplayground.parts.miners.shared.tuples import all_pairs
from dmlplayground.trial.conformance.losses import Case


def reading(what: str) -> list[str]:
    return [key for key in methods.names() if methods.get(key).reads == what]


# --- given tuples ------------------------------------------------------------------------------------------


def drawn(rng, entries: np.ndarray, number: int) -> np.ndarray:
    """Some entries of a list, one of them three times."""
    chosen = rng.choice(len(entries), number)
    return entries[[*chosen, chosen[0], chosen[0]]]


@pytest.mark.parametrize("key", [key for key in reading("pairs") if hasattr(Case(key).reference, "on_pairs")])
@pytest.mark.parametrize("seed", range(2))
def test_given_pairs_count_as_in_the_reference(key, seed):
    case = Case(key, classes=5, width=4, dtype="float64")
    rng, same = np.random.default_rng(seed), case.labels[:, None] == case.labels
    a1, p = drawn(rng, np.argwhere(same & ~np.eye(len(same), dtype=bool)), 7).T
    a2, n = drawn(rng, np.argwhere(~same), 9).T
    expected = case.reference.on_pairs(case.x, case.labels, case.arrays(), a1, p, a2, n)
    assert case.loss.on_pairs(case.x, case.labels, a1, p, a2, n).asscalar() == pytest.approx(
        expected, rel=1e-9
    )


@pytest.mark.parametrize("key", ["triplet", "snr_triplet"])
@pytest.mark.parametrize("seed", range(2))
def test_given_triplets_count_as_in_the_reference(key, seed):
    case = Case(key, classes=5, width=4, dtype="float64")
    rows, same = range(len(case.labels)), case.labels[:, None] == case.labels
    every = [(a, p, n) for a in rows for p in rows for n in rows if a != p and same[a, p] and not same[a, n]]
    a, p, n = drawn(np.random.default_rng(seed), np.array(every), 12).T
    expected = case.reference.on_triplets(case.x, case.labels, case.arrays(), a, p, n)
    assert case.loss.on_triplets(case.x, case.labels, a, p, n).asscalar() == pytest.approx(expected, rel=1e-9)


# --- rows of unequal weight --------------------------------------------------------------------------------

ROWS = [(key, {}) for key in reading("rows") if key != "proxy_anchor"] + [("circle", {"form": "classes"})]
every_row_loss = pytest.mark.parametrize(("key", "options"), ROWS, ids=[key for key, _ in ROWS])


def weighted(case: Case, weights):
    """The loss's value with these weights, and its gradient by the embeddings."""
    x, labels = case.loss.read(nd.array(case.x, dtype=case.dtype), case.labels)
    weights = None if weights is None else nd.array(weights, dtype=case.dtype)
    own = {name: getattr(case.loss, name).data() for name in case.loss.loss.weights}
    x.attach_grad()
    with autograd.record():
        value = case.loss.loss.hybrid_forward(nd, x, labels, weights, **own)
    value.backward()
    return value.asscalar(), x.grad.asnumpy()


@every_row_loss
def test_a_rows_weight_multiplies_its_own_share_of_the_loss(key, options):
    case = Case(key, width=6, dtype="float64", options=options)
    rows = len(case.labels)
    nothing, of_nothing = weighted(case, np.zeros(rows))  # what the loss asks of its own weights
    alone = [weighted(case, np.eye(rows)[i]) for i in range(rows)]
    weights = np.random.default_rng(0).uniform(0, 1, rows)
    for given, factors in ((weights, weights), (None, np.ones(rows))):
        value, gradient = weighted(case, given)
        parts = [each - nothing for each, _ in alone]
        assert value - nothing == pytest.approx(np.dot(factors, parts), rel=1e-9, abs=1e-12)
        shares = sum(factor * each for factor, (_, each) in zip(factors, alone))
        np.testing.assert_allclose(gradient, shares, rtol=1e-7, atol=1e-12)
    assert not of_nothing.any()


@every_row_loss
def test_a_rows_share_of_the_loss_sees_the_others_from_that_row_alone(key, options):
    """Another row is drawn or pushed along itself and the one that has weight, never towards a third."""
    case = Case(key, width=6, dtype="float64", options=options)
    for i in range(len(case.labels)):
        _, gradient = weighted(case, np.eye(len(case.labels))[i])
        for j in range(len(case.labels)):
            if j != i:
                plane = np.stack([case.x[i], case.x[j]], axis=1)
                beyond = gradient[j] - plane @ np.linalg.lstsq(plane, gradient[j], rcond=None)[0]
                assert np.abs(beyond).max() <= 1e-9 * max(1, np.abs(gradient[j]).max())


def test_a_rows_weight_in_proxy_anchor_is_how_often_it_counts():
    case = Case("proxy_anchor", width=6, dtype="float64")
    times = np.arange(len(case.labels)) % 3 + 1
    value, gradient = weighted(case, times)
    case.x, case.labels = np.repeat(case.x, times, axis=0), np.repeat(case.labels, times)
    repeated, of_each = weighted(case, None)
    assert value == pytest.approx(repeated, rel=1e-9)
    summed = np.add.reduceat(of_each, np.cumsum(times) - times, axis=0)
    np.testing.assert_allclose(gradient, summed, rtol=1e-7, atol=1e-12)


@every_row_loss
def test_a_miner_gives_rows_their_weights(key, options):
    case = Case(key, width=6, dtype="float64", options=options)
    mining = {"name": "multi_similarity", "epsilon": 0.0}
    mined = methods.loss(key, num_classes=case.classes, embed_dim=case.width, mining=mining, **case.options)
    mined.cast("float64")
    for name, array in case.arrays().items():
        getattr(mined, name).set_data(nd.array(array, dtype="float64"))
    found = mined.miner.kept(nd, all_pairs(nd, *case.loss.read(case.x, case.labels), "float64"))
    a1, p, a2, n = found.indices()
    times = np.bincount(np.concatenate([a1, p, a2, n]).astype(int), minlength=len(case.labels))
    assert len(set(times)) > 1
    value, _ = weighted(case, times / times.max())
    assert mined(case.x, case.labels).asscalar() == pytest.approx(value, rel=1e-9)


# --- the fourth row of quadruplet --------------------------------------------------------------------------


def test_quadruplets_fourth_row_is_drawn_evenly_from_all_other_classes():
    labels = np.random.default_rng(1).permutation(np.repeat(np.arange(5), [8, 20, 12, 16, 4]))
    x = np.random.default_rng(2).normal(size=(len(labels), 3))
    a, p, n, q = Case("quadruplet", classes=5, options={"mining": "all"}).quadruplets(x, labels)
    assert len(a) == 8 * 7 + 20 * 19 + 12 * 11 + 16 * 15 + 4 * 3
    assert (labels[a] == labels[p]).all() and (labels[a] != labels[n]).all()
    # Of every row: how often it was to be expected, with what variance, and how often it came.
    open_to = (labels[a][:, None] != labels) & (labels[n][:, None] != labels)
    chances = open_to / open_to.sum(axis=1, keepdims=True)
    assert open_to[np.arange(len(q)), q].all()
    spread = np.sqrt((chances * (1 - chances)).sum(axis=0))
    gaps = (np.bincount(q, minlength=len(labels)) - chances.sum(axis=0)) / spread
    assert np.abs(gaps).max() < 4 and 0.7 < gaps.std() < 1.3


def test_quadruplet_without_a_third_class_has_no_fourth_row():
    case = Case("quadruplet", classes=2)
    *_, q = case.quadruplets(case.x, case.labels)
    assert len(q) and (q == -1).all()
