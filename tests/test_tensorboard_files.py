"""TensorBoard's event files hold the record's numbers, once each, also when a trial was resumed."""

from __future__ import annotations

import builtins

import pytest

import dmlplayground as dml
from dmlplayground import config
from dmlplayground.errors import UserError
from dmlplayground.store import records
from dmlplayground.training.run import Run

TINY = {
    "method": "npairs",
    "data": {"name": "glyphs", "classes": 16, "images_per_class": 9, "size": 24, "strength": 0.3},
    "embed_dim": 8,
    "batch_size": 4,
    "iterations": 2,
    "epochs": 3,
    "evaluation": {"clustering": False},
}


def scalars(folder) -> dict:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    read = accumulator.EventAccumulator(str(folder))
    read.Reload()
    return {tag: {event.step: event.value for event in read.Scalars(tag)} for tag in read.Tags()["scalars"]}


def test_the_curves_are_the_records_numbers(tmp_path):
    pytest.importorskip("tensorboard")
    record = dml.train({**TINY, "protocol": {"name": "validated", "folds": 2}}, tmp_path, tensorboard=True)
    found = scalars(tmp_path / record.id)
    steps = {4 * entry["fold"] + entry["epoch"]: entry for entry in record.epochs}
    assert len(steps) == 8
    assert found["loss"] == pytest.approx(
        {step: entry["loss"] for step, entry in steps.items() if entry["epoch"]}
    )
    assert found["validation/R@1"] == pytest.approx(
        {step: entry["metrics"]["R@1"] for step, entry in steps.items()}
    )
    assert "health/gradient_norm" in found


@pytest.mark.parametrize("stopped", [1, 2])
def test_a_resumed_trial_has_every_epoch_once(tmp_path, monkeypatch, stopped):
    """Stopped after an epoch had been told but before its checkpoint was written: that epoch is repeated."""
    pytest.importorskip("tensorboard")
    real = Run._checkpoint

    def stop(self, unit, epoch, learners):
        if epoch == stopped:
            raise KeyboardInterrupt
        real(self, unit, epoch, learners)

    monkeypatch.setattr(Run, "_checkpoint", stop)
    with pytest.raises(KeyboardInterrupt):
        dml.train(TINY, tmp_path, tensorboard=True)
    monkeypatch.undo()
    record = dml.train(TINY, tmp_path, tensorboard=True)
    folder = tmp_path / record.id
    assert len(list(folder.glob("events.out.tfevents.*"))) == 2
    assert scalars(folder)["loss"] == pytest.approx(
        {e["epoch"]: e["loss"] for e in record.epochs if e["epoch"]}
    )


def test_without_tensorboard_it_is_said_before_training(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *more):
        if name.startswith("tensorboard"):
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UserError, match=r"pip install 'dmlplayground\[tensorboard\]'"):
        dml.train(TINY, tmp_path, tensorboard=True)
    assert not (tmp_path / config.trial(TINY).id / records.RECORD).exists()
