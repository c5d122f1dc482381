"""Statistics of repeated searches and divisions: against textbook tests, and by simulation with known spreads and orders."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from variance_fixture import NOISES, drawn, known, names, scores

from dmlplayground.reports import orders
from dmlplayground.reports.variance import SOURCES, Comparison

# --- where a textbook has the test ---------------------------------------------------------------------------------


def test_two_methods_over_divisions_are_a_paired_test():
    values = scores(np.random.default_rng(0), [3, 1], NOISES["all"], divisions=5, searches=1)
    found = Comparison.of(values)
    a, b = (cells[:, 0] for cells in (found.means["m00"], found.means["m01"]))
    gap, test = found.gap("m00", "m01"), stats.ttest_rel(a, b)
    assert gap.chance == pytest.approx(test.pvalue)
    assert gap.interval == pytest.approx(tuple(test.confidence_interval()))


def test_two_methods_over_searches_are_a_test_of_independent_means():
    values = scores(np.random.default_rng(1), [3, 1], NOISES["all"], divisions=1, searches=4)
    found = Comparison.of(values)
    a, b = (found.means[name][0] for name in names(2))
    variances = np.array([a.var(ddof=1), b.var(ddof=1)])
    error = math.sqrt(
        (np.maximum(variances, variances.mean()) / 4).sum()
    )  # a method's own where it is larger
    assert found.gap("m00", "m01").chance == pytest.approx(
        2 * stats.t.sf(abs(a.mean() - b.mean()) / error, 6)
    )


def test_one_method_over_searches_has_the_interval_of_student():
    found = drawn(2, [3], NOISES["all"], divisions=1, searches=5)
    means = found.means["m00"][0]
    assert found.interval("m00") == pytest.approx(stats.t.interval(0.95, 4, means.mean(), stats.sem(means)))


def test_mean_squares_are_those_of_the_analysis_of_variance():
    values = scores(np.random.default_rng(3), [3, 1, 2], NOISES["all"], divisions=3, searches=2, seeds=2)
    found = Comparison.of(values)
    one = found.squares("m01")
    cells = {
        (d, s): [value for run, value in values["m01"].items() if run[:2] == (d, s)]
        for d, s in itertools.product((1, 2, 3), (1, 2))
    }
    means = {place: np.mean(cell) for place, cell in cells.items()}
    mean = np.mean(list(means.values()))
    columns = [np.mean([means[d, s] for d in (1, 2, 3)]) for s in (1, 2)]
    rows = [np.mean([means[d, s] for s in (1, 2)]) for d in (1, 2, 3)]
    both = sum((means[d, s] - rows[d - 1] - columns[s - 1] + mean) ** 2 for d, s in means) / 2
    assert one.search == pytest.approx((3 * np.var(columns, ddof=1), 1))
    assert one.both == pytest.approx((both, 2))
    assert one.seed == pytest.approx((np.mean([np.var(cell, ddof=1) for cell in cells.values()]), 6))


def test_a_large_design_gives_the_spreads_that_were_drawn():
    noise = (2, 1.5, 3, 1, 0.7)
    found = drawn(4, np.zeros(30), noise, divisions=40, searches=8, seeds=3).components()
    for source, spread in known(noise).items():
        assert found[source].value == pytest.approx(spread, rel=0.25), source
        assert found[source].interval[0] < spread < found[source].interval[1], source


def test_the_better_one_is_the_lower_where_less_is_better():
    found = drawn(5, [9, 1, 5], NOISES["seeds"], higher=False)
    assert found.methods == ["m01", "m02", "m00"]
    assert found.gap("m01", "m00").mean < 0
    assert found.gap("m01", "m00").wins.value > 0.95
    assert ("m01", "m00") in found.apart


def test_methods_that_lack_trials_are_left_out_and_named():
    values = scores(np.random.default_rng(6), [3, 2, 1, 0], NOISES["all"])
    del values["m01"][2, 1, 0], values["m01"][2, 1, 1]  # a division lacks a search
    values["m02"] = {
        run: value for run, value in values["m02"].items() if run[1] == 1
    }  # a search has not begun
    del values["m03"][1, 1, 0]  # a seed is missing: another is there
    values["m04"] = {}
    found = Comparison.of(values)
    assert (found.methods, found.left_out) == (["m00", "m03"], ("m01", "m02", "m04"))
    assert Comparison.of({}).methods == []


def test_equal_scores_are_not_told_apart_and_give_no_warning():
    values = {name: {(d, s, k): 1.0 for d in (1, 2) for s in (1, 2) for k in (1, 2)} for name in "ab"}
    found = Comparison.of(values)
    assert (found.gap("a", "b").chance, found.gap("a", "b").wins.value) == (1.0, 0.5)
    assert found.leaders == ["a", "b"] and found.interval("a") == (1.0, 1.0)


def test_scores_without_noise_are_compared():
    values = {name: {((), s, 0): level + s for s in (1, 2)} for level, name in enumerate("abcd")}
    assert Comparison.of(values).unlike == {} and Comparison.of(values).methods == list("dcba")
    values = {name: {((), s, 0): level for s in (1, 2)} for level, name in enumerate("abcd")}
    assert Comparison.of(values).leaders == ["d"]


def test_seeds_alone_tell_nothing_apart():
    found = drawn(7, [50, 0], NOISES["seeds"], divisions=1, searches=1, seeds=5)
    assert not found.repeated and found.apart == set() and found.interval("m00") is None


def test_a_method_with_more_noise_than_the_others_is_not_pooled():
    found = drawn(8, np.zeros(8), NOISES["all"], scales=[9] + [1] * 7)
    assert set(found.unlike) == {"m00"}
    assert found.pooled.seed.value < 2
    assert found.error("m00").value > 5 * found.error("m01").value


# --- by simulation ---------------------------------------------------------------------------------------------------


def simulated(noise, methods, repeats, levels=None, scales=None):
    """Shares of intervals that hold the truth, and of comparisons that tell apart a pair wrongly."""
    levels = np.zeros(methods) if levels is None else np.asarray(levels, float)
    truth = dict(zip(names(methods), levels))
    spread = math.sqrt(sum(one**2 for one in NOISES[noise][1:]))
    means, gaps, wins, false, apart = [], [], [], [], []
    for seed in range(repeats):
        found = drawn([seed, methods], levels, NOISES[noise], scales=scales)
        means += [low < truth[name] < high for name in truth for low, high in [found.interval(name)]]
        for (a, b), gap in found.gaps.items():
            true = truth[a] - truth[b]
            gaps.append(gap.interval[0] < true < gap.interval[1])
            share = stats.norm.cdf(true / (spread * math.sqrt(2)))
            wins.append(gap.wins.interval[0] < share < gap.wins.interval[1])
        false.append(any(truth[a] <= truth[b] for a, b in found.apart))
        real = [pair for pair in found.gaps if truth[pair[0]] > truth[pair[1]]]
        apart += [pair in found.apart for pair in real]
    return {
        "mean": np.mean(means),
        "gap": np.mean(gaps) if gaps else None,
        "wins": np.mean(wins) if wins else None,
        "false": np.mean(false),
        "apart": np.mean(apart) if apart else None,
    }


def test_intervals_hold_the_truth_and_false_alarms_are_rare():
    found = simulated("searches", 5, 100)
    assert 0.92 <= found["mean"] <= 0.99 and found["gap"] >= 0.92 and found["wins"] >= 0.92
    assert found["false"] <= 0.09  # 5 % and twice the error of 100 draws


def test_a_real_order_is_seen():
    found = simulated("searches", 5, 40, levels=[0, 12, 24, 36, 48])
    assert found["apart"] > 0.85 and found["false"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("methods", [1, 2, 3, 13])
@pytest.mark.parametrize("noise", NOISES)
def test_coverage_and_false_alarms(noise, methods):
    """Three divisions, two searches, two seeds. Where nothing but seeds varies, an interval that allows for more must be
    wide: there only the lower end is asked for."""
    repeats = {1: 3000, 2: 1500, 3: 1000, 13: 300}[methods]
    found = simulated(noise, methods, repeats)
    error = 2 * math.sqrt(
        0.05 * 0.95 / repeats
    )  # of the share over repeats, whose intervals are not independent
    assert found["mean"] >= 0.93 - error
    assert found["mean"] <= 0.98 + error or noise in ("seeds", "all")
    if methods > 1:
        assert found["gap"] >= 0.93 - error / 2 and found["wins"] >= 0.93 - error / 2
        assert found["false"] <= 0.05 + error


@pytest.mark.slow
@pytest.mark.parametrize(
    "scales", [[3, 3] + [1] * 11, [5] + [1] * 12, np.geomspace(0.5, 2, 13)], ids=["two", "one", "all"]
)
@pytest.mark.parametrize("noise", ["searches", "divisions"])
def test_methods_of_unequal_noise_raise_no_more_alarms(noise, scales):
    assert simulated(noise, 13, 300, scales=scales)["false"] <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 300)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["searches", "all"])
def test_gaps_and_chances_of_winning_hold_the_truth_where_methods_differ(noise):
    found = simulated(noise, 6, 300, levels=np.linspace(0, 6, 6))
    assert 0.93 <= found["gap"] <= 0.99 and 0.93 <= found["wins"] <= 0.99
    assert found["false"] <= 0.01


def covered(noise, repeats):
    held = {source: [] for source in SOURCES}
    for seed in range(repeats):
        found = drawn([seed, 7], np.zeros(8), NOISES[noise]).components()
        for source, spread in known(NOISES[noise]).items():
            low, high = found[source].interval
            held[source].append(low <= spread <= high)
    return {source: np.mean(one) for source, one in held.items()}


def test_intervals_of_the_spreads_hold_the_truth():
    assert all(share >= 0.9 for share in covered("all", 80).values())


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES)
def test_intervals_of_the_spreads_hold_the_truth_for_all_kinds_of_noise(noise):
    assert all(share >= 0.9 for share in covered(noise, 600).values())


def test_chances_of_winning_come_true():
    """Of the pairs that are given a chance of some size, as many are won in a new division, search and seed."""
    random, given, won = np.random.default_rng(0), [], []
    for _seed in range(150):
        levels = random.normal(0, 2, size=4)
        values = scores(random, levels, NOISES["all"], divisions=4, searches=3)
        old = {
            name: {run: v for run, v in one.items() if run[0] < 4 and run[1] < 3}
            for name, one in values.items()
        }
        for (a, b), gap in Comparison.of(old).gaps.items():
            given.append(gap.wins.value)
            won.append(values[a][4, 3, 0] > values[b][4, 3, 0])
    given, won = np.array(given), np.array(won)
    for low, high in ((0.5, 0.75), (0.75, 0.9), (0.9, 1.01)):
        chosen = (given >= low) & (given < high)
        assert won[chosen].mean() == pytest.approx(given[chosen].mean(), abs=0.1)


# --- orders ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_tau_is_that_of_scipy(seed):
    a, b = np.random.default_rng(seed).integers(8, size=(2, 12))  # with ties
    assert float(orders.taus(a, b)) == pytest.approx(stats.kendalltau(a, b).statistic)


def test_tau_of_no_order_is_no_number():
    assert math.isnan(orders.taus([1, 1, 1], [1, 2, 3]))
    assert orders.agreement(*(drawn(seed, [1, 2], NOISES["all"]) for seed in (0, 1))) is None


def test_a_reversal_is_told_only_beyond_the_noise():
    up, down = (drawn(seed, levels, NOISES["seeds"]) for seed, levels in enumerate(([0, 9, 18], [18, 9, 0])))
    found = orders.agreement(up, down)
    assert found.tau == -1 and len(found.reversed) == 3 and ("m02", "m00") in found.reversed
    noisy = drawn(3, [18, 9, 0], (0, 20, 20, 20, 20))
    assert orders.agreement(up, noisy).reversed == []
    assert orders.agreement(up, up).reversed == []


def test_orders_by_two_searches_agree_where_searches_add_nothing():
    assert orders.by_search(drawn(0, range(0, 90, 9), NOISES["seeds"])) == 1
    assert abs(orders.by_search(drawn(1, np.zeros(40), NOISES["searches"]))) < 0.35
    assert orders.by_search(drawn(2, [1, 2, 3], NOISES["all"], searches=1)) is None


def taus_covered(spread, repeats):
    held = []
    for seed in range(repeats):
        random = np.random.default_rng([seed, 11])
        ours = random.normal(0, spread, size=10)
        theirs = 0.5 * ours + random.normal(0, 0.8 * spread, size=10)
        found = orders.agreement(
            *(drawn([seed, side], one, NOISES["all"]) for side, one in enumerate((ours, theirs)))
        )
        held.append(found.interval[0] <= float(orders.taus(ours, theirs)) <= found.interval[1])
    return np.mean(held)


def test_the_interval_of_tau_holds_the_truth():
    assert taus_covered(4, 40) >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("spread", [2, 4, 10])
def test_the_interval_of_tau_holds_the_truth_at_any_distance(spread):
    assert 0.92 <= taus_covered(spread, 250) <= 0.99


def test_an_interval_holds_what_divisions_do_to_all_methods_alike():
    """A gap does not: it is the same in every division."""
    shifts = np.array([-6.0, -2.0, 2.0, 6.0])
    little = 0.01 * np.random.default_rng(0).normal(size=(2, 4, 2))
    values = {
        name: {(d, s, 0): 10 * number + shifts[d] + little[number, d, s] for d in range(4) for s in range(2)}
        for number, name in enumerate(names(2))
    }
    found = Comparison.of(values)
    low, high = found.interval("m00")
    wanted = stats.t.interval(0.95, 3, 0, stats.sem(shifts))[1]
    assert (high - low) / 2 == pytest.approx(wanted, rel=0.01)
    assert found.gap("m01", "m00").interval == pytest.approx((10, 10), abs=0.1)
