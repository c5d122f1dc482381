"""Two stores side by side."""

import pytest
import reports_fixture as fixture

from dmlplayground import reports
from dmlplayground.errors import UserError


def stored(folder, records):
    for record in records:
        record.save(folder / record.id)
    return folder


def verdicts(a, b, metric="R@1"):
    rows = reports.compare(a, b).rows
    return {row.values[0]: row.values[6] for row in rows if row.values[1] == metric}


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
    assert verdicts(a, b) == {"npairs": "changed", "margin": "within the noise"}
    row = reports.compare(a, b).rows[0]
    assert row.values[4].value == pytest.approx(row.values[3].mean - row.values[2].mean)


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
        "npairs": "cannot be said: single run",
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


def test_a_store_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match="there is no store"):
        reports.compare(tmp_path / "a", tmp_path / "b")
