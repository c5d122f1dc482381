"""Pairs and triplets in a static graph against their lists: hinges in closed form, counts, and conversions."""

from collections import Counter

import numpy as np
import pytest
from test_mining import batch, every_triplet, negatives, positives, unit

from dmlplayground.parts import methods
from dmlplayground.parts.methods import Loss
from dmlplayground.parts.methods.shared import objective
from dmlplayground.parts.miners import create
from dmlplayground.parts.miners.shared.tuples import all_pairs, as_read

# isort: split
import mxnet as mx
from mxnet import autograd, nd

MARGIN = 0.25
TRIPLETS = [
    ("all", {}),
    ("hard", {}),
    ("semihard", {"each": "all", "margin": 0.4}),
    ("semihard", {"each": "all", "margin": 0.1}),
    ("angular", {}),
    ("batch_hard", {}),
    ("semihard", {}),
    ("distance_weighted", {}),
    ("multi_similarity", {"epsilon": -0.2}),
    ("intra_random", {}),
]
every_miner = pytest.mark.parametrize(
    ("miner", "options"), TRIPLETS, ids=[f"{m}{len(o)}" for m, o in TRIPLETS]
)


class Toy(Loss):
    """The sum of hinges, with how many are above zero and how many there are behind it."""

    reads = "triplets"
    measure = "distance"

    def hybrid_forward(self, F, embeddings, labels, triplets):
        D = triplets.every_pair.distances()
        if self.measure == "square":
            found = triplets.hinge(F.square(D), F.square(D), MARGIN, like_distance=True)
        elif self.measure == "other":  # does not rise with the distance
            found = triplets.hinge(F.sin(9 * D), F.cos(7 * D), MARGIN)
        else:
            found = triplets.hinge(D, D, MARGIN, like_distance=True)
        return F.concat(found.sum, found.active, found.count, dim=0)


def loss(miner, options, measure="distance", static=False):
    toy = Toy(10, 4)
    toy.measure = measure
    made = objective.Objective(toy, {"name": miner, **options})
    made.initialize()
    made.cast("float64")
    if static:
        made.hybridize(static_alloc=True, static_shape=True)
    return made


def listed(x, triplets, measure):
    D = np.sqrt(((x[:, None] - x) ** 2).sum(axis=2))
    near, far = {
        "distance": (D, D),
        "square": (D**2, D**2),
        "other": (np.sin(9 * D), np.cos(7 * D)),
    }[measure]
    terms = [near[a, p] - far[a, n] + MARGIN for a, p, n in triplets]
    above = [term for term in terms if term > 0]
    return [sum(above), len(above), len(terms)]


@every_miner
@pytest.mark.parametrize("measure", ["distance", "square", "other"])
@pytest.mark.parametrize("static", [False, True])
def test_hinges_in_closed_form_are_those_of_the_list(miner, options, measure, static):
    x, labels = batch(1)
    x = unit(x)
    made = loss(miner, options, measure, static)
    for _ in range(2):
        mx.random.seed(2)
        triplets = list(zip(*made.mine(x, labels)))
        rows = nd.array(x, dtype="float64")
        rows.attach_grad()
        mx.random.seed(2)
        with autograd.record():
            found = made(rows, nd.array(labels))
            total = found.slice_axis(axis=0, begin=0, end=1)
        total.backward()
        np.testing.assert_allclose(found.asnumpy(), listed(x, triplets, measure), rtol=1e-9, atol=1e-9)
    direction = np.random.default_rng(0).normal(size=x.shape)
    ends = [listed(x + step * direction, triplets, measure)[0] for step in (1e-7, -1e-7)]
    assert (rows.grad.asnumpy() * direction).sum() == pytest.approx(
        (ends[0] - ends[1]) / 2e-7, rel=1e-4, abs=1e-5
    )


OF_TRIPLETS = [
    key
    for key in methods.names()
    if methods.get(key).reads == "triplets" and not methods.create(key, 10, 4).in_batch
]


@pytest.mark.parametrize(
    ("miner", "options"), [case for case in TRIPLETS if case[0] in ("all", "hard", "semihard", "angular")]
)
@pytest.mark.parametrize("key", OF_TRIPLETS)
@pytest.mark.parametrize("length", ["any", "one"])
def test_every_loss_has_the_value_of_the_triplets_that_are_mined(key, miner, options, length):
    x, labels = batch(5)
    x = unit(x) if length == "one" else x * np.linspace(0.5, 3, len(x))[:, None]
    made = methods.loss(
        key,
        num_classes=10,
        embed_dim=x.shape[1],
        mining={"name": miner, **options},
        unit_rows=length == "one",
    )
    made.cast("float64")
    mx.random.seed(4)
    listed = made.mine(x, labels)
    mx.random.seed(4)
    assert made(x, labels).asscalar() == pytest.approx(
        made.on_triplets(x, labels, *listed).asscalar(), rel=1e-9
    )


class Soft(Loss):
    """A sum over triplets that is no hinge."""

    reads = "triplets"

    def hybrid_forward(self, F, embeddings, labels, triplets):
        D = triplets.every_pair.distances()
        gaps, weights = triplets.gaps(D, F.square(D))
        return F.reshape(F.sum(F.Activation(gaps, act_type="softrelu") * weights), shape=(1,))


@every_miner
def test_a_formula_of_ones_own_reads_the_gap_of_every_triplet(miner, options):
    x, labels = batch(4)
    x = unit(x)
    made = objective.Objective(Soft(10, 4), {"name": miner, **options})
    made.initialize()
    made.cast("float64")
    made.hybridize(static_alloc=True, static_shape=True)
    mx.random.seed(3)
    triplets = list(zip(*made.mine(x, labels)))
    D = np.sqrt(((x[:, None] - x) ** 2).sum(axis=2))
    rows = nd.array(x, dtype="float64")
    rows.attach_grad()
    mx.random.seed(3)
    with autograd.record():
        found = made(rows, nd.array(labels))
    found.backward()
    expected = sum(np.log1p(np.exp(D[a, p] - D[a, n] ** 2)) for a, p, n in triplets)
    assert found.asscalar() == pytest.approx(expected, rel=1e-9)
    assert np.isfinite(rows.grad.asnumpy()).all() and rows.grad.asnumpy().any()


def test_equal_rows_are_no_nan_and_push_nothing():
    labels = np.repeat(np.arange(3), 3)
    for miner, options in TRIPLETS:
        made, rows = loss(miner, options), nd.ones((9, 4), dtype="float64")
        rows.attach_grad()
        with autograd.record():
            found = made(rows, nd.array(labels))
            total = found.slice_axis(axis=0, begin=0, end=1)
        total.backward()
        assert np.isfinite(found.asnumpy()).all() and not rows.grad.asnumpy().any()


# --- conversions -------------------------------------------------------------------------------------------------


def found_of(miner, options, x, labels):
    """What a miner keeps as pairs, triplets and row weights, by the same draws each time."""
    made = create(miner, **options)
    made.width = x.shape[1]
    pairs = all_pairs(nd, nd.array(x, dtype="float64"), nd.array(labels, dtype="float64"), "float64")
    mx.random.seed(2)
    return pairs, made.kept(nd, pairs)


@every_miner
def test_triplets_become_pairs_with_their_repeats_and_rows_with_their_share(miner, options):
    x, labels = batch(2)
    x = unit(x)
    pairs, found = found_of(miner, options, x, labels)
    if found.indices and len(found.indices()) == 4:
        found = found.triplets()
    a, p, n = found.indices()
    converted = as_read(pairs, found, "pairs")
    for matrix, ends in ((converted.positive, (a, p)), (converted.negative, (a, n))):
        counts = np.zeros((len(x), len(x)))
        np.add.at(counts, ends, 1)
        np.testing.assert_array_equal(matrix.asnumpy(), counts)
    times = Counter([*a, *p, *n])
    share = [times[i] / max(times.values()) for i in range(len(x))]
    np.testing.assert_allclose(as_read(pairs, found, "rows").asnumpy(), share)


def test_pairs_become_every_triplet_that_shares_an_anchor():
    x, labels = batch(3)
    pairs, found = found_of("pair_margin", {"pos_margin": 0.9, "neg_margin": 1.2}, x, labels)
    a1, p, a2, n = found.indices()
    expected = {(a, b, c) for a, b in zip(a1, p) for d, c in zip(a2, n) if a == d}
    assert set(zip(*as_read(pairs, found, "triplets").indices())) == expected
    assert 0 < len(expected) < len(list(every_triplet(labels)))


def test_rows_weigh_as_often_as_they_occur_in_pairs():
    x, labels = batch(3)
    pairs, found = found_of("pair_margin", {"pos_margin": 0.9, "neg_margin": 1.2}, x, labels)
    times = Counter(np.concatenate(found.indices()))
    share = [times[i] / max(times.values()) for i in range(len(x))]
    np.testing.assert_allclose(as_read(pairs, found, "rows").asnumpy(), share)
    assert min(share) < 1


def test_where_nothing_is_mined_every_row_weighs_one():
    x, labels = batch()
    for name, options in (("pair_margin", {"pos_margin": 9.0, "neg_margin": 0.0}), ("hard", {})):
        nothing = np.arange(len(x)) if name == "hard" else labels
        pairs, found = found_of(name, options, x, nothing)
        assert as_read(pairs, found, "rows").asnumpy().tolist() == [1.0] * len(x)


def test_given_tuples_need_no_miner():
    """``on_triplets`` of a loss is that of its list."""
    x, labels = batch(4)
    triplets = [
        (a, p, n) for a in (0, 3, 3) for p in positives(labels, a)[:2] for n in negatives(labels, a)[:2]
    ]
    assert triplets
    made = loss("all", {})
    found = made.on_triplets(x, labels, *zip(*triplets))
    np.testing.assert_allclose(found.asnumpy(), listed(x, triplets, "distance"), rtol=1e-9)


@pytest.mark.parametrize(
    ("miner", "options"),
    [("all", {}), ("hard", {}), ("angular", {}), ("semihard", {"each": "all", "margin": 0.4})],
)
def test_one_negative_is_drawn_evenly_for_every_pair_that_has_any(miner, options):
    x, labels = batch(3)
    _, found = found_of(miner, options, unit(x), labels)
    found = found.triplets() if len(found.indices()) == 4 else found
    each = Counter(zip(*found.indices()))
    of_pair = Counter((a, p) for a, p, _ in each)
    draws = 300
    times = Counter(triplet for _ in range(draws) for triplet in zip(*found.drawn().indices()))
    assert set(times) == set(each)
    assert sum(times.values()) == draws * len(of_pair)
    for (a, p, n), count in times.items():
        even = draws / of_pair[a, p]
        assert abs(count - even) < 6 * even**0.5, (a, p, n)
