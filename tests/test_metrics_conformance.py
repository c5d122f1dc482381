"""What every registered metric keeps to, and what is caught where one does not."""

import dataclasses

import numpy as np
import pytest

from dmlplayground import metrics
from dmlplayground.parts.metrics.shared import conformance

#: Families with two numbers each, one of them the number of positives.
KS = (1, conformance.EACH - 1)
MEMBERS = [
    name.replace("@K", f"@{k}") for name in metrics.names() for k in (KS if name.endswith("@K") else KS[:1])
]


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MEMBERS)
def test_a_metric_keeps_to_what_all_keep_to(name, check):
    check(metrics.get(name))


@pytest.mark.parametrize("name", MEMBERS)
def test_a_wrong_direction_is_caught(name):
    metric = metrics.get(name)
    wrong = dataclasses.replace(metric, higher_is_better=not metric.higher_is_better)
    with pytest.raises(AssertionError, match="against its direction"):
        conformance.direction(wrong)


@pytest.mark.parametrize(
    ("name", "measure", "check"),
    [
        ("density_intra", lambda points, labels: float(points[0].sum() * 1.0), "order_of_rows"),
        ("density_intra", lambda points, labels: float(np.max(labels)), "names_of_classes"),
        ("density_intra", lambda points, labels: float("nan"), "in_range"),
        ("NMI", lambda classes, clusters: 1.5, "in_range"),
        ("NMI", lambda classes, clusters: 0.9 * (classes == clusters).mean(), "direction"),
        ("RP", lambda ranks: np.full(len(ranks.relevant), -0.1), "in_range"),
        ("RP", lambda ranks: np.full(len(ranks.relevant), 0.5), "direction"),
    ],
)
def test_a_metric_that_breaks_a_rule_is_caught(name, measure, check, monkeypatch):
    monkeypatch.setitem(metrics.KIND._parts, name, dataclasses.replace(metrics.get(name), build=measure))
    with pytest.raises(AssertionError, match=f"^metric {name} "):
        getattr(conformance, check)(metrics.get(name))
