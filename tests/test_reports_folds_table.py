"""The Reality Check's table: means and intervals over runs, with the published ones beside them."""

import math
from statistics import fmean, stdev

import pytest
import reports_fixture as fixture

from dmlplayground import reports
from dmlplayground.reports import tables
from dmlplayground.reports.grouping import arenas
from dmlplayground.reports.leaderboard import of_studies

CUB = {
    "data": "cub200", "backbone": "inception_bn_caffe", "embed_dim": 128, "batch_size": 32,
    "transform__name": "reality_check", "protocol__name": "validated", "method__per_class": True,
    "mining": {"name": "all"}, "optimizer__name": "rmsprop", "freeze_batchnorm": "statistics", "epochs": 1000,
}  # fmt: skip
T_OF_9 = 2.262157  # Student's t, 0.975, nine degrees of freedom


def table(runs, **changes):
    records = [fixture.record("margin", seed, 0.5, **{**CUB, **changes}) for seed in range(runs)]
    return records, of_studies(arenas(records, [])[0])[0]


def row_of(made):
    return dict(zip((column.name for column in made.columns), made.rows[0].values))


def test_means_intervals_and_published_values():
    records, made = table(10)
    row = row_of(made)
    joined = [100 * record.results["joined"]["metrics"]["MAP@R"] for record in records]
    found = row["concatenated MAP@R"]
    assert found.value == pytest.approx(fmean(joined))
    assert found.half == pytest.approx(T_OF_9 * stdev(joined) / math.sqrt(10), rel=1e-5)
    assert tables.text(row["concatenated MAP@R published"]) == "23.71 ± 0.16"
    assert tables.text(row["separated P@1 published"]) == "55.56 ± 0.16"
    apart = fmean(
        fmean(100 * fold["metrics"]["RP"] for fold in record.results["separate"]) for record in records
    )
    assert row["separated RP"].value == pytest.approx(apart)
    assert any("table 4" in note for note in made.notes)


@pytest.mark.parametrize(("runs", "changes"), [(9, {}), (10, {"batch_size": 64})])
def test_nothing_published_where_a_condition_differs(runs, changes):
    _, made = table(runs, **changes)
    assert not any("published" in column.name for column in made.columns)
    assert any("there" in note for note in made.notes)


def test_the_network_before_training_is_the_first_row():
    """Its features by PCA: 51.05 of the four folds' networks together, 50.54 of each; it takes no part in what tells methods
    apart, and is not the untrained network that the leaderboard begins with."""
    before = {**CUB, "epochs": 0, "head": {"reduction": "components"}, "backbone__pretrained": "imagenet"}
    records = [
        fixture.record("margin", 0, 0.9, status="running", **before),
        *(fixture.record("margin", seed, 0.5, **CUB, backbone__pretrained="imagenet") for seed in range(2)),
    ]
    first = records[0]
    first.status = "finished"
    first.results = {**records[1].results, "untrained": {"measured_on": "test", "metrics": {"R@1": 0.9}}}
    (arena,) = arenas(records, [])
    (made,) = of_studies(arena)
    row = row_of(made)
    assert row["method"] == "no training"
    assert (tables.text(row["concatenated P@1 published"]), tables.text(row["separated P@1 published"])) == (
        "51.05",
        "50.54",
    )
    assert arena.factors == []
    assert arena.untrained("R@1")[arena.cells[0].backbone].mean == pytest.approx(5)


def test_a_single_run_has_no_interval():
    _, made = table(1)
    assert row_of(made)["separated RP"].half is None
    assert "±" not in tables.text(row_of(made)["separated RP"])


def test_other_protocols_have_no_such_table():
    assert of_studies(arenas([fixture.record("margin")], [])[0]) == []


def test_rows_that_end_below_the_untrained_network_are_named():
    records = [fixture.record("margin", seed, 0.4) for seed in range(2)]
    records += [fixture.record("npairs", seed, 0.4) for seed in range(2)]
    for record in records[2:]:
        record.results["last"]["metrics"]["R@1"] = 0.001
    (made,) = reports.leaderboard(records)
    (note,) = [note for note in made.notes if note.startswith("Training ended below the untrained")]
    assert note == "Training ended below the untrained network for 1 of 2 rows: npairs."


def test_rows_with_commas_in_their_names_are_told_apart():
    records = [
        fixture.record("margin", seed, 0.4, embed_dim=width) for seed in range(2) for width in (32, 64)
    ]
    for record in records:
        record.config["backbone"]["width"] = record.config["embed_dim"] * 2
        record.results["last"]["metrics"]["R@1"] = 0.001
    (made,) = reports.leaderboard(records)
    (note,) = [note for note in made.notes if note.startswith("Training ended below the untrained")]
    assert "2 of 2 rows: " in note and note.count("; ") == 1
