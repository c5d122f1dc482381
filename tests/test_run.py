"""The one loop: epochs, choices, records, ensembles and folds; and the same numbers whatever happens on the way."""

import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sweeps_fixture import SMALL

import dmlplayground as dml
from dmlplayground import config, samplers
from dmlplayground.base import array_files, files
from dmlplayground.base.errors import UserError
from dmlplayground.trial.store import CHECKPOINT, locks, records, stream, trained_weights
from dmlplayground.trial.training import feed, run
from dmlplayground.trial.training.progress import Progress
from dmlplayground.trial.training.run import TrialFailed

TINY = {
    **SMALL,
    "method": "npairs",
    "iterations": 3,
    "epochs": 3,
    "optimizer": {"lr": 1e-3},
    "schedule": {"factor": 0.5, "steps": [3]},
}


CLUSTERED = {**TINY, "evaluation": {"clustering": True}}


def tiny(**changes):
    return config.merge(TINY, config.expand(changes))


def numbers(record):
    """A record's entries without the times."""
    return [{key: value for key, value in entry.items() if "seconds" not in key} for entry in record.epochs]


def test_a_trial_from_start_to_end(tmp_path):
    record = dml.train(CLUSTERED, tmp_path)
    folder = tmp_path / record.id
    assert record.status == "finished"
    assert [entry["epoch"] for entry in record.epochs] == [0, 1, 2, 3]
    assert [entry["learning_rate"] for entry in record.epochs[1:]] == [1e-3, 1e-3, 5e-4]
    assert all(
        {"loss", "health", "metrics", "kmeans", "seconds"} <= set(entry) for entry in record.epochs[1:]
    )
    assert set(record.epochs[1]["health"]) == {
        "positive_distance", "negative_distance", "active_share", "embedding_norm", "gradient_norm",
    }  # fmt: skip
    best = max(record.epochs[1:], key=lambda entry: entry["metrics"]["R@1"])
    assert record.results["best"]["epoch"] == best["epoch"]
    assert record.results["best"]["metrics"] == best["metrics"]
    assert record.results["last"]["metrics"] == record.epochs[-1]["metrics"]
    assert record.results["untrained"]["metrics"] == record.epochs[0]["metrics"]
    assert records.Record.load(folder / records.RECORD) == record
    assert stream.read(folder) == record.epochs
    assert not (folder / CHECKPOINT).exists()


def test_the_weights_kept_give_the_metrics_recorded(tmp_path):

    record = dml.train(CLUSTERED, tmp_path)
    for which in ("best", "last"):
        expected = record.results[which]["metrics"]
        assert dml.evaluate(tmp_path / record.id, which=which) == expected
        some = dml.evaluate(tmp_path / record.id, which=which, clustering=False)
        assert some == {name: expected[name] for name in some} != expected


def test_a_trial_computes_the_metrics_it_asks_for(tmp_path):
    asked = {
        "metrics": ["P@2", "R@K", "mAP@3", "rho_spectrum@2", "density_ratio"],
        "ks": [10],
        "headline": "MAP@R",
        "intervals": "normal",
        "training_metrics": ["rho_spectrum@2", "R@K"],
        "training_every": 2,
    }
    record = dml.train(tiny(evaluation=asked), tmp_path)
    names = ["MAP@R", "P@2", "R@10", "mAP@3", "rho_spectrum@2", "density_ratio"]
    assert [list(entry["metrics"]) for entry in record.epochs] == [names] * 4
    best = max(record.epochs[1:], key=lambda entry: entry["metrics"]["MAP@R"])
    assert record.results["best"]["epoch"] == best["epoch"]
    for entry in record.epochs:
        assert set(entry["intervals"]) == {"MAP@R", "P@2", "R@10", "mAP@3"}
        low, high = entry["intervals"]["MAP@R"]
        assert low < entry["metrics"]["MAP@R"] < high
    measured = {entry["epoch"]: entry["training"] for entry in record.epochs if "training" in entry}
    assert list(measured) == [0, 2, 3]  # the last is always measured
    assert all(set(values) == {"rho_spectrum@2", "R@10"} for values in measured.values())
    assert measured[3]["rho_spectrum@2"] != record.epochs[3]["metrics"]["rho_spectrum@2"]


def test_the_docstring_of_a_record_names_what_epochs_hold(tmp_path):
    asked = {"intervals": "normal", "training_metrics": ["R@K"], "clustering": True}
    record = dml.train(tiny(evaluation=asked), tmp_path)
    named = set(re.findall(r"``(\w+)``", records.Record.__doc__))
    held = {key for entry in record.epochs for key in entry}
    assert held <= named and {"intervals", "kmeans", "training", "member"} <= held
    assert named <= held | {*vars(record), *record.results, *record.cost, "paper", "training", "untouched"}


def test_a_criterion_that_is_better_when_lower_chooses_the_lowest(tmp_path):
    record = dml.train(tiny(evaluation={"metrics": ["rho_spectrum@2"]}), tmp_path)
    best = min(record.epochs[1:], key=lambda entry: entry["metrics"]["rho_spectrum@2"])
    assert record.results["best"]["epoch"] == best["epoch"]


def test_what_is_infinite_is_null_in_a_record(tmp_path, monkeypatch):
    from dmlplayground.trial.training import models

    monkeypatch.setattr(models, "embed", lambda learners, dataset, *given: np.zeros((len(dataset.labels), 8)))
    chosen = {"metrics": ["R@1", "rho_spectrum@2"], "headline": "rho_spectrum@2"}
    record = dml.train(tiny(epochs=2, evaluation=chosen), tmp_path)
    assert record.results["last"]["metrics"]["rho_spectrum@2"] is None
    assert record.results["best"]["epoch"] == 1


def test_folds_join_in_an_evaluation_as_they_did_in_the_record(tmp_path):

    record = dml.train(tiny(epochs=1, batch_size=4, protocol={"name": "validated", "folds": 2}), tmp_path)
    scores = dml.evaluate(tmp_path / record.id, clustering=False)
    expected = record.results["joined"]["metrics"]
    assert scores == {name: expected[name] for name in scores}


@pytest.mark.parametrize(
    "changes",
    [{}, {"method": "dreml", "embed_dim": 4, "ensemble": {"members": 2}}, {"evaluation": {"every": 2}}],
    ids=["plain", "ensemble", "every-other-epoch"],
)
def test_scoring_beside_the_next_epoch_changes_nothing(tmp_path, changes):
    trial = config.trial(tiny(**changes))
    for name, overlap in {"after": False, "beside": True}.items():
        with locks.hold(tmp_path / name) as held:
            run.Run(trial, held, 1, Progress(quiet=True), overlap).execute()
    the_same(tmp_path / "after", tmp_path / "beside")


def test_what_goes_wrong_in_scoring_beside_training_fails_the_trial(tmp_path, monkeypatch):
    with locks.hold(tmp_path) as held:
        started = run.Run(config.trial(TINY), held, 1, Progress(quiet=True), overlap=True)
        monkeypatch.setattr(started, "_choose", lambda *given: 1 / 0)
        with pytest.raises(TrialFailed, match="division by zero"):
            started.execute()
    assert records.Record.load(tmp_path / records.RECORD).status == "failed"


def test_a_finished_trial_is_never_run_again(tmp_path):
    record = dml.train(TINY, tmp_path)
    before = (tmp_path / record.id / records.RECORD).stat().st_mtime_ns
    assert dml.train(TINY, tmp_path) == record
    assert (tmp_path / record.id / records.RECORD).stat().st_mtime_ns == before


def test_the_number_of_threads_changes_nothing(tmp_path):
    given = tiny(transform="paper", sampler={"same_image": 0.5})
    runs = [dml.train(given, tmp_path / str(threads), threads=threads) for threads in (0, 1, 3)]
    assert numbers(runs[0]) == numbers(runs[1]) == numbers(runs[2])


def test_seeds_differ(tmp_path):
    first, second = (dml.train(tiny(seed=seed, epochs=1), tmp_path) for seed in (0, 1))
    assert numbers(first) != numbers(second)


def test_the_untrained_network_can_be_measured_alone(tmp_path):
    record = dml.train(tiny(epochs=0), tmp_path)
    assert record.results["best"]["metrics"] == record.results["untrained"]["metrics"]


def test_classes_drawn_by_their_proxies(tmp_path):
    record = dml.train(tiny(method="proxy_nca", sampler={"name": "near_proxies", "per_class": 3}), tmp_path)
    assert record.status == "finished"
    with pytest.raises(UserError, match="npairs has none"):
        dml.train(tiny(sampler={"name": "near_proxies", "per_class": 3}), tmp_path)


def test_evaluation_every_few_epochs_and_after_the_last(tmp_path):
    record = dml.train(tiny(epochs=5, evaluation={"every": 3}), tmp_path)
    assert [entry["epoch"] for entry in record.epochs if "metrics" in entry] == [0, 3, 5]


def test_several_batches_a_step(tmp_path):
    record = dml.train(tiny(epochs=1, accumulate=2), tmp_path)
    assert record.epochs[1]["steps"] == 3


def test_a_loss_that_is_not_finite_fails_the_trial_and_names_the_step(tmp_path):
    given = tiny(optimizer={"name": "sgd", "lr": 1e20, "momentum": 0.0}, epochs=1)
    with pytest.raises(TrialFailed, match=r"the loss is (nan|inf) at step \d+ of epoch 1") as caught:
        dml.train(given, tmp_path)
    record = records.Record.load(tmp_path / config.trial(given).id / records.RECORD)
    assert record == caught.value.record
    assert record.status == "failed"
    assert "Diverged" in record.error


def test_collapse_is_told(tmp_path, capsys):
    """With a head of zeros every embedding is the same point."""
    dml.train(tiny(epochs=1, head={"init_scale": 1e-30}, optimizer={"lr": 0.0}), tmp_path)
    assert "the embeddings have collapsed" in capsys.readouterr().err


def test_too_many_pairs_for_the_data_is_told_before_anything_is_written(tmp_path):
    with pytest.raises(UserError, match="needs 10 classes, but the training split has 8"):
        dml.train(tiny(batch_size=20), tmp_path / "store")
    assert not (tmp_path / "store").exists()


# --- ensembles and folds ---------------------------------------------------------------------------------------------


def test_an_ensemble_grows_member_by_member(tmp_path):
    record = dml.train(tiny(ensemble={"members": 3}, epochs=2, evaluation={"every": 2}), tmp_path)
    assert [(entry["member"], entry["epoch"]) for entry in record.epochs] == [
        (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2),
    ]  # fmt: skip
    assert len(record.results["last"]["weights"]) == 3
    from dmlplayground.trial.training import models

    folder = tmp_path / record.id
    learners = [models.load(folder / name) for name in record.results["last"]["weights"]]
    dataset, transform = models.data_of(learners[0].trial, "test")
    embeddings = models.embed(learners, dataset, transform)
    assert embeddings.shape == (len(dataset), 24)
    scores = models.score(learners[0].trial, embeddings, dataset)
    assert scores["metrics"] == record.results["last"]["metrics"]


def test_members_side_by_side(tmp_path):
    record = dml.train(tiny(ensemble={"members": 2, "order": "parallel"}, epochs=2), tmp_path)
    assert [(entry["member"], entry["epoch"]) for entry in record.epochs] == [(0, 0), (0, 1), (0, 2)]
    assert len(record.results["best"]["weights"]) == 2


def test_the_validated_protocol_chooses_without_the_test_classes(tmp_path):
    given = tiny(protocol={"name": "validated", "folds": 2}, batch_size=4, epochs=2)
    record = dml.train(given, tmp_path)
    assert {entry["measured_on"] for entry in record.epochs} == {"validation"}
    assert [entry["fold"] for entry in record.epochs] == [0, 0, 0, 1, 1, 1]
    assert len(record.results["separate"]) == 2
    assert {entry["measured_on"] for entry in record.results["separate"]} == {"test"}
    for fold, chosen in enumerate(record.results["separate"]):
        tried = [entry for entry in record.epochs if entry["fold"] == fold and entry["epoch"]]
        assert chosen["validation"]["MAP@R"] == max(entry["metrics"]["MAP@R"] for entry in tried)
    assert record.results["joined"]["measured_on"] == "test"


def test_folds_are_class_disjoint_and_cover_the_pool():
    from dmlplayground.trial.training import folds

    plan = folds.divide(config.trial(tiny(protocol={"name": "validated", "folds": 4}, batch_size=4)))
    held_out = [set(fold.monitor.class_names) for fold in plan.folds]
    for fold, names in zip(plan.folds, held_out):
        assert not names & set(fold.train.class_names)
        assert not (names | set(fold.train.class_names)) & set(plan.test.class_names)
        assert len(names) + fold.train.num_classes == 8
    assert set().union(*held_out) == {name for fold in plan.folds for name in fold.train.class_names}
    assert sum(map(len, held_out)) == 8


def test_patience_ends_a_fold_early(tmp_path):
    given = tiny(protocol={"name": "validated", "folds": 2, "patience": 1}, batch_size=4, epochs=6)
    record = dml.train({**given, "optimizer": {"lr": 0.0}}, tmp_path)
    assert max(entry["epoch"] for entry in record.epochs) < 6


# --- stopping and going on -------------------------------------------------------------------------------------------


def start(given: dict, store: Path, **options) -> subprocess.Popen:
    path = store.with_suffix(".json")
    files.write_json(path, given)
    command = [sys.executable, "-m", "dmlplayground", "train", str(path), "--store", str(store), "--quiet"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def wait_for_epochs(folder: Path, count: int, process: subprocess.Popen) -> None:
    while process.poll() is None and len(stream.read(folder)) < count:
        time.sleep(0.005)


def the_same(first: Path, second: Path) -> None:
    one, other = (records.Record.load(folder / records.RECORD) for folder in (first, second))
    assert one.status == other.status == "finished"
    assert numbers(one) == numbers(other)
    for name in one.results["best"]["weights"] + one.results["last"]["weights"]:
        (_, weights), (_, others) = array_files.read(first / name), array_files.read(second / name)
        assert set(weights) == set(others)
        assert all(np.array_equal(weights[key], others[key]) for key in weights)


@pytest.mark.slow
def test_killed_and_started_again_gives_the_very_numbers(tmp_path):
    given = tiny(epochs=4, method="proxy_nca", head={"dropout": 0.3})
    trial = config.trial(given)
    dml.train(given, tmp_path / "calm")
    process = start(given, tmp_path / "store")
    wait_for_epochs(tmp_path / "store" / trial.id, 3, process)
    process.kill()
    process.wait()
    dml.train(given, tmp_path / "store")
    the_same(tmp_path / "calm" / trial.id, tmp_path / "store" / trial.id)


def interrupted_at(monkeypatch, step: int) -> None:
    """From now on, Ctrl-C after so many steps."""
    seen, steps = feed.Feed.seen, []

    def stop(self, outcomes):
        seen(self, outcomes)
        steps.append(1)
        if len(steps) == step:
            raise KeyboardInterrupt

    monkeypatch.setattr(feed.Feed, "seen", stop)


LOOKING = {name: samplers.get(name) for name in samplers.names() if samplers.get(name).needs}


@pytest.mark.parametrize(
    ("name", "refresh"),
    [
        pytest.param(
            name, refresh, marks=() if name in ("near_proxies", "greedy_coreset") else pytest.mark.slow
        )
        for name, record in LOOKING.items()
        for refresh in (["steps", "epochs"] if "refresh" in record.options else [None])
    ],
)
def test_a_sampler_that_looks_sees_the_same_after_a_stop(tmp_path, monkeypatch, name, refresh):
    options = {"refresh": refresh} if refresh else {}
    given = tiny(
        method="proxy_nca", sampler={"name": name, "per_class": 2, **options}, transform="paper", accumulate=2
    )
    trial = config.trial(given)
    dml.train(given, tmp_path / "calm", threads=0)
    with monkeypatch.context() as patch:
        interrupted_at(patch, step=8)  # of three epochs of three
        with pytest.raises(KeyboardInterrupt):
            dml.train(given, tmp_path / "store")
    arrays = run.read_checkpoint(tmp_path / "store" / trial.id, trial.id)[1]
    remembered = [array for key, array in arrays.items() if key.endswith("/embeddings")]
    images = len(dml.data.load(**trial.data, split="train"))
    looks = "embeddings" in LOOKING[name].needs and refresh != "epochs"
    assert [array.shape for array in remembered] == ([(images, 8)] if looks else [])
    dml.train(given, tmp_path / "store", threads=2)
    the_same(tmp_path / "calm" / trial.id, tmp_path / "store" / trial.id)


KILLED = """
import os, signal, sys, threading
from dmlplayground.base import files
from dmlplayground.trial.training import feed, train

seen, steps, waiting = feed.Feed.seen, {}, threading.Event()

def stop(self, outcomes):
    "Train no further in the middle of the second epoch."
    seen(self, outcomes)
    steps[self] = steps.get(self, 0) + 1
    if steps[self] == 5:
        waiting.set()
        threading.Event().wait()

feed.Feed.seen = stop
for given in files.read_json(sys.argv[1]):
    waiting.clear()
    threading.Thread(target=train, args=(given, sys.argv[2]), daemon=True).start()
    waiting.wait()
os.kill(os.getpid(), signal.SIGKILL)
"""


def of_sampler(name: str) -> dict:
    blocks = {"per_class": 2} if "per_class" in samplers.get(name).options else {}
    episodes = {"supports": 1, "queries": 1} if name == "episodes" else {}
    return tiny(
        method="proxy_nca", sampler={"name": name, **blocks, **episodes}, transform="paper",
        evaluation={"clustering": False, "every": 3},
    )  # fmt: skip


@pytest.mark.slow
def test_killed_with_each_sampler(tmp_path):
    """One process holds a trial of every sampler, each in the middle of an epoch, when it is killed."""
    given = {name: of_sampler(name) for name in samplers.names()}
    files.write_json(tmp_path / "given.json", list(given.values()))
    command = [sys.executable, "-c", KILLED, str(tmp_path / "given.json"), str(tmp_path / "store")]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    for one in given.values():
        trial = config.trial(one)
        folder = tmp_path / "store" / trial.id
        assert [entry["epoch"] for entry in stream.read(folder)] == [0, 1] and list(folder.glob("lock-*"))
        dml.train(one, tmp_path / "store", threads=2)
        dml.train(one, tmp_path / "calm", threads=0)
        the_same(tmp_path / "calm" / trial.id, folder)


def test_the_memory_holds_what_the_last_step_with_an_image_gave(tmp_path, monkeypatch):
    expected: dict[int, np.ndarray] = {}
    plans = []
    seen, asked = feed.Feed.seen, feed.Feed.embeddings

    def note(self, steps):
        for rows, embeddings in zip(self._rows, steps[0].embeddings):
            expected.update(zip(rows.tolist(), embeddings.asnumpy().copy()))
        seen(self, steps)

    def look(self):
        remembered = asked(self)
        plans.append(remembered.copy())
        assert all(np.array_equal(remembered[row], value) for row, value in expected.items())
        return remembered

    monkeypatch.setattr(feed.Feed, "seen", note)
    monkeypatch.setattr(feed.Feed, "embeddings", look)
    record = dml.train(tiny(sampler="greedy_coreset", epochs=4), tmp_path)
    assert record.status == "finished" and len(plans) == 4 and expected
    untouched = sorted(set(range(len(plans[0]))) - set(expected))
    assert np.array_equal(plans[0][untouched], plans[-1][untouched]) and not np.array_equal(
        plans[0], plans[-1]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"method": "margin", "batch_size": 10, "transform": "paper"},
        {"method": "proxy_softmax", "embed_dim": 16, "frozen_epochs": 2},
        {"method": "dreml", "embed_dim": 4, "ensemble": {"members": 3}, "epochs": 10},
        {"protocol": {"name": "validated", "folds": 2}, "batch_size": 4},
    ],
    ids=["sampling", "dropout-and-warm-up", "ensemble", "folds"],
)
def test_killed_at_random_moments_many_times(tmp_path, changes):
    given = tiny(**{"epochs": 40, **changes})  # so many that none ends before it was killed often enough
    folder = tmp_path / "store" / config.trial(given).id
    dml.train(given, tmp_path / "calm")
    rng, kills = random.Random(str(changes)), 0
    while kills < 4:
        process = start(given, tmp_path / "store")
        known = len((folder / stream.FILE).read_text().splitlines()) if (folder / stream.FILE).exists() else 0
        wait_for_epochs(folder, known + rng.randint(0, 2), process)
        time.sleep(rng.uniform(0, 0.3))
        if process.poll() is not None:
            break
        process.kill()
        process.wait()
        kills += 1
    assert kills >= 3
    dml.train(given, tmp_path / "store")
    calm = records.Record.load(tmp_path / "calm" / folder.name / records.RECORD)
    again = records.Record.load(folder / records.RECORD)
    assert numbers(calm) == numbers(again)
    assert json.dumps(strip(calm.results), sort_keys=True) == json.dumps(strip(again.results), sort_keys=True)


def strip(results):
    """Results without the times in them."""
    if isinstance(results, dict):
        return {key: strip(value) for key, value in results.items() if "seconds" not in key}
    return [strip(value) for value in results] if isinstance(results, list) else results


SLEEPER = """
import importlib.util, sys
from dmlplayground.trial.store import locks
from dmlplayground.trial.training import train
locks.BEAT = float(sys.argv[3])
try:
    train(sys.argv[1], sys.argv[2], log=["tensorboard"] if importlib.util.find_spec("tensorboard") else [])
except locks.Busy as busy:
    sys.exit(str(busy))
"""


@pytest.mark.slow
@pytest.mark.parametrize("beat", [0.05, 60], ids=["told-by-its-keeper", "told-when-it-writes"])
@pytest.mark.parametrize("ending", ["finished", "interrupted"])
def test_a_process_that_slept_writes_nothing_once_another_has_its_trial(tmp_path, monkeypatch, beat, ending):
    """Stopped as by SIGSTOP or a closed laptop; meanwhile the trial is finished, or gone on with and stopped, elsewhere."""
    given = tiny(epochs=40)
    folder = tmp_path / "store" / config.trial(given).id
    files.write_json(tmp_path / "trial.json", given)
    command = [sys.executable, "-c", SLEEPER, str(tmp_path / "trial.json"), str(folder.parent), str(beat)]
    sleeper = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for_epochs(folder, 2, sleeper)
    sleeper.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(locks, "STALE", 0.3)
    watch = locks.Watch()
    while watch.look(folder) != "free":
        time.sleep(0.05)
    if ending == "finished":
        monkeypatch.setattr(locks, "BEAT", 0.1)
        dml.train(given, tmp_path / "store")
    else:
        with locks.hold(folder) as held, held.writing() as through:
            records.Record(folder.name, config.trial(given).mapping(), "interrupted").save(folder, through)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    sleeper.send_signal(signal.SIGCONT)
    _, told = sleeper.communicate(timeout=60)
    assert sleeper.returncode == 1
    assert "was taken for dead, and another process continues with it" in told.splitlines()[-1]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert records.find(folder).status == ending


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.slow),
    ],
)
def test_asked_to_stop_it_stops_within_seconds_and_says_what_is_kept(tmp_path, number, code):
    given = tiny(epochs=200)
    folder = tmp_path / "store" / config.trial(given).id
    process = start(given, tmp_path / "store")
    wait_for_epochs(folder, 3, process)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    conditions, said = errors.strip().split("\n\n")  # what is trained is told first, and then one line
    assert conditions.startswith("data ") and len(said.splitlines()) == 1
    assert "kept" in said
    assert "same command" in said
    assert records.Record.load(folder / records.RECORD).status == "interrupted"
    assert (folder / CHECKPOINT).exists()
    assert not list(folder.glob("lock-*"))


# --- files that are damaged, or another trial's ----------------------------------------------------------------------


MEMBERS = tiny(ensemble={"members": 2}, epochs=2, iterations=1)
MEMBERS_ID = config.trial(MEMBERS).id


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    store = tmp_path_factory.mktemp("calm")
    dml.train(MEMBERS, store)
    return store / MEMBERS_ID


@pytest.fixture(scope="module")
def stopped_once(tmp_path_factory):
    """The folder of a trial of two members that was stopped after the first epoch of its second."""
    store, checkpoint = tmp_path_factory.mktemp("stopped"), run.Run._checkpoint

    def stop_then(self, unit, epoch, states):
        checkpoint(self, unit, epoch, states)
        if (unit.number, epoch) == (1, 1):
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(run.Run, "_checkpoint", stop_then)
        dml.train(MEMBERS, store)
    return store / MEMBERS_ID


@pytest.fixture
def stopped(stopped_once, tmp_path):
    return Path(shutil.copytree(stopped_once, tmp_path / MEMBERS_ID))


def test_a_stopped_ensemble_goes_on(stopped, calm, capsys):
    dml.train(MEMBERS, stopped.parent)
    the_same(calm, stopped)
    assert capsys.readouterr().err == ""


def cut(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 4
    path.write_bytes(content)


def of_another_trial(path):
    if path.name == CHECKPOINT:
        header, arrays = run.read_checkpoint(path.parent, MEMBERS_ID)
        array_files.write(path, {**header, "trial": "another"}, arrays)
    else:
        trained_weights.write(path, trained_weights.read(path)._replace(trial="another"), path.parent)


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(b"PK not really"),
    "array": lambda path: np.save(path.open("wb"), np.zeros(3)),
    "cut at a third": lambda path: cut(path, 1 / 3),
    "cut at the end": lambda path: cut(path, 0.999),
    "bit in the middle": lambda path: flip(path, 0.5),
    "bit near the end": lambda path: flip(path, 0.9),
    "of another trial": of_another_trial,
}


@pytest.mark.parametrize(
    ("name", "damage"),
    [(CHECKPOINT, damage) for damage in DAMAGE]
    + [("fold0-member0.last.npz", damage) for damage in ("empty", "bit in the middle", "of another trial")],
)
def test_what_cannot_be_gone_on_from_is_set_aside_and_the_trial_begins_anew(
    stopped, calm, capsys, name, damage
):
    DAMAGE[damage](stopped / name)
    dml.train(MEMBERS, stopped.parent)
    the_same(calm, stopped)
    [line] = capsys.readouterr().err.splitlines()
    assert f"{MEMBERS_ID}/{name}" in line
    assert line.endswith("The trial starts over; that file is now checkpoint.npz.damaged.")
    assert (stopped / run.DAMAGED).exists()


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_or_foreign_weights_are_not_scored(calm, tmp_path, damage):

    folder = Path(shutil.copytree(calm, tmp_path / MEMBERS_ID))
    DAMAGE[damage](folder / "fold0-member1.last.npz")
    with pytest.raises(UserError, match=r"fold0-member1\.last\.npz"):
        dml.evaluate(folder, which="last", clustering=False)


def test_a_checkpoint_that_does_not_say_whose_it_is_is_refused(tmp_path):
    keys = ("unit", "epoch", "epochs", "chosen", "started", "seconds")
    array_files.write(tmp_path / CHECKPOINT, dict.fromkeys(keys, 0), {})
    with pytest.raises(UserError, match="of another trial, which it does not name"):
        run.read_checkpoint(tmp_path, MEMBERS_ID)


def test_a_result_that_is_a_list_has_no_weights(calm, tmp_path):

    folder = Path(shutil.copytree(calm, tmp_path / MEMBERS_ID))
    content = files.read_json(folder / records.RECORD)
    content["results"]["best"] = [content["results"]["best"]]
    del content["checksum"]  # as in records of earlier versions
    files.write_json(folder / records.RECORD, content)
    with pytest.raises(UserError, match="does not say which weights are the best ones"):
        dml.evaluate(folder)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "kept.json"
    files.write_json(path, {"old": 1})
    with pytest.raises(ValueError), files.replacing(path) as file:
        file.write("half of the new")
        raise ValueError
    assert files.read_json(path) == {"old": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]
