"""What every metric keeps to, whatever it measures: a check for each, which raises ``AssertionError`` with the reason.

A metric gets them by being registered: the tests go over all metrics and all of ``CHECKS``.
"""

from __future__ import annotations

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
    points = collapsed()
    _same(metric, points, LABELS, points[order], LABELS[order], "when the rows change their order")


def names_of_classes(metric: Metric) -> None:
    """Which numbers classes have changes nothing."""
    names = np.random.default_rng(2).permutation(1000)[:CLASSES]
    points = collapsed()
    _same(metric, points, LABELS, points, names[LABELS], "when classes get other numbers")


def direction(metric: Metric) -> None:
    """Perfect embeddings are better than ones that know nothing, and as good as can be where there is a best value; for a
    metric that does not reward separation (``Metric.separates``) they are worse."""
    best, chance = _value(metric, perfect(), LABELS), _value(metric, collapsed(), LABELS)
    pair = (best, chance) if metric.separates else (chance, best)
    right = metric.better(*pair)
    _need(
        right,
        metric,
        f"is {best:g} of perfect embeddings and {chance:g} of useless ones, against its direction",
    )
    if (
        metric.percent and metric.separates and metric.number in (None, EACH - 1)
    ):  # K is how many positives there are
        top = 1.0 if metric.higher_is_better else max(metric.least, 0.0)
        _need(abs(best - top) < TOLERANCE, metric, f"is {best:g} of perfect embeddings, not {top:g}")


CHECKS = (in_range, order_of_rows, names_of_classes, direction)


def _value(metric: Metric, points: np.ndarray, labels: np.ndarray) -> float:
    if metric.needs == "clusters":  # of the points themselves, as k-means may end differently
        return float(metric.measure(labels, _clusters(points)))
    return assess(points, labels, metrics=[metric.key]).scores[metric.key]


def _clusters(points: np.ndarray) -> np.ndarray:
    """Points by their largest number, which is the class of perfect ones."""
    return np.argmax(points, axis=1)


def _same(metric: Metric, points, labels, other_points, other_labels, when: str) -> None:
    one, other = _value(metric, points, labels), _value(metric, other_points, other_labels)
    _need(
        abs(one - other) <= TOLERANCE * max(1, abs(one)), metric, f"changes from {one:g} to {other:g} {when}"
    )


def _need(right: object, metric: Metric, reason: str) -> None:
    if not right:
        raise AssertionError(f"metric {metric.key} {reason}.")
