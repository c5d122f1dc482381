"""What every metric keeps to, whatever it measures: a check for each, which raises ``AssertionError`` with the reason.

A metric gets them by being registered: the tests go over all metrics and all of ``CHECKS``.
"""

import numpy as np

from .evaluation import assess
from .table import Metric

CLASSES, EACH = 8, 6
LABELS = np.repeat(np.arange(CLASSES), EACH)
TOLERANCE = 1e-9


def perfect() -> np.ndarray:
    """Every class in one point, every point at right angles to the others."""
    return np.eye(CLASSES)[LABELS]


def collapsed() -> np.ndarray:
    """Points that know nothing of classes, all in much the same direction."""
    return 3.0 + np.random.default_rng(0).normal(size=(len(LABELS), CLASSES))


def in_range(metric: Metric) -> None:
    """A fraction lies between its least value and 1, any other number is finite."""
    for points in (perfect(), collapsed()):
        value = _value(metric, points, LABELS)
        _need(np.isfinite(value), metric, f"is {value}")
        if metric.percent:
            inside = metric.least - TOLERANCE <= value <= 1 + TOLERANCE
            _need(inside, metric, f"is {value:g}, and cannot be above 1 or below {metric.least:g}")


def order_of_rows(metric: Metric) -> None:
    """The order of the embeddings changes nothing."""
    order = np.random.default_rng(1).permutation(len(LABELS))
    _same(metric, collapsed()[order], LABELS[order], "when the rows change their order")


def names_of_classes(metric: Metric) -> None:
    """Which numbers classes have changes nothing."""
    names = np.random.default_rng(2).permutation(1000)[:CLASSES]
    _same(metric, collapsed(), names[LABELS], "when classes get other numbers")


def direction(metric: Metric) -> None:
    """Perfect embeddings are better than ones that know nothing, and as good as can be where there is a best value; for a
    metric that does not reward separation (``Metric.separates``) they are worse."""
    best, chance = _value(metric, perfect(), LABELS), _value(metric, collapsed(), LABELS)
    right = metric.better(*((best, chance) if metric.separates else (chance, best)))
    reason = f"is {best:g} of perfect embeddings and {chance:g} of useless ones, against its direction"
    _need(right, metric, reason)
    all_positives = metric.number in (None, EACH - 1)  # K is how many there are
    if metric.percent and metric.separates and all_positives:
        top = 1.0 if metric.higher_is_better else max(metric.least, 0.0)
        _need(abs(best - top) < TOLERANCE, metric, f"is {best:g} of perfect embeddings, not {top:g}")


CHECKS = (in_range, order_of_rows, names_of_classes, direction)


def _value(metric: Metric, points: np.ndarray, labels: np.ndarray) -> float:
    # Clusters are those of the points themselves, as k-means may end differently: the class of perfect ones.
    if metric.needs == "clusters":
        return float(metric.measure(labels, np.argmax(points, axis=1)))
    return assess(points, labels, metrics=[metric.key]).scores[metric.key]


def _same(metric: Metric, points: np.ndarray, labels: np.ndarray, when: str) -> None:
    one, other = _value(metric, collapsed(), LABELS), _value(metric, points, labels)
    agree = abs(one - other) <= TOLERANCE * max(1, abs(one))
    _need(agree, metric, f"changes from {one:g} to {other:g} {when}")


def _need(right: object, metric: Metric, reason: str) -> None:
    if not right:
        raise AssertionError(f"metric {metric.key} {reason}.")
