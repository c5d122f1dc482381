"""Distance-weighted sampling and the betas of the margin loss."""

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd, nd
from reference import margin as reference

from dmlplayground import methods
from dmlplayground.trial.conformance.losses import Case, block_labels, unit


def sphere(rows, width, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    return unit(spread * rng.normal(size=(rows, width)) + rng.normal(size=width)).astype("float32")


def margin_loss(width, num_classes=5, **options):
    return methods.loss("margin", num_classes=num_classes, embed_dim=width, **options)


def frequencies(x, labels, copies=12, repeats=10) -> tuple[np.ndarray, np.ndarray]:
    """How often each point was each anchor's negative, and how many draws the anchor had.

    Every point stands in the batch many times over: more draws a call, and the law among points stays what it
    is.
    """
    points = np.tile(np.arange(len(x)), copies)
    embeddings, classes = nd.array(x[points]), nd.array(labels[points], dtype="int32")
    loss, counts = margin_loss(x.shape[1]), np.zeros((len(x), len(x)))
    mx.random.seed(11)
    for _ in range(repeats):
        anchors, _, negatives = loss.mine(embeddings, classes)
        np.add.at(counts, (points[anchors], points[negatives]), 1)
    return counts, counts.sum(axis=1)


@pytest.mark.parametrize("width", [2, 3, 16, 128])
def test_draws_follow_the_law(width):
    """Every cell's count lies within five standard deviations of its binomial, and chi-square is what chance
    gives.
    """
    x, labels = sphere(20, width, spread=3), block_labels(5, 4)
    law = reference.negative_probabilities(x, labels)
    counts, draws = frequencies(x, labels)
    assert (draws == 12 * (12 * 4 - 1) * 10).all()
    expected = law * draws[:, None]
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected * (1 - law)) + 1).all()
    cells = expected > 5
    chi_square = ((counts - expected)[cells] ** 2 / expected[cells]).sum()
    freedom = cells.sum() - len(x)
    assert chi_square < freedom + 5 * np.sqrt(2 * freedom)


def test_anchors_without_an_admissible_negative_draw_evenly_from_all_negatives():
    x = np.array([[1, 0], [1, 0], [-1, 0], [-1, 0], [0, -1], [0, 1]], dtype="float32")
    counts, draws = frequencies(x, np.array([0, 0, 1, 1, 2, 2]))
    np.testing.assert_array_equal(counts[0, :2], 0)
    # Rows 4 and 5 are sqrt(2) from row 0, beyond the cutoff as rows 2 and 3 are.
    np.testing.assert_allclose(counts[0, 2:] / draws[0], 0.25, atol=0.03)


@pytest.mark.parametrize("place", ["spread", "coincident", "antipodal", "scale 100", "all equal"])
def test_a_negative_is_never_of_the_anchors_class(place):
    x, labels = sphere(30, 8, spread=2), block_labels(6, 5)
    if place == "coincident":
        x[1::2] = x[::2]
    if place == "antipodal":
        x[1::2] = -x[::2]
    if place == "scale 100":
        x *= 100
    if place == "all equal":
        x[:] = x[0]
    loss = margin_loss(8, num_classes=6)
    for _ in range(20):
        anchors, positives, negatives = loss.mine(nd.array(x), nd.array(labels, dtype="int32"))
        assert len(anchors) == 30 * 4
        assert (labels[anchors] == labels[positives]).all()
        assert (anchors != positives).all()
        assert (labels[anchors] != labels[negatives]).all()


def test_the_rows_of_a_batch_need_not_be_in_blocks():
    labels = np.array([0, 1, 0, 2, 1, 0, 2])
    anchors, positives, negatives = margin_loss(4).mine(nd.array(sphere(7, 4)), nd.array(labels))
    pairs = {(a, p) for a in range(7) for p in range(7) if a != p and labels[a] == labels[p]}
    assert sorted(zip(anchors, positives)) == sorted(pairs)
    assert (labels[anchors] != labels[negatives]).all()


def test_draws_differ_from_call_to_call_and_follow_the_seed():
    loss, x, labels = margin_loss(4), nd.array(sphere(20, 4)), nd.array(block_labels(5, 4))
    loss.hybridize(static_alloc=True, static_shape=True)
    mx.random.seed(1)
    first, second = loss(x, labels).asscalar(), loss(x, labels).asscalar()
    mx.random.seed(1)
    assert loss(x, labels).asscalar() == first
    assert second != first


def test_given_triplets():
    # beta 1: near hinge [0.9 - 1 + 0.2] = 0.1, far hinge [1 - 1.1 + 0.2] = 0.1; beta 2: both zero.
    x = nd.array([[0.0], [0.9], [-1.1], [10.0], [11.0], [13.0]])
    loss = margin_loss(1, num_classes=2, nu=0.5)
    loss.beta.set_data(nd.array([1.0, 2.0]))
    value = loss.on_triplets(x, nd.array([0, 0, 1, 1, 1, 0]), [0, 3], [1, 4], [2, 5])
    assert value.shape == (1,)
    assert value.asscalar() == pytest.approx((0.1 + 0.1 + 0.5 * (1 + 2)) / 2)


def test_gradient_of_given_triplets_reaches_embeddings_and_beta():
    x, labels, triplets = sphere(12, 3), block_labels(4, 3), ([0, 3, 7], [1, 5, 8], [4, 0, 11])
    loss = margin_loss(3, num_classes=4)
    loss.cast("float64")
    embeddings = nd.array(x, dtype="float64")
    embeddings.attach_grad()
    with autograd.record():
        value = loss.on_triplets(embeddings, nd.array(labels), *triplets)
    value.backward()
    beta, direction = np.full(4, 1.2), np.random.default_rng(0).normal(size=x.shape)

    def slope(move):
        ends = [reference.on_triplets(x + move * s, labels, *triplets, beta) for s in (1e-6, -1e-6)]
        return (ends[0] - ends[1]) / 2e-6

    assert (embeddings.grad.asnumpy() * direction).sum() == pytest.approx(slope(direction), rel=1e-5)
    assert loss.beta.grad().asnumpy().any()


@pytest.mark.parametrize("key", ["on_triplets", "call"])
def test_beta_by_position_is_beta_of_the_row_as_the_released_code_has_it(key):
    """Rows are taken for classes, those beyond the number of classes for the last."""
    case = Case("margin", classes=5, options={"beta_by": "position"})
    beta = np.array([0.7, 0.9, 1.1, 1.3, 1.5])
    case.loss.beta.set_data(nd.array(beta))
    triplets = case.constants()["triplets"]
    rows = np.minimum(np.arange(len(case.x)), 4)
    expected = reference.on_triplets(case.x.astype("float64"), rows, *triplets, beta)
    given = case.loss.on_triplets(nd.array(case.x), nd.array(case.labels), *triplets).asscalar()
    assert (given if key == "on_triplets" else case.value()) == pytest.approx(expected, rel=1e-5)


def test_one_beta_for_all_is_equal_betas_for_each():
    each, one = Case("margin", options={"nu": 0.1}), Case("margin", options={"nu": 0.1, "per_class": False})
    for case in (each, one):
        case.loss.beta.set_data(nd.ones(case.loss.beta.shape) * 0.9)
    value, gradients = each.value_and_gradients()
    again, shared = one.value_and_gradients()
    assert again == pytest.approx(value)
    assert shared["beta"][0] == pytest.approx(gradients["beta"].sum(), abs=1e-6)


def test_a_constant_beta_stays():
    case = Case("margin", options={"learn_beta": False, "beta": 0.8})
    assert list(case.value_and_gradients()[1]) == ["x"]
    np.testing.assert_allclose(case.arrays()["beta"], 0.8)


def test_the_record_trains_beta_by_its_own_optimizer():
    groups = methods.get("margin").defaults["groups"]
    assert groups == {"loss": {"name": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.0}}
