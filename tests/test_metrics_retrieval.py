"""Retrieval metrics as functions of ranks: worked examples, plain loops, and properties each must have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_tests import without_own_test
from reference import metrics as reference

from dmlplayground import metrics
from dmlplayground.base.errors import UserError
from dmlplayground.parts.metrics import Ranks

METRICS = {
    "R@5": reference.recall_at_k,
    "P@5": reference.precision_at_k,
    "RP": reference.r_precision,
    "MAP@R": reference.map_at_r,
    "mAP@5": reference.map_at_k,
    "mAP_R@5": reference.map_within_k,
    "mAP": lambda relevant: reference.map_within_k(relevant, len(relevant)),
}
ONE_IF_ALL_POSITIVES_COME_FIRST = ["R@5", "RP", "MAP@R", "mAP@5", "mAP_R@5", "mAP"]
SEES_ORDER_WITHIN_ITS_DEPTH = ["MAP@R", "mAP@5", "mAP_R@5", "mAP"]
BLIND_TO_ORDER_WITHIN_ITS_DEPTH = ["R@5", "P@5", "RP"]


def measured(name, ranks):
    return metrics.get(name).measure(Ranks.of(ranks))


def test_every_metric_is_in_the_lists():
    table = {name for name in without_own_test("metrics") if metrics.get(name).needs == "ranks"}
    assert table == {metrics.get(name).family for name in METRICS}
    assert set(METRICS) == set(SEES_ORDER_WITHIN_ITS_DEPTH) | set(BLIND_TO_ORDER_WITHIN_ITS_DEPTH)
    assert set(METRICS) - set(ONE_IF_ALL_POSITIVES_COME_FIRST) == {"P@5"}


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([1], (100, 10, 10)),
        ([1, 10], (100, 20, 12)),
        ([1, 2], (100, 20, 20)),
        (range(1, 11), (100, 100, 100)),
    ],
)
def test_the_reality_checks_third_table(ranks, expected):
    """R@1, R-precision and MAP@R in percent where R = 10."""
    one = Ranks.of([ranks], relevant=[10])
    found = [100 * metrics.get(name).measure(one)[0] for name in ("R@1", "RP", "MAP@R")]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("name", METRICS)
@given(relevant=st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=12), min_size=1, max_size=4))
def test_agrees_with_plain_loops(name, relevant):
    k = [number for number in [metrics.get(name).number] if number]
    expected = [METRICS[name](row, *k) if any(row) else 0.0 for row in relevant]
    ranks = [np.flatnonzero(row) + 1 for row in relevant]
    np.testing.assert_allclose(measured(name, ranks), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ONE_IF_ALL_POSITIVES_COME_FIRST)
def test_is_one_if_all_positives_come_first(name):
    assert measured(name, [[1, 2, 3], [1], [1, 2]]).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("name", METRICS)
def test_is_zero_without_positives_and_with_positives_beyond_its_depth(name):
    sees_all = metrics.get(name).looks_at_all
    assert measured(name, [[], [6]]).tolist() == [0.0, 1 / 6 if sees_all else 0.0]


@pytest.mark.parametrize("name", SEES_ORDER_WITHIN_ITS_DEPTH)
def test_sees_order_within_its_depth(name):
    first, last = measured(name, [[1, 9, 10, 11, 12], [5, 9, 10, 11, 12]])
    assert first > last > 0


@pytest.mark.parametrize("name", BLIND_TO_ORDER_WITHIN_ITS_DEPTH)
def test_is_blind_to_order_within_its_depth(name):
    first, last = measured(name, [[1, 9, 10, 11, 12], [5, 9, 10, 11, 12]])
    assert first == last > 0


@pytest.mark.parametrize("name", METRICS)
@given(ranks=st.sets(st.integers(2, 20), min_size=1, max_size=6))
def test_never_falls_when_a_positive_comes_nearer(name, ranks):
    ranks = sorted(ranks)
    for place, rank in enumerate(ranks):
        if rank - 1 not in ranks:
            nearer = [*ranks[:place], rank - 1, *ranks[place + 1 :]]
            before, after = measured(name, [ranks, nearer])
            assert after >= before


def test_recall_at_one_is_precision_at_one():
    ranks = Ranks.of([[1, 5], [2], [1], []])
    assert metrics.recall_at_k(ranks, 1).tolist() == metrics.precision_at_k(ranks, 1).tolist()


def test_asking_beyond_the_known_depth_is_refused():
    ranks = Ranks(np.array([1]), np.array([1]), np.array([3]), np.array([4]))
    assert metrics.recall_at_k(ranks, 4).tolist() == [1.0]
    with pytest.raises(UserError, match="known to depth 4"):
        metrics.recall_at_k(ranks, 5)
