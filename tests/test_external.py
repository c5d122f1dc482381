"""Trainings by a command: the job that it is given, what comes of it, and every way in which a command can do wrong."""

import json
import signal
import statistics
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import dmlplayground as dml
from dmlplayground.base.errors import UserError
from dmlplayground.trial import config
from dmlplayground.trial.store import records
from dmlplayground.trial.training.run import TrialFailed

ROOT = Path(__file__).parent.parent
HEAD = """
import json, sys, time, os
from pathlib import Path
import numpy as np
job = json.loads(Path(sys.argv[1]).read_text())
images = np.load(job["images"])
count = len(images)
flat = images.reshape(count, -1)[:, : job["embed_dim"]] / 255
out = Path(job["output"])
def write(epoch, embeddings=flat, images=4, **more):
    np.save(out / f"epoch-{epoch}.npy", embeddings)
    (out / f"epoch-{epoch}.json").write_text(json.dumps({"images": images, **more}))
"""
HONEST = "for epoch in job['evaluate']: write(epoch, flat + epoch, 4 if epoch else 0, loss=0.5)"
TINY = {
    "method": {"name": "somebodys", "margin": 0.5},
    "data": {"name": "glyphs", "classes": 12, "images_per_class": 4, "size": 16},
    "transform": "plain",
    "embed_dim": 6,
    "batch_size": 4,
    "iterations": 1,
    "epochs": 2,
    "evaluation": {"clustering": False, "ks": [1]},
}


def given(folder: Path, body: str, **changes) -> dict:
    script = folder / "mine.py"
    script.write_text(HEAD + textwrap.dedent(body))
    trainer = {"command": f"python {script} {{job}}", "seconds": changes.pop("seconds", 60)}
    return {**TINY, "trainer": trainer, **changes}


def test_a_command_trains_a_trial(tmp_path):
    record = dml.train(given(tmp_path, HONEST), tmp_path / "runs")
    assert record.status == "finished"
    assert [entry["epoch"] for entry in record.epochs] == [0, 1, 2]
    assert [entry.get("images") for entry in record.epochs] == [None, 4, 4]
    assert record.cost["peak_memory"] > 10**6 and record.cost["command_seconds"] > 0
    assert record.cost["images_declared"] == 1
    (script,) = record.config["parts"]
    assert script["role"] == "command" and len(script["sha256"]) == 64
    assert (tmp_path / "runs" / "parts" / script["sha256"] / "mine.py").is_file()
    page = dml.report(tmp_path / "runs")
    assert "as the command declares them" in page.read_text()


def test_scores_are_those_of_the_rows_in_their_own_order(tmp_path):
    """The images come in an order that tells nothing; the scores do not depend on it."""
    record = dml.train(given(tmp_path, HONEST), tmp_path / "runs")
    test = dml.data.load(**TINY["data"], split="test")
    flat = (np.asarray(test.images).reshape(len(test), -1)[:, :6] / 255).astype(np.float32)
    expected = dml.metrics.evaluate(flat, test.labels, ks=(1,), clustering=False)
    assert record.epochs[0]["metrics"]["R@1"] == pytest.approx(expected["R@1"])


def test_the_job_tells_nothing_of_test_labels(tmp_path):
    body = """
    if job["done"] is None:
        keep = {key: value for key, value in job.items()}
        Path(sys.argv[1]).parents[2].joinpath("job.json").write_text(json.dumps(keep))
        np.save(Path(sys.argv[1]).parents[2] / "asked.npy", images)
    """
    dml.train(given(tmp_path, body + HONEST), tmp_path / "runs")
    job = json.loads((tmp_path / "runs" / "job.json").read_text())
    assert job["format"] == 1 and job["settings"]["method"] == {"name": "somebodys", "margin": 0.5}
    assert {"data", "trainer", "parts"} & set(job["settings"]) == set()
    test = dml.data.load(**TINY["data"], split="test")
    asked = np.load(tmp_path / "runs" / "asked.npy")
    rows = [next(i for i, image in enumerate(test.images) if np.array_equal(image, each)) for each in asked]
    labels = test.labels[rows]
    assert sorted(rows) == list(range(len(test)))
    assert (
        labels[1:] == labels[:-1]
    ).mean() < 0.5  # in the data set's order nearly all neighbours are of one class


def test_validation_and_test_images_are_not_told_apart(tmp_path):
    changes = {"protocol": {"name": "validated", "folds": 2, "criterion": "R@1"}}
    record = dml.train(given(tmp_path, HONEST, **changes), tmp_path / "runs")
    assert record.status == "finished" and len(record.results["separate"]) == 2
    assert {entry["measured_on"] for entry in record.epochs} == {"validation"}
    assert record.results["untrained"]["measured_on"] == "test"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("print('out of luck'); sys.exit(3)", r"ended with code 3 before epoch-0.json was there. Its log ends: out of luck"),
        ("write(0); os.kill(os.getpid(), 9)", r"ended with code -9 before epoch-1.json"),
        ("write(0); time.sleep(600)", r"took longer than 6 seconds"),
        ("write(0, flat[:-1])", r"epoch-0.npy holds float64 \(\d+, 6\), and should hold numbers \(\d+, 6\)"),
        ("write(0, flat[:, :3])", r"should hold numbers"),
        ("write(0, np.where(flat > 0, np.nan, flat))", r"numbers that are not finite"),
        ("write(0, np.array([{}], dtype=object))", r"is not an array of numbers"),
        ("write(0, np.arange(count))", r"epoch-0.npy holds int64"),
        ("write(0, images=0); write(1, images=9)", r"declares 9 images, and the budget is 8"),
        ("write(0, images=-1)", r"does not say how many images"),
        ("(out / 'epoch-0.json').write_text('{}')\ntime.sleep(1)", r"not an array of numbers|does not say"),
        ("(out / 'epoch-0.npy').write_bytes(b'nonsense')\n(out / 'epoch-0.json').write_text('{\"images\": 0}')", "not an array"),
    ],
)  # fmt: skip
def test_what_a_command_does_wrong_fails_the_trial_and_nothing_else(body, reason, tmp_path):
    with pytest.raises(TrialFailed, match=reason):
        dml.train(given(tmp_path, body, seconds=6), tmp_path / "runs")
    (record,) = records.load_store(tmp_path / "runs")
    assert record.status == "failed" and record.error


def test_a_command_that_cannot_be_started(tmp_path):
    with pytest.raises(TrialFailed, match="no_such_program cannot be started"):
        dml.train({**TINY, "trainer": {"command": "no_such_program {job}"}}, tmp_path)


def test_a_label_that_is_nearly_a_known_method_is_noticed(capsys):
    trainer = {"command": "x {job}"}
    for name in ("protoypical", "my_prototypical", "nothing_alike"):
        config.trial({**TINY, "method": name, "trainer": trainer})
    (line,) = capsys.readouterr().err.splitlines()
    assert "method protoypical: a label for what the command trains. If prototypical is meant" in line


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trainer": {"command": "python mine.py"}}, r"must hold \{job\}"),
        ({"trainer": {"command": "python 'mine.py {job}"}}, "is not a command line"),
        ({"trainer": {"command": "x {job}", "seconds": 0}}, "must be above 0"),
        ({"trainer": {"command": "x {job}"}, "ensemble": {"members": 2}}, "ensemble.members must be 1"),
        ({"trainer": {"command": "x {job}"}, "method": "../x"}, "a method is called by letters"),
        ({"trainer": {}}, "unknown method 'somebodys_other'"),
    ],
)
def test_what_cannot_work_is_refused(changes, message):
    with pytest.raises(UserError, match=message):
        config.trial({**TINY, "method": "somebodys_other", **changes})


def test_a_stopped_command_goes_on_after_its_last_epoch(tmp_path):
    body = """
    state = Path(job["work"]) / "state"
    first = 0 if job["done"] is None else job["done"] + 1
    for epoch in range(first, job["settings"]["epochs"] + 1):
        with (Path(sys.argv[1]).parents[2] / "trained.txt").open("a") as file:
            file.write(f"{epoch} ")
        write(epoch, flat + epoch, 4 if epoch else 0)
        if epoch == 1 and job["done"] is None and Path(sys.argv[1]).parents[2].name == "runs":
            time.sleep(600)
    """
    wanted = given(tmp_path, body)
    (tmp_path / "wanted.json").write_text(json.dumps(wanted))
    program = "import json, dmlplayground as dml; dml.train(json.load(open('wanted.json')), 'runs')"
    process = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path)
    trial = config.trial(wanted)
    stream = tmp_path / "runs" / trial.id / "epochs.jsonl"
    deadline = time.monotonic() + 120
    while not (stream.exists() and len(stream.read_text().splitlines()) == 2) and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(0.5)  # the checkpoint comes after the stream
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.5)
    left = [line for line in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path / "mine.py") in _text(line)]
    assert left == []  # the command does not outlive the program that started it
    record = dml.train(wanted, tmp_path / "runs")
    assert record.status == "finished"
    assert (tmp_path / "runs" / "trained.txt").read_text() == "0 1 2 "
    whole = dml.train(wanted, tmp_path / "again")
    assert [entry["metrics"] for entry in whole.epochs] == [entry["metrics"] for entry in record.epochs]


def _text(path: Path) -> str:
    try:
        return path.read_text().replace("\0", " ")
    except OSError:
        return ""


def test_another_script_is_another_trial_and_a_resumed_one_is_refused(tmp_path):
    first = config.trial(given(tmp_path, HONEST))
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    again = config.trial({**given(moved, HONEST), "trainer": first.mapping()["trainer"]})
    assert again.id == first.id
    config.trial(first)
    (tmp_path / "mine.py").write_text("raise SystemExit")
    assert config.trial(given(tmp_path, "pass")).id != first.id
    with pytest.raises(UserError, match=r"mine\.py has changed since the trial was made"):
        config.trial(first)


def test_thirty_lines_of_numpy(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    record = dml.train("examples/external/numpy_lda.yaml", tmp_path)
    assert record.results["last"]["metrics"]["R@1"] > 1.5 * record.results["untrained"]["metrics"]["R@1"]
    assert len((ROOT / "examples/external/numpy_lda.py").read_text().splitlines()) <= 40


@pytest.mark.slow
def test_a_pytorch_loop_comes_to_what_ours_comes_to(tmp_path, monkeypatch):
    pytest.importorskip("pytorch_metric_learning")
    monkeypatch.chdir(ROOT)
    wanted = config.read("examples/external/pytorch_contrastive.yaml")
    results = {}
    for command in (wanted["trainer"]["command"], None):
        trainer = {**wanted["trainer"], "command": command}
        runs = [dml.train({**wanted, "trainer": trainer, "seed": seed}, tmp_path) for seed in range(3)]
        results[command is None] = [run.results["last"]["metrics"]["R@1"] for run in runs]
        untrained = [run.results["untrained"]["metrics"]["R@1"] for run in runs]
        assert statistics.mean(results[command is None]) > statistics.mean(untrained) + 0.03
    noise = 3 * (sum(statistics.variance(runs) / 3 for runs in results.values()) ** 0.5 + 0.005)
    assert abs(statistics.mean(results[True]) - statistics.mean(results[False])) < noise


def test_what_a_command_trained_has_no_weights_of_ours(tmp_path):
    record = dml.train(given(tmp_path, HONEST), tmp_path / "runs")
    with pytest.raises(UserError, match="was trained by a command, which keeps its weights to itself"):
        dml.load(tmp_path / "runs" / record.id)


def test_a_trial_that_was_stopped_after_its_last_epoch_is_finished(tmp_path, monkeypatch):
    from dmlplayground.trial.training.external import ExternalRun

    def stop(self, unit, states, which, keep=ExternalRun._keep):
        keep(self, unit, states, which)
        if which == "last":
            raise KeyboardInterrupt

    changed = given(tmp_path, HONEST)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ExternalRun, "_keep", stop)
        dml.train(changed, tmp_path / "runs")
    (folder,) = (tmp_path / "runs").glob("somebodys-*")
    next(folder.glob("*.last.npz")).unlink()
    record = dml.train(changed, tmp_path / "runs")
    assert record.status == "finished" and [entry["epoch"] for entry in record.epochs] == [0, 1, 2]
    assert record.results["last"]["metrics"] == record.epochs[-1]["metrics"]
