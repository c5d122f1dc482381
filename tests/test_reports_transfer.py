"""What predicts transfer: correlations over the trials of a store, by hand and in the report."""

import math

import pytest
import reports_fixture as fixture

from dmlplayground import reports
from dmlplayground.reports import transfer
from dmlplayground.reports.grouping import arenas

METHODS = {"npairs": 0.5, "margin": 0.45, "proxy_nca": 0.4, "triplet_semihard": 0.3, "angular": 0.2}


def trials(rho=lambda level, seed: 1 - level + 0.001 * seed, seeds=2):
    made = []
    for method, level in METHODS.items():
        for seed in range(seeds):
            record = fixture.record(method, seed, level, noise=0.001)
            record.results["best"]["training"] = {"rho_spectrum@2": rho(level, seed), "density_intra": 0.3}
            made.append(record)
    return made


def arena(records):
    return arenas(records, [])[0]


def test_nothing_is_told_where_nothing_was_measured():
    assert transfer.tables(arena(fixture.grid())) == []
    assert transfer.figure(arena(fixture.grid())) is None


def test_a_perfect_predictor():
    first = transfer.predictors(arena(trials()))[0]
    assert (first.number, first.trials) == ("rho_spectrum@2", 10)
    assert first.correlation(True) < -0.9
    low, high = first.interval(True)
    assert low <= first.correlation(True) <= high < -0.5


def test_the_spectrum_of_test_images_is_a_predictor_and_their_scores_are_not():
    made = trials()
    for record in made:
        record.results["best"]["metrics"]["rho_spectrum@2"] = record.results["best"].pop("training")[
            "rho_spectrum@2"
        ]
    told = {(one.number, one.part) for one in transfer.predictors(arena(made))}
    assert ("rho_spectrum@2", "metrics") in told
    assert {figure for figure, part in told if part == "metrics"} == {"rho_spectrum@2"}


def test_correlations_by_hand():
    """Ranks of (1, 2, 4) and (1, 9, 3) are (1, 2, 3) and (1, 3, 2): 1 - 6 * 2 / (3 * 8) = 0.5."""
    one = transfer.Predictor("health", "x", [[(1.0, 1.0)], [(2.0, 9.0)], [(4.0, 3.0)]])
    assert one.correlation(True) == pytest.approx(0.5)
    x, y = (-4 / 3, -1 / 3, 5 / 3), (-10 / 3, 14 / 3, -4 / 3)
    expected = sum(a * b for a, b in zip(x, y)) / math.sqrt(sum(a * a for a in x) * sum(b * b for b in y))
    assert one.correlation(False) == pytest.approx(expected)


def test_equal_and_missing_values_are_left_out():
    """A constant figure has no correlation, and an infinite or missing value no point."""
    found = trials(lambda level, seed: None if seed else (math.inf if level > 0.45 else level))
    told = {one.number: one for one in transfer.predictors(arena(found))}
    assert "density_intra" not in told
    assert "embedding_norm" not in told
    assert told["rho_spectrum@2"].trials == 4


def test_single_trials_of_two_methods_are_too_few():
    assert transfer.tables(arena(trials(seeds=1)[:2])) == []


@pytest.mark.parametrize(
    "rho",
    [
        lambda level, seed: level,
        pytest.param(lambda level, seed: 0.5, marks=pytest.mark.slow),
        pytest.param(lambda level, seed: None, marks=pytest.mark.slow),
    ],
)
def test_the_report_has_the_section(rho, tmp_path, recwarn):
    page = reports.write(tmp_path, trials(rho), [], "rho")
    told = rho(0.5, 0) is not None
    assert "What predicts transfer" in page.read_text()  # health has something to tell in any case
    figures = list((page.parent).glob("transfer-*.svg"))
    assert bool(figures) == (told and rho(0.5, 0) != rho(0.4, 0))
    assert not recwarn.list
