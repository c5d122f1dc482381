"""Agreement of clusterings: plain loops, scikit-learn, and properties each must have."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import metrics as reference
from sklearn import metrics as sklearn_metrics

from dmlplayground import metrics
from dmlplayground.base.errors import UserError

METRICS = {
    "NMI": sklearn_metrics.normalized_mutual_info_score,
    "NMI_geometric": partial(sklearn_metrics.normalized_mutual_info_score, average_method="geometric"),
    "AMI": lambda classes, clusters: _ami(classes, clusters),
    "F1": lambda classes, clusters: _f1_of_pairs(classes, clusters),
}
WITHIN_ZERO_AND_ONE = ["NMI", "NMI_geometric", "F1"]
ZERO_BY_CHANCE = ["AMI"]

labellings = st.integers(2, 30).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-3, 6), min_size=n, max_size=n)] * 2)
)


def _ami(classes, clusters):
    """Of lone points alone, in perfect agreement, releases before 1.7 say 0."""
    perfect = sklearn_metrics.rand_score(classes, clusters) == 1
    return 1.0 if perfect else sklearn_metrics.adjusted_mutual_info_score(classes, clusters)


def _f1_of_pairs(classes, clusters):
    (_, together), (apart, both) = sklearn_metrics.pair_confusion_matrix(classes, clusters)
    return 2 * both / (2 * both + together + apart) if both + together + apart else 1.0


def measured(name, classes, clusters):
    return metrics.get(name).measure(classes, clusters)


def test_every_metric_is_in_the_lists():
    table = {name for name in metrics.names() if metrics.get(name).needs == "clusters"}
    assert table == set(METRICS) == set(WITHIN_ZERO_AND_ONE) | set(ZERO_BY_CHANCE)


@pytest.mark.parametrize("name", METRICS)
@given(pair=labellings)
def test_agrees_with_the_peer(name, pair):
    assert measured(name, *pair) == pytest.approx(METRICS[name](*pair), abs=1e-9)


@pytest.mark.parametrize("name", METRICS)
@given(pair=labellings)
def test_is_symmetric(name, pair):
    assert measured(name, *pair) == pytest.approx(measured(name, *pair[::-1]), abs=1e-9)


@pytest.mark.parametrize("name", METRICS)
@given(pair=labellings)
def test_is_blind_to_names(name, pair):
    renamed = [100 - 7 * label for label in pair[1]]
    assert measured(name, *pair) == pytest.approx(measured(name, pair[0], renamed), abs=1e-9)


@pytest.mark.parametrize("name", METRICS)
@given(pair=labellings)
def test_is_one_for_equal_labellings(name, pair):
    assert measured(name, pair[0], pair[0]) == pytest.approx(1.0)


@pytest.mark.parametrize("name", WITHIN_ZERO_AND_ONE)
@given(pair=labellings)
def test_is_within_zero_and_one(name, pair):
    assert 0.0 <= measured(name, *pair) <= 1.0


@pytest.mark.parametrize("name", ZERO_BY_CHANCE)
def test_is_zero_by_chance(name):
    random = np.random.default_rng(0)
    values = [measured(name, random.integers(30, size=200), random.integers(40, size=200)) for _ in range(20)]
    assert abs(np.mean(values)) < 0.01


def test_agrees_with_plain_loops():
    classes, clusters = [0, 0, 0, 1, 1, 2, 2], [5, 5, 7, 7, 8, 8, 8]
    assert metrics.nmi(classes, clusters) == pytest.approx(reference.nmi(classes, clusters))
    geometric = reference.nmi(classes, clusters, "geometric")
    assert metrics.nmi_geometric(classes, clusters) == pytest.approx(geometric)
    assert metrics.ami(classes, clusters) == pytest.approx(reference.ami(classes, clusters))
    assert metrics.pairwise_f1(classes, clusters) == pytest.approx(reference.pairwise_f1(classes, clusters))


def test_arithmetic_and_geometric_differ():
    classes, clusters = [0] * 8 + [1] * 8, list(range(16))
    arithmetic, geometric = metrics.nmi(classes, clusters), metrics.nmi_geometric(classes, clusters)
    assert (arithmetic, geometric) == pytest.approx((2 / 5, 1 / 2))


def test_many_thousand_classes_are_no_burden():
    labels = np.arange(60_000) // 5
    assert metrics.ami(labels, labels) == pytest.approx(1.0)
    assert metrics.ami(labels, np.roll(labels, 1)) < 1.0


@pytest.mark.parametrize("pair", [([0, 1], [0, 1, 2]), ([], []), ([[0, 1]], [[0, 1]])])
def test_labellings_that_do_not_fit_are_refused(pair):
    with pytest.raises(UserError, match="two labellings of the same points"):
        metrics.nmi(*pair)
