"""Schedules by their shapes."""

import itertools
import math

import pytest

from dmlplayground import config, schedules
from dmlplayground.base.errors import UserError


def by_epoch(epochs, name, **options):
    schedule = schedules.create(name, **options)
    return [schedule.scale(epoch, epochs) for epoch in range(1, epochs + 1)]


def by_step(epochs, count, name, **options):
    schedule = schedules.create(name, **options)
    return [schedule.scale(e, epochs, k, count) for e in range(1, epochs + 1) for k in range(count)]


def test_steps_and_period():
    assert by_epoch(6, "step", factor=0.5, steps=[3, 5]) == [1, 1, 0.5, 0.5, 0.25, 0.25]
    assert by_epoch(5, "step", factor=0.1, every=2) == pytest.approx([1, 0.1, 0.1, 0.01, 0.01])
    assert by_epoch(3, "step") == [1, 1, 1]
    assert by_step(2, 2, "step", steps=[2]) == [1, 1, 0.5, 0.5]


def test_the_default_is_the_step_schedule_of_the_method():
    assert config.trial({"method": "margin"}).schedule["steps"] == [12, 14, 16, 18]
    assert config.trial({"method": "margin"}, ["schedule=cosine"]).schedule == {
        "name": "cosine", "moves": "step", "rise": 0.0, "final": 0.0,
    }  # fmt: skip


def test_a_constant_is_one():
    assert by_step(2, 3, "constant") == [1] * 6


def test_cosine_goes_down_half_a_wave():
    expected = [0.1 + 0.9 * (1 + math.cos(math.pi * k / 6)) / 2 for k in range(6)]
    assert by_step(2, 3, "cosine", final=0.1) == pytest.approx(expected)
    assert by_epoch(4, "cosine", moves="epoch") == pytest.approx(
        [1, (1 + math.sqrt(0.5)) / 2, 0.5, (1 - math.sqrt(0.5)) / 2]
    )


def test_polynomial_goes_with_what_is_left():
    assert by_step(1, 4, "polynomial") == [1, 0.75, 0.5, 0.25]
    assert by_step(1, 2, "polynomial", power=2, final=0.2) == pytest.approx([1, 0.2 + 0.8 / 4])


def test_one_cycle_is_highest_where_it_peaks():
    scales = by_step(10, 10, "one_cycle", peak=0.3, start=0.1, final=0.01)
    assert scales[0] == pytest.approx(0.1)
    assert max(scales) == scales[30] == 1.0
    assert scales[15] == pytest.approx(0.55)
    assert all(a < b for a, b in itertools.pairwise(scales[:31]))
    assert all(a > b for a, b in itertools.pairwise(scales[30:]))


@pytest.mark.parametrize("name", ["step", "constant", "cosine", "polynomial"])
def test_a_rising_start_is_a_straight_line_up(name):
    assert by_step(4, 2, name, moves="step", rise=2)[:5] == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0])
    assert by_epoch(4, name, moves="epoch", rise=2)[:3] == pytest.approx([0.5, 1.0, 1.0])


def test_what_follows_the_rise_is_the_whole_of_the_schedule():
    assert by_step(3, 2, "polynomial", rise=1) == pytest.approx([0.5, 1.0, 1.0, 0.75, 0.5, 0.25])
    assert by_epoch(2, "cosine", moves="epoch", rise=5) == pytest.approx([0.2, 0.4])  # never at its height


@pytest.mark.parametrize(
    "name, options, words",
    [
        ("step", {"factor": -3}, "factor must be above 0"),
        ("step", {"steps": [-1]}, r"steps\[0\] must be at least 1"),
        ("step", {"every": 0}, "every must be at least 1"),
        ("cosine", {"final": 2}, "final must be between 0 and 1"),
        ("cosine", {"rise": -1}, "rise must not be negative"),
        ("one_cycle", {"rise": 1}, "it rises by itself"),
        ("polynomial", {"power": 0}, "power must be above 0"),
        ("cosin", {}, "Did you mean 'cosine'"),
        ("linear decay", {}, "Did you mean 'polynomial'"),
    ],
)
def test_impossible_schedules_are_refused(name, options, words):
    with pytest.raises(UserError, match=words):
        schedules.create(name, **options)
