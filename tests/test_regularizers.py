"""Regularizers against loops written from their formulas: values, slopes, and batches with nothing to compare."""

import numpy as np
import pytest
from mxnet import autograd, nd
from own_tests import without_own_test

from dmlplayground import regularizers
from dmlplayground.trial.conformance.losses import unit


def zero_mean(x, labels):
    return np.mean([abs(sum(row)) for row in x])


def embedding_norm(x, labels, power=2.0):
    return np.mean([sum(row**2) ** (power / 2) for row in x])


def intra_pair_variance(x, labels, pos_slack=0.01, neg_slack=0.01):
    numbers = range(len(x))
    near = [x[i] @ x[j] for i in numbers for j in numbers if i != j and labels[i] == labels[j]]
    far = [x[i] @ x[j] for i in numbers for j in numbers if labels[i] != labels[j]]
    below = [max((1 - pos_slack) * np.mean(near) - s, 0) ** 2 for s in near]
    above = [max(s - (1 + neg_slack) * np.mean(far), 0) ** 2 for s in far]
    return sum(np.mean(terms) for terms in (below, above) if terms)


REFERENCES = {
    "zero_mean": zero_mean,
    "embedding_norm": embedding_norm,
    "intra_pair_variance": intra_pair_variance,
}
SETTINGS = [
    ("zero_mean", {}),
    ("embedding_norm", {}),
    ("embedding_norm", {"power": 1.0}),
    ("embedding_norm", {"power": 3.0}),
    ("intra_pair_variance", {}),
    ("intra_pair_variance", {"pos_slack": 0.3, "neg_slack": 0.0}),
    ("intra_pair_variance", {"pos_slack": 0.0, "neg_slack": 0.5}),
]
ROWS = unit(np.random.default_rng(0).normal(size=(9, 5)))
BATCHES = {
    "usual": (ROWS, [0, 0, 1, 1, 1, 2, 2, 0, 2]),
    "lone rows": (ROWS, [0, 0, 1, 2, 2, 2, 3, 4, 2]),
    "equal rows": (np.tile(ROWS[:1], (9, 1)), [0, 0, 1, 1, 1, 2, 2, 0, 2]),
    "no positives": (ROWS, list(range(9))),
    "one class": (ROWS, [0] * 9),
    "one row": (ROWS[:1], [0]),
    "zeros": (0 * ROWS, [0, 0, 1, 1, 1, 2, 2, 0, 2]),
}


def value_and_gradient(key, options, x, labels):
    term = regularizers.of({"name": key, **options})
    x = nd.array(x, dtype="float64")
    x.attach_grad()
    with autograd.record():
        value = term.hybrid_forward(nd, x, nd.array(labels, dtype="float64"))
    value.backward()
    assert value.shape == (1,)
    return value.asscalar(), x.grad.asnumpy()


def test_every_regularizer_is_tested_against_loops():
    """Here, or in a file of its own, as ``dmlplayground new`` writes it."""
    assert set(REFERENCES) == without_own_test("regularizers")


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("key", regularizers.names())
def test_no_batch_gives_numbers_that_are_not_finite(key, batch):
    value, gradient = value_and_gradient(key, {}, *BATCHES[batch])
    assert np.isfinite(value) and np.isfinite(gradient).all()


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize(("key", "options"), SETTINGS)
def test_values_are_those_of_the_loops(key, options, batch):
    x, labels = BATCHES[batch]
    value, gradient = value_and_gradient(key, options, x, labels)
    assert value == pytest.approx(REFERENCES[key](x, labels, **options), rel=1e-6, abs=1e-9)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("batch", ["usual", "lone rows", "no positives", "one class"])
@pytest.mark.parametrize(("key", "options"), SETTINGS)
def test_gradients_are_the_slopes_of_the_loops(key, options, batch):
    x, labels = BATCHES[batch]
    _, gradient = value_and_gradient(key, options, x, labels)
    random = np.random.default_rng(1)
    for _ in range(4):
        direction = random.normal(size=x.shape)
        ends = [REFERENCES[key](x + step * direction, labels, **options) for step in (1e-6, -1e-6)]
        assert (gradient * direction).sum() == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-8)
