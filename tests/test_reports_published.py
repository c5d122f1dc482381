"""Published numbers: shown for the trials they belong to, beside a difference, and nowhere else."""

import pytest
import reports_fixture as fixture

from dmlplayground import reports
from dmlplayground.reports import published, tables


def find(method, metric="R@1", **changes):
    changes = {"data": "cub200", "backbone": "inception_bn", **changes}
    quote = published.find(fixture.configuration(method, **changes)).get(metric)
    return quote and quote.value


@pytest.mark.parametrize(
    ("method", "changes", "value"),
    [
        ("npairs", {}, 53.7),
        ("npairs", {"backbone": "resnet50_v2"}, 56.1),
        ("npairs", {"data": "sop"}, 61.24),
        ("triplet_semihard", {"data": "cars196"}, 60.94),
        ("proxy_softmax", {"data": "cars196", "embed_dim": 2048, "batch_size": 75}, 76.98),
        ("dreml", {"backbone": "resnet18_v2", "embed_dim": 12}, 59.0),
        ("npairs", {"embed_dim": 512}, 60.38),  # a curve's point
        ("npairs", {"batch_size": 32}, 45.7),
        ("margin", {"batch_size": 120}, 51.3),  # near enough to the table's 125
    ],
)
def test_the_figures_of_the_study(method, changes, value):
    assert find(method, **changes) == value


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        ("npairs", {"data": "glyphs"}),
        ("npairs", {"backbone": "conv4"}),
        ("npairs", {"embed_dim": 100}),
        ("npairs", {"batch_size": 16}),
        ("npairs", {"embed_dim": 512, "data": "cars196"}),
        ("ranked_list", {"data": "sop"}),
        ("another", {}),
    ],
)
def test_nothing_is_shown_where_nothing_corresponds(method, changes):
    assert find(method, **changes) is None


def test_columns_with_the_difference_and_the_source():
    records = [fixture.record("npairs", s, 0.5, data="cub200", backbone="inception_bn") for s in range(3)]
    table = reports.leaderboard(records)[0]
    names = [column.name for column in table.columns]
    row = dict(zip(names, table.rows[-1].values))
    assert row["R@1 published"].value == 53.7
    assert tables.text(row["R@1 published"]) == "53.7?"  # a single run, says the study's own log
    gap = table.rows[-1].values[names.index("R@1 published") + 1]
    assert gap.value == pytest.approx(row["R@1 best"].mean - 53.7)
    assert any("quoted" in note and "table 2" in note for note in table.notes)
    assert any("single run" in note for note in table.notes)


def test_no_column_where_nothing_was_published():
    names = [column.name for column in reports.leaderboard(fixture.grid())[0].columns]
    assert not any("published" in name for name in names)
