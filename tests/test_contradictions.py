"""Settings of a method that beat its tuned ones, in the records that are kept with the source."""

import subprocess
import sys
from pathlib import Path

import arena_fixture
import numpy as np
import pytest
import reports_fixture
from scipy import stats

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "experiments" / "results"
sys.path.insert(0, str(KEPT))

import contradictions  # noqa: E402


@pytest.fixture(scope="module")
def kept():
    return {(one.method, one.tuned, one.better): one.gap for one in contradictions.find(KEPT)}


def test_no_kept_record_contradicts_what_was_tuned(kept):
    """Before the searches by halving eight of thirteen methods had such settings, by up to 35 points."""
    assert not kept, "settings that no search found are better: mend the search, or its ranges"


def test_made_records(tmp_path):
    """A search's winners, scored at their last epoch, against settings by hand."""
    tuned = arena_fixture.finals({"margin": 60, "npairs": 60}, noise="seeds", divisions=1)
    arena_fixture.keep(tmp_path / "arenas" / "icons" / "finals", tuned)
    assert contradictions.find(tmp_path) == []

    def by_hand(name, method, level, **changes):
        records = list(arena_fixture.finals({method: level}, noise="seeds", divisions=1, searches=1))
        for one in records:
            one.config["search"] = 0
            one.config["optimizer"]["lr"] = 0.02
            one.config.update(changes)
        arena_fixture.keep(tmp_path / name, records)

    by_hand("worse", "margin", 50)
    by_hand("other_network", "margin", 90, backbone={"name": "conv4", "pretrained": "imagenet"})
    assert contradictions.find(tmp_path) == []
    by_hand("better", "margin", 70)
    (found,) = contradictions.find(tmp_path)
    assert (found.method, found.tuned, found.better) == ("margin", "arenas/icons/finals", "better")
    assert found.gap == pytest.approx(10, abs=2)
    single = reports_fixture.record("npairs", 0, 0.99)
    single.config.update(data=tuned[0].config["data"], backbone=tuned[0].config["backbone"])
    arena_fixture.keep(tmp_path / "lucky", [single])
    assert len(contradictions.find(tmp_path)) == 1


def test_two_runs_that_are_alike_by_chance_prove_nothing():
    def settings(store, *scores):
        return contradictions.Settings("margin", store, store == "tuned", "", scores, True)

    tuned, close = settings("tuned", 55.7, 58.7, 55.3, 59.6, 59.2, 60.1), settings("close", 61.6, 61.4)
    assert stats.ttest_ind(tuned.scores, close.scores, equal_var=False).pvalue < 0.05
    everything = [tuned, close, settings("other", 40, 44, 42), settings("more", 20, 25)]
    assert not contradictions.beyond_noise(3.4, tuned, close, everything)
    assert contradictions.beyond_noise(10, tuned, close, everything)
    wild = settings("wild", 50, 80)
    assert not contradictions.beyond_noise(10, tuned, wild, [*everything, wild])


@pytest.mark.parametrize("seed", range(3))
def test_false_alarms_of_equal_settings_are_rare(seed):
    random = np.random.default_rng(seed)

    def settings(count):
        return contradictions.Settings("", "", False, "", tuple(random.normal(50, 3, count)), True)

    alarms = 0
    for _ in range(400):
        tuned, other, *rest = [settings(count) for count in (6, 2, 6, 3, 3)]
        gap = float(np.mean(other.scores) - np.mean(tuned.scores))
        alarms += contradictions.beyond_noise(gap, tuned, other, [tuned, other, *rest])
    assert alarms <= 0.025 * 400 + 2 * (0.025 * 0.975 * 400) ** 0.5


def test_the_command_says_what_it_finds(tmp_path):
    command = [sys.executable, str(KEPT / "contradictions.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "Nothing contradicts what was tuned.\n")
