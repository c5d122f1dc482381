"""Trackers have the record's numbers, once each, also when a trial was resumed."""

import contextlib
import json
from types import SimpleNamespace

import pytest
from sweeps_fixture import SMALL

import dmlplayground as dml
from dmlplayground import cli, config
from dmlplayground.base import optional
from dmlplayground.base.errors import UserError
from dmlplayground.sweeps import executors
from dmlplayground.trial.store import records
from dmlplayground.trial.training import trackers
from dmlplayground.trial.training.run import Run

TINY = {**SMALL, "method": "npairs", "batch_size": 4, "iterations": 2, "epochs": 3}


def scalars(folder) -> dict:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    read = accumulator.EventAccumulator(str(folder))
    read.Reload()
    return {tag: {event.step: event.value for event in read.Scalars(tag)} for tag in read.Tags()["scalars"]}


def test_the_curves_are_the_records_numbers(tmp_path):
    pytest.importorskip("tensorboard")
    record = dml.train({**TINY, "protocol": {"name": "validated", "folds": 2}}, tmp_path, log=["tensorboard"])
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


@contextlib.contextmanager
def interrupted(monkeypatch, after):
    """Ctrl-C after an epoch has been told, but before its checkpoint is written."""
    real = Run._checkpoint

    def stop(self, unit, epoch, learners):
        if epoch == after:
            raise KeyboardInterrupt
        real(self, unit, epoch, learners)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "_checkpoint", stop)
        yield


@pytest.mark.parametrize("stopped", [1, 2])
def test_a_resumed_trial_has_every_epoch_once(tmp_path, monkeypatch, stopped):
    """Stopped after an epoch had been told but before its checkpoint was written: that epoch is repeated."""
    pytest.importorskip("tensorboard")
    with interrupted(monkeypatch, stopped), pytest.raises(KeyboardInterrupt):
        dml.train(TINY, tmp_path, log=["tensorboard"])
    record = dml.train(TINY, tmp_path, log=["tensorboard"])
    folder = tmp_path / record.id
    assert len(list(folder.glob("events.out.tfevents.*"))) == 2
    assert scalars(folder)["loss"] == pytest.approx(
        {e["epoch"]: e["loss"] for e in record.epochs if e["epoch"]}
    )


@pytest.mark.parametrize("name", trackers.TRACKERS)
def test_a_missing_package_is_told_before_training(name, tmp_path, monkeypatch):

    def missing(module):
        raise ImportError(f"No module named {module!r}")

    monkeypatch.setattr(optional, "importlib", SimpleNamespace(import_module=missing))
    with pytest.raises(UserError, match=rf"pip install 'dmlplayground\[{name}\]'"):
        dml.train(TINY, tmp_path, log=[name])
    with pytest.raises(UserError, match=rf"pip install 'dmlplayground\[{name}\]'"):
        executors.create("local", log=[name])
    assert not (tmp_path / config.trial(TINY).id / records.RECORD).exists()


def test_a_misspelt_tracker_is_told_before_training(tmp_path, capsys):
    assert cli.main(["train", "npairs", "--log", "tensorbord", "--store", str(tmp_path)]) == 2
    assert "unknown tracker 'tensorbord'. Did you mean 'tensorboard'?" in capsys.readouterr().err


class Written:
    """A tracker that keeps what it is given, and fails from some step on."""

    program = "Weights & Biases"

    def __init__(self, fails_from=10**9):
        self.steps, self.ended, self.fails_from = {}, 0, fails_from

    def begin(self, trial, held, step):
        self.first = step

    def write(self, step, values):
        if step >= self.fails_from:
            raise ConnectionError("no answer")
        self.steps[step] = values

    def end(self):
        self.ended += 1


def test_a_tracker_that_fails_is_left_out_and_training_goes_on(tmp_path, monkeypatch, capsys):
    good, bad = Written(), Written(fails_from=2)
    monkeypatch.setattr(trackers, "create", {"tensorboard": good, "wandb": bad}.get)
    record = dml.train(TINY, tmp_path, log=["tensorboard", "wandb"])
    assert record.status == "finished"
    assert list(good.steps) == [0, 1, 2, 3] and list(bad.steps) == [0, 1]
    assert (good.ended, bad.ended) == (1, 0)
    assert "stopped sending to Weights & Biases: no answer" in capsys.readouterr().err


def wandb_messages(file):
    """What ``wandb sync`` would send: after seven bytes, records with their lengths, in blocks of 32 kB."""
    content, place, message = file.read_bytes(), 7, b""
    while place + 7 <= len(content):
        if (rest := 32768 - place % 32768) < 7:
            place += rest
            continue
        length, kind = int.from_bytes(content[place + 4 : place + 6], "little"), content[place + 6]
        message += content[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield message
            message = b""


@pytest.mark.slow
def test_wandb_has_the_records_numbers(tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    from wandb.proto.wandb_internal_pb2 import Record

    monkeypatch.setenv("WANDB_MODE", "offline")
    record = dml.train(TINY, tmp_path, log=["wandb"])
    [file] = (tmp_path / record.id).rglob("run-*.wandb")
    found = {}
    for message in map(Record.FromString, wandb_messages(file)):
        items = message.history.item
        values = {"/".join(each.nested_key) or each.key: json.loads(each.value_json) for each in items}
        if values:
            found[values["_step"]] = values
    assert sorted(found) == [0, 1, 2, 3]
    for entry in record.epochs:
        values = found[entry["epoch"]]
        assert values.get("loss") == pytest.approx(entry.get("loss"))
        assert values["test/R@1"] == pytest.approx(entry["metrics"]["R@1"])


@pytest.mark.slow
def test_mlflow_has_the_records_numbers_once_also_of_a_resumed_trial(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with interrupted(monkeypatch, after=2), pytest.raises(KeyboardInterrupt):
        dml.train(TINY, tmp_path, log=["mlflow"])
    record = dml.train(TINY, tmp_path, log=["mlflow"])
    client = mlflow.MlflowClient((tmp_path / "mlruns").as_uri())
    [experiment] = [each for each in client.search_experiments() if each.name == str(tmp_path)]
    [run] = client.search_runs([experiment.experiment_id])
    assert run.info.run_name == record.id and run.info.status == "FINISHED"
    assert run.data.params["method.name"] == "npairs"
    losses = [(value.step, value.value) for value in client.get_metric_history(run.info.run_id, "loss")]
    assert losses == [(e["epoch"], pytest.approx(e["loss"])) for e in record.epochs if "loss" in e]
    assert len(client.get_metric_history(run.info.run_id, "test/R_1")) == 4
