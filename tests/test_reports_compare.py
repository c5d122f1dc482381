"""Two stores side by side."""

import json
import shutil

import pytest
import reports_fixture as fixture

from dmlplayground import reports
from dmlplayground.base.errors import UserError
from dmlplayground.trial.store import checks


def stored(folder, records):
    for record in records:
        record.save(folder / record.id)
    return folder


def verdicts(a, b, metric="R@1"):
    table = reports.compare(a, b)
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, row.values)) for row in table.rows]
    return {row["cell"]: row["verdict"] for row in rows if row["metric"] == metric}


@pytest.fixture
def two(tmp_path):
    def make(a, b):
        return stored(tmp_path / "a", a), stored(tmp_path / "b", b)

    return make


def test_a_rerun_gives_the_same_numbers(two):
    runs = [fixture.record("npairs", seed) for seed in range(3)] + [fixture.record("margin", 0)]
    assert verdicts(*two(runs, runs)) == {"npairs": "same numbers", "margin": "same numbers"}


def test_a_gap_beyond_the_noise_and_one_within_it(two):
    before = [fixture.record("npairs", s, 0.40) for s in range(4)] + [
        fixture.record("margin", s, 0.4) for s in range(4)
    ]
    after = [fixture.record("npairs", s, 0.45) for s in range(4)]
    after += [fixture.record("margin", s, 0.4) for s in range(4, 8)]  # other seeds of the same
    a, b = two(before, after)
    assert verdicts(a, b) == {"npairs": "better", "margin": "within the noise"}
    _, _, _, first, second, gap, *_ = reports.compare(a, b).rows[0].values
    assert gap.value == pytest.approx(second.mean - first.mean)


def test_what_cannot_be_said(two):
    a = [
        fixture.record("npairs", 0, 0.4),
        fixture.record("margin", 0),
        fixture.record("angular", 0, status="failed"),
    ]
    b = [
        fixture.record("npairs", 0, 0.5),
        fixture.record("dreml", 0),
        fixture.record("angular", 0, status="failed"),
    ]
    assert verdicts(*two(a, b)) == {
        "npairs": "unknown: single run",
        "margin": "only in A",
        "dreml": "only in B",
        "angular": "no result in either",
    }


def test_a_key_that_only_the_newer_version_has_does_not_part_the_cells(two):
    before = [fixture.record("npairs", seed) for seed in range(3)]
    after = [fixture.record("npairs", seed) for seed in range(3)]
    for record in after:
        record.config["new_key"] = 1
    a, b = two(before, after)
    assert verdicts(a, b) == {"npairs": "same numbers"}
    assert any("new_key" in note for note in reports.compare(a, b).notes)


def test_cells_that_only_such_a_key_tells_apart_all_stay(two):
    before = [fixture.record("npairs", seed) for seed in range(2)]
    after = [fixture.record("npairs", seed, new_key=value) for seed in range(2) for value in (1, 2)]
    assert verdicts(*two(before, after)) == {
        "npairs": "only in A",
        "npairs, new_key 1": "only in B",
        "npairs, new_key 2": "only in B",
    }


def test_a_changed_setting_pairs_the_cells_and_is_named(two):
    def cells(rate, level):
        return [
            fixture.record(method, seed, level, embed_dim=width, optimizer__lr=rate)
            for method in ("npairs", "margin")
            for width in (32, 64)
            for seed in range(4)
        ]

    a, b = two(cells(1e-3, 0.45), cells(3e-3, 0.35))
    table = reports.compare(a, b)
    assert "Changed between A and B: optimizer.lr from 0.001 to 0.003." in table.notes
    assert set(verdicts(a, b).values()) == {"worse"} and len(verdicts(a, b)) == 4
    assert set(verdicts(b, a).values()) == {"better"}
    assert all(
        row.values[6] for row in table.rows
    )  # seeds were paired: there is an interval of the differences


def test_a_method_that_only_one_store_tried_says_nothing_of_a_change(two):
    before = [fixture.record("npairs", seed, optimizer__lr=1e-3) for seed in range(2)]
    before += [
        fixture.record("margin", seed, embed_dim=32, optimizer__lr=1e-4, beta=1.2) for seed in range(2)
    ]
    after = [fixture.record("npairs", seed, optimizer__lr=3e-3) for seed in range(2)]
    a, b = two(before, after)
    for notes in (reports.compare(a, b).notes, reports.compare(b, a).notes):
        told = " ".join(notes)
        assert "Changed between A and B: optimizer.lr from 0.00" in told
        assert "embed_dim" not in told and "beta" not in told and "0.0001" not in told


def test_a_setting_that_only_one_store_tried_leaves_the_rest_paired(two):
    before = [fixture.record("npairs", seed, optimizer__lr=1e-3) for seed in range(2)]
    after = before + [fixture.record("npairs", seed, optimizer__lr=3e-3) for seed in range(2)]
    assert sorted(verdicts(*two(before, after)).values()) == ["only in B", "same numbers"]


def test_cells_that_both_have_stay_together_beside_changed_ones(two):
    same = [fixture.record("npairs", seed, optimizer__lr=1e-3) for seed in range(2)]
    before = same + [fixture.record("margin", seed, optimizer__lr=1e-3) for seed in range(2)]
    after = same + [fixture.record(m, s, optimizer__lr=3e-3) for m in ("npairs", "margin") for s in range(2)]
    found = verdicts(*two(before, after))
    assert list(found.values()).count("same numbers") >= 1 and "only in A" not in found.values()


def test_a_store_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match="there is no store"):
        reports.compare(tmp_path / "a", tmp_path / "b")


def shown(a, b):
    return reports.terminal(reports.compare(a, b))


@pytest.fixture
def reported(two, monkeypatch):
    """Two stores with their reports, after which no record is read."""
    runs = [fixture.record(method, seed) for method in ("npairs", "margin") for seed in range(3)]
    runs.append(fixture.record("angular", 0, status="failed"))
    a, b = two(runs, [fixture.record("npairs", seed, 0.45) for seed in range(4)])
    before = shown(a, b)
    for store in (a, b):
        reports.report(store)
    with monkeypatch.context() as patched:
        patched.setattr(reports.usable_records, "load", None)
        assert shown(a, b) == before
    return a, b, before


def test_what_a_report_keeps_gives_the_same_comparison(reported):
    a, _, _ = reported
    assert "same numbers" in shown(a, a)


@pytest.mark.parametrize("change", ["better", "gone", "more", "damaged", "older"])
def test_what_a_report_has_kept_holds_until_a_record_changes(reported, change):
    a, b, before = reported
    kept, last = b / "report" / "cells.json", b / fixture.record("npairs", 3).id
    if change == "better":
        fixture.record("npairs", 3, 0.6).save(last)
    elif change == "gone":
        shutil.rmtree(last)
    elif change == "more":
        fixture.record("margin", 0).save(b / fixture.record("margin", 0).id)
    elif change == "damaged":
        kept.write_text(kept.read_text().replace("npairs", "margin"))
    else:
        content = {**json.loads(kept.read_text()), "version": "0.0.1", "cells": []}
        kept.write_text(json.dumps(checks.sealed(content)))
    now = shown(a, b)
    shutil.rmtree(b / "report")
    assert now == shown(a, b)
    assert (now == before) is (change in ("damaged", "older"))
