"""The learning-rate finder: what it suggests of a curve, and its command."""

import re
import subprocess
import sys

import numpy as np
import pytest
from sweeps_fixture import SMALL

from dmlplayground import cli, config
from dmlplayground.base.errors import UserError
from dmlplayground.trial.training import lr_finder
from dmlplayground.trial.training.lr_finder import Rates

TINY = {**SMALL, "method": "npairs"}


def curve(losses) -> Rates:
    losses = np.asarray(losses, float)
    return Rates(np.geomspace(1e-6, 1, len(losses)).tolist(), losses.tolist(), losses.tolist())


def test_the_suggestion_is_where_the_loss_falls_fastest():
    """Flat, falling fastest at 1e-3, lowest near 1e-1, and then exploding, which falls nowhere."""
    at = np.linspace(-6, 0, 61)
    falling = curve(2 - np.tanh(2 * (at + 3)) + np.where(at > -1, 8 * (at + 1), 0))
    assert falling.suggestion == pytest.approx(1e-3, rel=0.01)
    assert falling.lowest == pytest.approx(0.1, rel=0.3)
    rebound = curve(np.concatenate([np.linspace(2, 1, 30), np.linspace(1, 9, 20), np.linspace(9, 1.5, 5)]))
    assert rebound.suggestion < rebound.lowest


def test_noise_does_not_decide_where_it_falls_fastest():
    at = np.linspace(-6, 0, 61)
    falling = 1 - 0.02 * np.tanh(2 * (at + 3)) + np.where(at > -1.5, (at + 1.5) / 2, 0)
    for seed in range(20):
        losses = (falling + np.random.default_rng(seed).normal(0, 0.015, len(at))).tolist()
        rates = np.geomspace(1e-6, 1, len(at)).tolist()
        found = Rates(rates, losses, lr_finder._smoothed(losses, len(losses))).suggestion
        assert 1e-4 < found < 1e-2, (seed, found)


def test_a_loss_that_never_falls_suggests_nothing():
    assert curve(np.linspace(1, 9, 30)).suggestion is None


def test_the_mean_around_a_step():
    assert lr_finder._smoothed([1.0, 2.0, 6.0, 3.0], 30) == pytest.approx([1.5, 3.0, 11 / 3, 4.5])


def test_rates_rise_by_one_factor_and_the_same_trial_gives_the_same_curve():
    trial = config.trial(TINY)
    found = lr_finder.find(trial, 1e-5, 1e-2, 12, threads=0)
    assert found.rates == pytest.approx(np.geomspace(1e-5, 1e-2, 12).tolist())
    assert found == lr_finder.find(trial, 1e-5, 1e-2, 12, threads=2)
    assert len(set(found.losses)) == 12


def test_each_step_is_taken_at_its_rate():
    """The first loss is before any step, and every later one depends on the rates."""
    trial = config.trial({**TINY, "optimizer": {"name": "sgd", "lr": 0.1, "momentum": 0.0}})
    still = lr_finder.find(trial, 1e-12, 2e-12, 6).losses
    moved = lr_finder.find(trial, 0.01, 0.02, 6).losses
    assert still[0] == moved[0] and np.abs(np.subtract(still, moved))[1:].min() > 1e-5


def test_an_explosion_ends_it():
    trial = config.trial({**TINY, "optimizer": {"name": "sgd", "momentum": 0.0}})
    found = lr_finder.find(trial, 1e-4, 1e8, 60)
    assert 5 < len(found.losses) < 60 and np.isfinite(found.losses).all()


@pytest.mark.parametrize(
    ("changes", "low", "high", "words"),
    [
        ({}, 1e-2, 1e-3, "the lower one first"),
        ({}, 0.0, 1.0, "above 0"),
        ({"optimizer": {"lr": 0.0}}, 1e-4, 1, "lr is 0"),
    ],
)
def test_what_cannot_be_found_is_refused(changes, low, high, words):
    with pytest.raises(UserError, match=words):
        lr_finder.find(config.trial({**TINY, **changes}), low, high, 10)


def test_the_command_suggests_a_rate_and_draws_the_curve(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    small = ["data.classes=16", "data.images_per_class=9", "data.size=24", "batch_size=12", "embed_dim=8"]
    command = ["lr", "npairs", *(part for setting in small for part in ("--set", setting))]
    done = subprocess.run(
        [sys.executable, "-m", "dmlplayground", *command, "--steps", "60", "--out", "curves/npairs.png"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    suggested = float(re.search(r"--set optimizer.lr=(\S+)", done.stdout)[1])
    assert 1e-7 < suggested < 1 and "falls fastest" in done.stdout
    assert (tmp_path / "curves/npairs.png").read_bytes().startswith(b"\x89PNG")
    assert cli.main([*command, "--dry-run"]) == 0
    assert "lr-npairs.svg" in capsys.readouterr().out and not list(tmp_path.glob("*.svg"))
    assert cli.main([*command, "--out", "curve.gif"]) == 2
    assert "must end in .png or .svg" in capsys.readouterr().err
