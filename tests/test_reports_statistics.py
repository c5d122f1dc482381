"""The statistics of the tables, against SciPy's own tests and against cases worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dmlplayground.reports import statistics
from dmlplayground.reports.statistics import Summary

VALUES = st.lists(st.floats(0, 100), min_size=2, max_size=8)


def of(*values):
    return Summary(dict(enumerate(values)))


def test_mean_spread_and_interval_of_a_hand_worked_case():
    three = of(1.0, 2.0, 3.0)
    assert (three.n, three.mean, three.spread) == (3, 2.0, 1.0)
    half = 4.302652729911275 / math.sqrt(3)  # Student's t for two degrees of freedom
    assert three.interval == pytest.approx((2 - half, 2 + half))


def test_two_runs_have_a_spread_and_no_interval():
    assert of(5.0, 6.0).spread == pytest.approx(math.sqrt(0.5)) and of(5.0, 6.0).interval is None


def test_a_single_run_has_no_spread_and_no_interval():
    assert of(5.0).spread is None and of(5.0).interval is None
    assert statistics.welch(of(5.0), of(1.0, 2.0)) is None


@given(VALUES, VALUES)
def test_welch_is_scipys(a, b):
    if np.std(a) < 1e-3 or np.std(b) < 1e-3:
        return  # SciPy warns of lost precision there; the next test says what we do
    expected = stats.ttest_ind(a, b, equal_var=False).pvalue
    assert statistics.welch(of(*a), of(*b)) == pytest.approx(expected, abs=1e-9)


def test_without_any_noise_every_gap_counts():
    assert statistics.welch(of(1.0, 1.0), of(1.0, 1.0)) == 1.0
    assert statistics.welch(of(1.0, 1.0), of(2.0, 2.0)) == 0.0
    assert statistics.paired(of(0.0, 0.0)) == 1.0
    assert statistics.paired(of(0.5, 0.5)) == 0.0


def test_paired_is_scipys_and_takes_the_seeds_that_both_have():
    a, b = Summary({0: 1.0, 1: 2.5, 2: 3.0, 7: 9.0}), Summary({2: 2.5, 1: 2.0, 0: 1.2, 5: 0.0})
    gap = statistics.differences(a, b)
    assert gap.values == pytest.approx({0: -0.2, 1: 0.5, 2: 0.5})
    expected = stats.ttest_rel([1.0, 2.5, 3.0], [1.2, 2.0, 2.5]).pvalue
    assert statistics.paired(gap) == pytest.approx(expected)


def test_holm_by_hand():
    # sorted: 0.01 * 4, 0.02 * 3, 0.03 * 2 (below the one before it, which it takes over), 0.5 * 1
    assert statistics.holm([0.02, None, 0.01, 0.5, 0.03]) == pytest.approx([0.06, None, 0.04, 0.5, 0.06])


def test_leaders_are_the_best_and_what_is_level_with_it():
    best, level, worse = of(10.0, 11.0, 12.0), of(10.0, 10.5, 12.0), of(1.0, 1.1, 1.2)
    assert statistics.leaders([worse, level, of(), best], True) == {1, 3}


def test_what_lies_below_one_that_differs_does_not_lead():
    """Ten comparisons of three runs: the steady one at the bottom escapes the test, the noisy one above it does not."""
    best, steady, noisy = of(13.84, 17.32, 17.5), of(4.60, 4.79, 5.12), of(4.9, 7.2, 6.9)
    others = [of(3.0, 3.1, 3.2)] * 9
    chances = [lead and lead.chance for lead in statistics.leads([best, noisy, steady, *others], True)]
    assert chances[1] < statistics.LEVEL < chances[2]
    assert statistics.leaders([best, noisy, steady, *others], True) == {0}


def test_students_is_scipys_where_the_spread_is_that_of_the_two():
    a, b = of(1.0, 2.0, 4.0), of(3.0, 5.0)
    expected = stats.ttest_ind([1.0, 2.0, 4.0], [3.0, 5.0]).pvalue
    assert statistics.student(a, b, *statistics.pooled([a, b])).chance == pytest.approx(expected)


def test_the_pooled_spread_by_hand():
    # squares about the means: 2 (of 3 runs), 0.5 (of 2); a single run and nothing add none
    spread, freedom = statistics.pooled([of(1.0, 2.0, 3.0), of(5.0, 6.0), of(9.0), of()])
    assert (spread, freedom) == (pytest.approx(math.sqrt(2.5 / 3)), 3)


def test_two_runs_are_judged_by_the_spread_of_all():
    """Welch's test of two against two finds no gap, however clear: it has one degree of freedom or two."""
    rows = [of(60.0, 61.0), of(59.0, 60.5), *(of(level - 2, level + 2) for level in (20.0, 30.0, 40.0))]
    assert all(p > 0.01 for p in (statistics.welch(rows[0], row) for row in rows[2:4]))
    assert statistics.leaders(rows, True) == {0, 1}


def test_enough_runs_are_judged_by_their_own_spread():
    wide, narrow = of(0.0, 30.0, 60.0), of(50.0, 50.1, 50.2)
    noisy = of(10.0, 90.0)
    expected = stats.ttest_ind([50.0, 50.1, 50.2], [0.0, 30.0, 60.0], equal_var=False).pvalue
    assert statistics.leads([wide, of(), narrow], True)[0].chance == pytest.approx(expected)
    assert statistics.leaders([wide, narrow, noisy], True) == {0, 1, 2}


def test_a_single_run_never_leads():
    assert statistics.leaders([of(99.0), of(1.0, 2.0)], True) == {1}
    assert statistics.leaders([of(99.0), of(98.0)], True) == set()
    assert statistics.leaders([of()], True) == statistics.leaders([], True) == set()


@given(st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=5), min_size=2, max_size=6))
def test_lower_is_better_is_higher_is_better_upside_down(rows):
    given, turned = [of(*row) for row in rows], [of(*(-value for value in row)) for row in rows]
    assert statistics.best(given, False) == statistics.best(turned, True)
    assert statistics.leaders(given, False) == statistics.leaders(turned, True)
    assert statistics.leads(given, False) == statistics.leads(turned, True)


@given(st.lists(VALUES, min_size=2, max_size=6), st.booleans())
def test_the_interval_of_a_lead_excludes_zero_exactly_where_the_lead_is_real(rows, higher):
    for lead in statistics.leads([of(*row) for row in rows], higher):
        if lead and abs(lead.chance - statistics.LEVEL) > 1e-9 and lead.gap.error > 1e-9:
            low, high = lead.interval
            assert lead.real == (not low <= 0 <= high)
            assert low <= lead.gap.size <= high and lead.gap.size >= 0


def test_the_interval_of_a_lead_covers_the_truth():
    """Three methods, the best of them by 2: in at least 95 % of draws both intervals hold the true gaps."""
    random = np.random.default_rng(0)
    draws = [
        [Summary(dict(enumerate(random.normal(level, 1, 5).tolist()))) for level in (0.0, 3.0, 5.0)]
        for _ in range(400)
    ]
    held = 0
    for rows in draws:
        leads = statistics.leads(rows, True)
        if leads[2] is None:  # the truly best is the best here too
            held += all(
                low <= gap <= high for gap, (low, high) in zip((5, 2), (leads[0].interval, leads[1].interval))
            )
    assert held / sum(statistics.leads(rows, True)[2] is None for rows in draws) > 0.92
