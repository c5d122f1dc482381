"""Retrieval metrics as functions of ranks: worked examples, plain loops, and properties each must have."""

from __future__ import annotations

import doctest
import importlib
import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import metrics as reference

from dmlplayground import metrics
from dmlplayground.errors import UserError
from dmlplayground.metrics import Ranks, retrieval

METRICS = {
    "recall_at_k": lambda ranks: metrics.recall_at_k(ranks, 5),
    "precision_at_k": lambda ranks: metrics.precision_at_k(ranks, 5),
    "r_precision": metrics.r_precision,
    "map_at_r": metrics.map_at_r,
    "map_at_k": lambda ranks: metrics.map_at_k(ranks, 5),
}
LOOPS = {
    "recall_at_k": lambda relevant: reference.recall_at_k(relevant, 5),
    "precision_at_k": lambda relevant: reference.precision_at_k(relevant, 5),
    "r_precision": reference.r_precision,
    "map_at_r": reference.map_at_r,
    "map_at_k": lambda relevant: reference.map_at_k(relevant, 5),
}
ONE_IF_ALL_POSITIVES_COME_FIRST = ["recall_at_k", "r_precision", "map_at_r", "map_at_k"]
SEES_ORDER_WITHIN_ITS_DEPTH = ["map_at_r", "map_at_k"]
BLIND_TO_ORDER_WITHIN_ITS_DEPTH = ["recall_at_k", "precision_at_k", "r_precision"]


def test_every_metric_is_in_the_lists():
    public = {
        name
        for name, value in vars(retrieval).items()
        if inspect.isfunction(value) and value.__module__ == retrieval.__name__ and not name.startswith("_")
    }
    assert public == set(METRICS) == set(LOOPS)
    assert public == set(SEES_ORDER_WITHIN_ITS_DEPTH) | set(BLIND_TO_ORDER_WITHIN_ITS_DEPTH)
    assert public - set(ONE_IF_ALL_POSITIVES_COME_FIRST) == {"precision_at_k"}


@pytest.mark.parametrize("module", ["retrieval", "clustering", "evaluation"])
def test_worked_examples(module):
    result = doctest.testmod(importlib.import_module(f"dmlplayground.metrics.{module}"))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", METRICS)
@given(relevant=st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=12), min_size=1, max_size=4))
def test_agrees_with_plain_loops(name, relevant):
    ranks = Ranks.of([np.flatnonzero(row) + 1 for row in relevant])
    expected = [LOOPS[name](row) if any(row) else 0.0 for row in relevant]
    np.testing.assert_allclose(METRICS[name](ranks), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ONE_IF_ALL_POSITIVES_COME_FIRST)
def test_is_one_if_all_positives_come_first(name):
    assert METRICS[name](Ranks.of([[1, 2, 3], [1], [1, 2]])).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("name", METRICS)
def test_is_zero_without_positives_and_with_positives_beyond_its_depth(name):
    assert METRICS[name](Ranks.of([[], [6]])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", SEES_ORDER_WITHIN_ITS_DEPTH)
def test_sees_order_within_its_depth(name):
    first, last = METRICS[name](Ranks.of([[1, 9, 10, 11, 12], [5, 9, 10, 11, 12]]))
    assert first > last > 0


@pytest.mark.parametrize("name", BLIND_TO_ORDER_WITHIN_ITS_DEPTH)
def test_is_blind_to_order_within_its_depth(name):
    first, last = METRICS[name](Ranks.of([[1, 9, 10, 11, 12], [5, 9, 10, 11, 12]]))
    assert first == last > 0


@pytest.mark.parametrize("name", METRICS)
@given(ranks=st.sets(st.integers(2, 20), min_size=1, max_size=6))
def test_never_falls_when_a_positive_comes_nearer(name, ranks):
    ranks = sorted(ranks)
    for place, rank in enumerate(ranks):
        if rank - 1 not in ranks:
            nearer = [*ranks[:place], rank - 1, *ranks[place + 1 :]]
            before, after = METRICS[name](Ranks.of([ranks, nearer]))
            assert after >= before


def test_recall_at_one_is_precision_at_one():
    ranks = Ranks.of([[1, 5], [2], [1], []])
    assert metrics.recall_at_k(ranks, 1).tolist() == metrics.precision_at_k(ranks, 1).tolist()


def test_asking_beyond_the_known_depth_is_refused():
    ranks = Ranks(np.array([1]), np.array([1]), np.array([3]), np.array([4]))
    assert metrics.recall_at_k(ranks, 4).tolist() == [1.0]
    with pytest.raises(UserError, match="known to depth 4"):
        metrics.recall_at_k(ranks, 5)
