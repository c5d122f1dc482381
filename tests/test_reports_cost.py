"""What trials cost: in records as they are written, and in tables, of older records too."""

import pytest
import reports_fixture as fixture

import dmlplayground as dml
from dmlplayground.reports import cost, leaderboard, tables
from dmlplayground.reports.grouping import arenas

TRIAL = {
    "method": "proxy_nca",
    "data": {"name": "glyphs", "classes": 16, "images_per_class": 6, "size": 24},
    "transform": "plain",
    "batch_size": 8,
    "iterations": 3,
    "epochs": 2,
    "embed_dim": 4,
    "evaluation": {"clustering": False},
}
BACKBONE = 9 * (3 * 32 + 32 * 64 + 64 * 128 + 128 * 128) + 2 * (32 + 64 + 128 + 128)


def row(table, place=0):
    return {column.name: tables.text(value) for column, value in zip(table.columns, table.rows[place].values)}


@pytest.mark.parametrize(
    ("protocol", "classes", "folds", "looks"),
    [("paper", 8, 1, 2), ({"name": "validated", "folds": 2}, 4, 2, 1)],
)
def test_a_record_says_what_it_cost(tmp_path, protocol, classes, folds, looks):
    record = dml.train({**TRIAL, "protocol": protocol, "batch_size": 4}, store=tmp_path)
    head = 128 * 4 + 4
    assert record.cost["parameters"] == BACKBONE + head + classes * 4
    assert (cost.steps(record), cost.images(record)) == (2 * 3 * folds, 2 * 3 * 4 * folds)
    assert cost.looks(record) == looks
    assert record.cost["load"] >= 0
    assert 0 < cost.training(record) < record.seconds
    assert 0 < cost.evaluation(record) < record.seconds
    assert cost.training(record) + cost.evaluation(record) < record.seconds
    (arena,) = arenas([record], [])
    assert "–" not in row(cost.table(arena)).values()


def test_tables_are_means_over_runs_and_older_records_lack_what_was_not_kept():
    records = [fixture.record("npairs", seed, 0.5) for seed in range(2)]
    records[1].cost = {"parameters": 12_345, "load": 3.0, "results_seconds": 2.0}
    records[1].epochs[1]["images"] = 100  # a short epoch, not 20 steps of 128
    found = row(cost.table(arenas(records, [])[0]))
    usual = 8 * 20 * 128
    assert found["images"] == f"{round((2 * usual - 2560 + 100) / 2):,}"
    assert (found["steps"], found["looks"], found["parameters"]) == ("160", "8", "12,345")
    assert (found["load"], found["cores"], found["processor"]) == ("3.00", "2", "–")
    assert found["evaluation"] == tables.text(tables.Seconds(9 * 0.3 + 1))
    beside = row(leaderboard(records)[0], place=1)
    assert (beside["images"], beside["looks"]) == (found["images"], found["looks"])


def test_a_validated_trial_looks_once():
    record = fixture.record("npairs", 0, 0.5, protocol__name="validated")
    assert cost.looks(record) == 1
