"""The table of metrics: what each record states, families, what a trial computes, and what leads."""

import pytest

from dmlplayground import metrics
from dmlplayground.base import registry
from dmlplayground.base.errors import UserError


def test_the_table_is_a_kind_of_parts():
    assert registry.kind("metrics") is metrics.KIND
    others = ["P@K", "mAP@K", "mAP_R@K", "mAP", "rho_spectrum@K", "rho_truncated@K"]
    known = {*metrics.STANDARD, *others, "density_intra", "density_inter", "density_ratio"}
    assert known <= set(metrics.names()) and metrics.names() == sorted(metrics.names())


@pytest.mark.parametrize("name", metrics.names())
def test_every_record_tells_its_story(name):
    metric = metrics.get(name)
    assert metric.title
    assert len(metric.summary) > 20
    assert metric.needs in ("ranks", "clusters", "embeddings")
    assert (metric.numbers is not None) == name.endswith("@K")
    assert set(metric.facts) == {"from", "better", "unit"}


def test_a_member_of_a_family_is_named_in_full():
    metric = metrics.get("R@10")
    assert (metric.key, metric.title, metric.number, metric.family) == ("R@10", "Recall@10", 10, "R@K")
    assert (metric.label, metric.shown(0.12345)) == ("R@10 (%)", "12.35")
    assert metrics.get("rho_spectrum@-2").number == -2
    assert (metrics.get("rho_spectrum@2").label, metrics.get("rho_spectrum@2").shown(0.12345)) == (
        "rho_spectrum@2",
        "0.1235",
    )


def test_directions():
    recall, rho = metrics.get("R@1"), metrics.get("rho_spectrum@2")
    assert recall.better(0.5, 0.4)
    assert not recall.better(0.5, 0.5)
    assert rho.better(0.4, 0.5)
    assert recall.better(0.1, None)
    assert rho.better(0.1, None)
    assert not recall.better(None, 0.1)
    assert not rho.better(None, None)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("recall at K", "Did you mean 'R@K'"),
        ("mAP_1000", "Did you mean 'mAP_R@K'"),
        ("R@0", "K must be from 1 to 1000000"),
        ("MAP@4", "unknown metric"),
        ("RP@4", "unknown metric"),
        (3, "unknown metric 3"),
    ],
)
def test_wrong_names_are_told(name, message):
    with pytest.raises(UserError, match=message):
        metrics.get(name)


def keys(*arguments, **options):
    return [metric.key for metric in metrics.chosen(*arguments, **options)]


def test_what_is_computed_by_default():
    ranked = ["R@1", "R@2", "R@4", "R@8", "R@16", "RP", "MAP@R"]
    assert keys() == [*ranked, "NMI", "NMI_geometric", "AMI", "F1"]
    assert keys(clustering=False) == ranked


def test_a_family_stands_for_one_of_each_k_and_a_member_for_itself():
    assert keys(["P@K", "R@100", "P@2"], ks=[2, 1]) == ["P@2", "P@1", "R@100"]


def test_the_headline_is_the_first_metric_or_the_users_choice():
    assert metrics.headline({}).key == "R@1"
    assert metrics.headline({"ks": [10]}).key == "R@10"
    assert metrics.headline({"metrics": ["NMI", "R@K"]}).key == "NMI"
    assert metrics.headline({"headline": "MAP@R"}).key == "MAP@R"
    assert metrics.headline({"headline": "R@3"}).key == "R@3"
    assert [metric.key for metric in metrics.of_trial({"headline": "NMI", "ks": [1]})][:2] == ["NMI", "R@1"]
    with pytest.raises(UserError, match=r"evaluation.headline is NMI, which is not computed"):
        metrics.headline({"headline": "NMI", "clustering": False})
    with pytest.raises(UserError, match=r"unknown metric 'R1'"):
        metrics.headline({"headline": "R1"})


def test_what_leads():
    assert metrics.leading(keys()) == ["R@1", "NMI"]
    assert metrics.leading(["MAP@R", *keys()]) == ["MAP@R", "R@1", "NMI"]
    assert metrics.leading(["R@10", "R@1", "RP"]) == ["R@10"]
    assert metrics.leading([]) == []
    assert metrics.first({"MAP@R": 0.25, "NMI": 0.5}) == "MAP@R 25.00"
