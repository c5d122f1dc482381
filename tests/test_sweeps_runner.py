"""The runner: what it starts, restarts, leaves to others and gives up, with processes that do as they are told; and, in
the slow tests, real ones that are killed."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections import namedtuple
from pathlib import Path

import pytest
from sweeps_fixture import SMALL, experiment, numbers, sweep

from dmlplayground import config, data
from dmlplayground.base import files, memory
from dmlplayground.base.errors import UserError
from dmlplayground.sweeps import display, grid, job, local, runner, worker
from dmlplayground.sweeps.chosen import Chosen
from dmlplayground.sweeps.job import SweepTrial
from dmlplayground.sweeps.worker import Ending
from dmlplayground.trial.store import locks, manifest, records, stream
from dmlplayground.trial.store.records import Record

BASE = {
    "method": "npairs",
    **SMALL,
    "iterations": 2,
    "epochs": 3,
}
TRIALS = [config.trial({**BASE, "seed": seed}) for seed in range(4)]
KILLED = Ending(-9, "was ended by signal 9 (SIGKILL); the machine may have run out of memory")


class Script:
    """A process that writes what it is told to, one step a look, and ends as it is told."""

    def __init__(self, trial, folder: Path, steps: list):
        self.trial, self.folder, self.steps, self.stopped = trial, folder, list(steps), False

    def poll(self):
        if self.stopped:
            return Ending(worker.STOPPED, "stopped")
        step = self.steps.pop(0) if self.steps else "finish"
        if step == "epoch":
            done = len(stream.read(self.folder))
            add_epoch(self.folder, {"fold": 0, "member": 0, "epoch": done, "loss": 0.5})
            return None
        if step == "finish":
            save(self.trial, self.folder, "finished")
            return Ending(0, "ended with code 0")
        if step == "fail":
            save(self.trial, self.folder, "failed", error="Traceback\nDiverged: the loss is nan")
            return Ending(worker.FAILED, "ended with code 1")
        return step

    def stop(self):
        self.stopped = True


def add_epoch(folder, entry):
    with (folder / stream.FILE).open("a") as file:
        file.write(json.dumps(entry) + "\n")


def save(trial, folder, state, error=None):
    results = {"best": {"metrics": {"R@1": 0.5}}, "last": {"metrics": {"R@1": 0.5}}}
    Record(trial.id, trial.mapping(), status=state, results=results, error=error).save(folder)


class Scripted:
    """An executor of such processes; ``scripts`` holds a list of steps for each start of each trial."""

    slots = 2

    def __init__(self, scripts=None):
        self.scripts = scripts or {}
        self.started, self.ends, self.most, self.open = [], 0, 0, 0

    def prepare(self, trials, workers):
        self.prepared = (list(trials), workers)
        return []

    def start(self, trial, folder):
        self.started.append(trial.seed)
        self.open += 1
        self.most = max(self.most, self.open)
        steps = self.scripts.get(trial.seed, [])
        return Script(trial, folder, steps.pop(0) if steps else [])

    def ended(self, process):
        self.open -= 1
        self.ends += 1

    def close(self, running):
        for process in running:
            process.stop()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(runner, "POLL", 0.001)
    monkeypatch.setattr(runner, "LOOK", 0.01)


def statuses(store):
    return {record.seed: record.status for record in records.load_store(store)}


def test_so_many_at_a_time_and_all_in_the_end(tmp_path, capsys):
    executor = Scripted({seed: [["epoch", "epoch"]] for seed in range(4)})
    runner.run(tmp_path, TRIALS, executor)
    assert executor.started == [0, 1, 2, 3]
    assert (executor.most, executor.open, executor.ends) == (2, 0, 4)
    assert set(statuses(tmp_path).values()) == {"finished"}
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert "R@1 50.00" in lines[0]
    assert "(4 of 4" in lines[3]


def test_a_failure_stops_nothing_and_is_run_again_only_when_asked(tmp_path, capsys):
    runner.run(tmp_path, TRIALS, Scripted({1: [["fail"]]}))
    assert statuses(tmp_path) == {0: "finished", 1: "failed", 2: "finished", 3: "finished"}
    assert "failed: Diverged: the loss is nan" in capsys.readouterr().out
    again = Scripted()
    runner.run(tmp_path, TRIALS, again, quiet=True)
    assert again.started == []
    runner.run(tmp_path, TRIALS, again, retry_failed=True)
    assert again.started == [1]
    assert "(4 of 4)" in capsys.readouterr().out  # with those that were done before
    assert set(statuses(tmp_path).values()) == {"finished"}


def test_what_fails_again_is_not_run_a_third_time(tmp_path):
    save(TRIALS[0], tmp_path / TRIALS[0].id, "failed", "earlier")
    executor = Scripted({0: [["fail"]]})
    runner.run(tmp_path, TRIALS[:1], executor, retry_failed=True, quiet=True)
    assert executor.started == [0]


def test_a_process_that_dies_goes_on_as_long_as_it_gets_anywhere(tmp_path):
    steps = [["epoch", "epoch", KILLED], ["epoch", KILLED], ["epoch", KILLED], ["epoch"]]
    executor = Scripted({0: steps})
    runner.run(tmp_path, TRIALS[:1], executor, quiet=True)
    assert executor.started == [0, 0, 0, 0]
    assert statuses(tmp_path) == {0: "finished"}


def test_one_that_dies_and_dies_is_given_up_with_its_last_words(tmp_path):
    executor = Scripted({0: [["epoch", "epoch", KILLED], [KILLED], [KILLED]]})
    folder = tmp_path / TRIALS[0].id
    folder.mkdir()
    (folder / worker.LOG).write_text("first\nterminate called\n\n")
    runner.run(tmp_path, TRIALS[:2], executor, quiet=True)
    assert executor.started.count(0) == 2
    record = records.find(folder)
    assert record.status == "failed"
    assert "SIGKILL" in record.error
    assert "memory" in record.error
    assert record.error.endswith("terminate called")
    assert statuses(tmp_path)[1] == "finished"
    assert locks.current(folder) is None


def test_bad_input_is_not_tried_twice(tmp_path):
    executor = Scripted({0: [[Ending(worker.REFUSED, "ended with code 2")]]})
    runner.run(tmp_path, TRIALS[:1], executor, quiet=True)
    assert executor.started == [0]
    assert statuses(tmp_path) == {0: "failed"}


def test_a_trial_of_another_runner_is_left_to_it(tmp_path, monkeypatch):
    """It is locked and finishes; meanwhile the others are done, and it is not run again."""
    looks = []

    def look(self, folder):
        if folder.name != TRIALS[0].id:
            return "free"
        looks.append(len(executor.started))
        if len(looks) == 3:
            save(TRIALS[0], folder, "finished")
        return "busy"

    monkeypatch.setattr(locks.Watch, "look", look)
    executor = Scripted({seed: [["epoch"] * 3] for seed in range(4)})
    runner.run(tmp_path, TRIALS, executor, quiet=True)
    assert sorted(executor.started) == [1, 2, 3]  # in company the order is its own
    assert statuses(tmp_path)[0] == "finished"


def test_a_trial_whose_other_runner_dies_is_taken_over(tmp_path, monkeypatch):
    looks = []

    def look(self, folder):
        looks.append(folder.name)
        return "busy" if folder.name == TRIALS[0].id and looks.count(TRIALS[0].id) < 3 else "free"

    monkeypatch.setattr(locks.Watch, "look", look)
    executor = Scripted()
    runner.run(tmp_path, TRIALS[:2], executor, quiet=True)
    assert executor.started == [1, 0]


def test_two_that_start_a_trial_at_the_same_moment(tmp_path):
    """The process found it locked: we wait for the other, and would run it if that came to nothing."""
    executor = Scripted({0: [[Ending(worker.BUSY, "ended with code 75")], ["epoch"]]})
    runner.run(tmp_path, TRIALS[:1], executor, quiet=True)
    assert executor.started == [0, 0]


def test_stopping_stops_what_runs(tmp_path, monkeypatch):
    executor = Scripted({0: [["epoch"] * 100]})
    monkeypatch.setattr(runner.Runner, "_show", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    closed = []
    monkeypatch.setattr(Scripted, "close", lambda self, running: closed.extend(running))
    with pytest.raises(KeyboardInterrupt):
        runner.run(tmp_path, TRIALS[:1], executor, quiet=True)
    assert [process.trial.seed for process in closed] == [0]


def test_a_disk_without_room(tmp_path, monkeypatch):
    """What runs may end; then it is said. Nothing is started that could not keep its checkpoint."""
    Usage = namedtuple("Usage", "free")
    room = [10**12, 10**12, 10**6]
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(room.pop(0) if len(room) > 1 else room[0]))
    executor = Scripted({0: [["epoch"] * 3]})
    with pytest.raises(
        UserError, match=r"1 MB left, too little for a trial\. Make room: .* the same command continues"
    ):
        runner.run(tmp_path, TRIALS, executor, workers=1, quiet=True)
    assert set(statuses(tmp_path).values()) == {"finished"}
    assert len(statuses(tmp_path)) < len(TRIALS)


def test_a_disk_that_fills_up_while_the_runner_writes(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_json", full)
    with pytest.raises(
        UserError, match="cannot be written or read: .*No space left.*run the same command again"
    ):
        runner.run(tmp_path, TRIALS, Scripted(), quiet=True)


def chosen(store, trials=TRIALS, part=False):
    return Chosen(grid.Experiment("x"), Path("x.yaml"), trials, store, part)


def test_a_store_that_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file is a file; a store is a folder"):
        chosen(tmp_path / "file").state()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{half a rec", "is not valid JSON"),
        ("[]", "it does not hold a mapping"),
        (json.dumps({"id": "x", "config": {}, "status": "done"}), "its status 'done' is not one of"),
        (json.dumps({"id": "x", "config": TRIALS[0].mapping(), "status": "failed"}), "of another trial, x"),
    ],
)
def test_a_record_that_cannot_be_used_is_named_and_the_others_run(tmp_path, capsys, content, reason):
    folder = tmp_path / TRIALS[2].id
    folder.mkdir()
    (folder / records.RECORD).write_text(content)
    executor = Scripted()
    runner.run(tmp_path, TRIALS, executor, quiet=True)
    assert sorted(executor.started) == [0, 1, 3]
    [line] = capsys.readouterr().err.splitlines()
    assert f"{TRIALS[2].id}/record.json" in line
    assert reason in line
    assert chosen(tmp_path).tally() == {"finished": 3, "unreadable": 1}
    assert (folder / records.RECORD).read_text() == content


def test_what_has_finished_is_seen_without_reading_all_of_it(tmp_path, monkeypatch):
    runner.run(tmp_path, TRIALS, Scripted(), quiet=True)
    monkeypatch.setattr(records, "find", None)
    again = Scripted()
    runner.run(tmp_path, TRIALS, again, quiet=True)
    assert again.started == [] and chosen(tmp_path).tally() == {"finished": 4}


def test_a_finished_record_that_is_damaged_is_found_when_it_is_read(tmp_path, capsys):
    runner.run(tmp_path, TRIALS, Scripted(), quiet=True)
    changed, short = (tmp_path / trial.id / records.RECORD for trial in TRIALS[:2])
    changed.write_text(changed.read_text().replace('"R@1": 0.5', '"R@1": 0.9'))
    short.write_text(short.read_text()[:-20])
    again = Scripted()
    runner.run(tmp_path, TRIALS, again, quiet=True)
    assert again.started == []
    assert chosen(tmp_path).tally() == {"finished": 3, "unreadable": 1}
    assert f"{short} is not valid JSON" in capsys.readouterr().err  # what is cut short is found at once
    assert len(records.load_store(tmp_path)) == 2
    assert f"{changed} is not the record of a trial, or is damaged" in capsys.readouterr().err


def test_damaged_lines_of_the_stream_are_not_read(tmp_path):
    one = SweepTrial(TRIALS[0], tmp_path)
    start, first = ('{"fold": 0, "member": 0, "epoch": ' + end for end in ("0}\n", "1"))
    (tmp_path / stream.FILE).write_text(start + first + ', "lo')
    one.look()
    assert [entry["epoch"] for entry in one.entries] == [0]
    (tmp_path / stream.FILE).write_text(start + first + ', "loss": 2}\n')
    one.look()
    known = one.entries
    assert [entry["epoch"] for entry in known] == [0, 1]
    one.look()
    assert one.entries is known
    assert one.epochs == 1
    bad = [
        "",
        "[]",
        "nonsense",
        "\0",
        '{"epoch": "1"}',
        '{"epoch": 1, "loss": NaN}',
        "[" * 9999,
        '{"epoch": 1}',
    ]
    wrong = (
        '"metrics": {"R@1": "high"}',
        '"metrics": [1]',
        '"fold": null',
        '"health": "good"',
        '"training": [1]',
    )
    bad += [f"{first}, {pair}}}" for pair in wrong]
    (tmp_path / stream.FILE).write_text("\n".join([*bad, '{"epoch": 2, "fold": 0, "member": 0}', ""]))
    assert [entry["epoch"] for entry in stream.read(tmp_path)] == [2]


def test_a_trial_whose_process_was_killed_is_not_running(tmp_path):
    folder = tmp_path / TRIALS[0].id
    save(TRIALS[0], folder, "running")
    assert records.find(folder).status == job.status(folder) == "interrupted"
    assert [record.status for record in records.load_store(tmp_path)] == ["interrupted"]
    with locks.hold(folder):
        assert job.status(folder) == "running"
    locks._create(folder, 1, {**locks._identity(), "born": "1"})
    assert job.status(folder) == "interrupted"


def test_what_a_killed_process_left_of_a_finished_trial_is_cleared_away(tmp_path):
    folder = tmp_path / TRIALS[0].id
    save(TRIALS[0], folder, "finished")
    locks._create(folder, 1, {**locks._identity(), "born": "1"})
    (folder / "lock-1.abc").mkdir()
    (folder / "lock-1.abc" / ".record.json.x.part").write_text("half")
    runner.run(tmp_path, TRIALS[:1], Scripted(), quiet=True)
    assert [path.name for path in folder.iterdir()] == [records.RECORD]


def test_in_company_runners_go_through_what_is_left_in_orders_of_their_own(tmp_path):
    orders = []
    for _ in range(3):
        one = runner.Runner(tmp_path, Scripted(), quiet=True)
        source = one._in_turn(list(range(100)))
        begun = [next(source), next(source)]
        one._leave(SweepTrial(TRIALS[0], tmp_path / TRIALS[0].id))
        orders.append([*begun, *source])
    assert all(order[:2] == [0, 1] and sorted(order) == list(range(100)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3


@pytest.mark.parametrize("meets", ["lock", "word", "result"])
def test_a_runner_that_meets_another_is_in_company(tmp_path, meets):
    """By its lock, by the word of its own process, and by what the other has finished."""
    folder = tmp_path / TRIALS[0].id
    one = runner.Runner(tmp_path, Scripted({0: [[Ending(worker.BUSY, "busy")]]}), quiet=True)
    one.count, one.total, one.done_before = 1, 1, 0
    if meets == "result":
        save(TRIALS[0], folder, "finished")
    with locks.hold(folder) if meets == "lock" else contextlib.nullcontext():
        one._fill(iter([SweepTrial(TRIALS[0], folder)]))
        assert one.company == (meets != "word")
        for job in list(one.running):
            one._look(job)
    assert one.company


# --- the machine and what is said ------------------------------------------------------------------------------------


def test_gpus_go_to_the_trials_in_turn(tmp_path, monkeypatch):
    given = []

    class Launched:
        free = False

        def __init__(self, folder, environment, log, gpus):
            self.gpus = gpus
            given.append(environment["CUDA_VISIBLE_DEVICES"])

        def poll(self):
            return None

        def finish(self):
            """Nothing to do."""

    monkeypatch.setattr(worker, "Worker", Launched)
    monkeypatch.setattr(local.Local, "gpus", ["0", "3", "5"])
    executor = local.Local()
    assert executor.slots == 3
    one, two = TRIALS[0], config.trial({**BASE, "devices": 2})
    first = executor.start(two, tmp_path)
    executor.start(one, tmp_path)
    executor.start(one, tmp_path)
    executor.ended(first)
    executor.start(two, tmp_path)
    executor.start(config.trial({**BASE, "device": "cpu"}), tmp_path)
    assert given[:3] == ["0,3", "5", "0"]
    assert given[3] == "3,0"  # free, and the first of two with one trial each
    assert given[4] == ""


def test_too_few_classes_are_told_with_the_data(monkeypatch):
    monkeypatch.setattr(local.Local, "gpus", [])
    with pytest.raises(UserError, match=r"cannot run.*needs 9 classes, but the training split has 8"):
        local.Local().prepare([config.trial({**BASE, "batch_size": 18}), TRIALS[0]], 1)


def test_too_little_memory_is_told_before_it_runs_out(monkeypatch):
    """Of two trials the larger needs more than there is."""
    small, large = TRIALS[0], config.trial({**BASE, "method": "proxy_nca", "batch_size": 4096})
    assert local.least_memory(small, 24, 24) < local.least_memory(large, 24, 24)
    monkeypatch.setattr(local, "available_memory", lambda gpus, workers: 10**8 // workers)
    monkeypatch.setattr(local.Local, "gpus", [])
    assert local.Local().prepare([small], 2) == []
    [warning] = local.Local().prepare([small, large], 2)
    assert warning.startswith(f"{large.id} needs 0.")
    assert "0.0 GB for each trial at a time" in warning


def test_memory_is_shared_by_the_trials_at_a_time():
    whole, half = local.available_memory([], 1), local.available_memory([], 2)
    assert 0 < half < whole
    assert whole == pytest.approx(2 * half, rel=0.2, abs=10**9)


def test_the_least_memory_is_near_what_was_measured():
    """A batch of 8 photographs through ResNet-50 was measured to take 1.0 GB beyond the process itself, 2 some 0.5 GB."""
    trial = config.trial(
        {"method": "proxy_nca", "data": "cub200", "backbone": {"name": "resnet50_v2"}, "batch_size": 8}
    )
    assert 0.7 < local.least_memory(trial, 224, 224) / 1006e6 < 1.2


def test_the_live_lines():
    entries = [
        {"epoch": 0, "metrics": {"R@1": 0.1}},
        {"epoch": 1, "loss": 0.25, "metrics": {"R@1": 0.2}},
        {"epoch": 2, "loss": 0.125},
    ]
    assert display.trial("name", entries, 2, 6, 3725) == "  name  epoch 2/6  loss 0.125  R@1 20.00  1:02:05"
    assert display.trial("name", [], 0, 6, 5) == "  name  epoch 0/6  0:05"


def test_commands_for_a_scheduler(tmp_path):
    save(TRIALS[0], tmp_path / TRIALS[0].id, "finished")
    given = chosen(tmp_path, TRIALS[:2]).commands()
    folder = tmp_path.resolve() / TRIALS[1].id
    assert given == [f"dmlplayground train {folder / 'trial.json'} --store {tmp_path.resolve()} --quiet"]
    assert config.trial(json.loads((folder / "trial.json").read_text())).id == TRIALS[1].id


def test_a_part_of_a_sweep_keeps_the_plan_of_the_whole(tmp_path):
    chosen(tmp_path).state()
    chosen(tmp_path, TRIALS[:1], part=True).state()
    assert len(files.read_json(tmp_path / manifest.FILE)["trials"]) == 4
    chosen(tmp_path, TRIALS[:1]).state()
    assert len(files.read_json(tmp_path / manifest.FILE)["trials"]) == 1


# --- real processes --------------------------------------------------------------------------------------------------


def test_a_process_that_has_grown_large_is_replaced(tmp_path, monkeypatch):
    """Each trial leaves something behind in MXNet."""
    (tmp_path / worker.TRIAL).write_text("{}")
    process = worker.Worker(tmp_path, {})
    try:
        assert memory.own(process.process.pid) > 0 and memory.own(-1) is None
        process.ending = worker.Ending.of(0)
        assert process.free
        monkeypatch.setattr(worker, "LARGE", 1)
        assert not process.free
    finally:
        process.finish()


def wait_for_epochs(store: Path, count: int, trials: int = 1) -> None:
    deadline = time.monotonic() + 120
    while sum(path.read_text().count("\n") >= count for path in store.glob(f"*/{stream.FILE}")) < trials:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def worker_of(process: subprocess.Popen, store: Path) -> int:
    """A process that this runner has started and that has done an epoch."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        found = {path.parent: path.read_text().count("\n") for path in store.glob(f"*/{stream.FILE}")}
        time.sleep(0.3)
        for folder, epochs in found.items():
            lock = locks.current(folder)
            if lock and not lock.gone and (folder / stream.FILE).read_text().count("\n") > epochs > 0:
                parent = Path(f"/proc/{lock.owner['pid']}/stat").read_text().rpartition(")")[2].split()[1]
                if int(parent) == process.pid:
                    return lock.owner["pid"]
    raise AssertionError("no worker came to work")


@pytest.mark.slow
def test_killed_runners_and_workers_change_no_number(tmp_path):
    """Undisturbed in one store; in the other the runner, then workers, are killed with SIGKILL at some moment."""
    data.load(**{k: v for k, v in BASE["data"].items() if k != "name"}, name="glyphs")
    file = experiment(tmp_path, epochs=80, seeds=3)
    calm = sweep(tmp_path / "calm", file)
    assert calm.wait() == 0, calm.stdout.read()
    store = tmp_path / "store"
    for epochs in (3, 10):
        process = sweep(store, file)
        wait_for_epochs(store, epochs)
        process.kill()
        process.wait()
    process = sweep(store, file)
    os.kill(worker_of(process, store), signal.SIGKILL)
    told, _ = process.communicate()
    assert process.returncode == 0, told
    assert "SIGKILL" in told
    assert numbers(store) == numbers(tmp_path / "calm")


@pytest.mark.slow
def test_a_killed_runner_leaves_nothing_running(tmp_path):
    file = experiment(tmp_path, epochs=500, seeds=2)
    store = tmp_path / "store"
    process = sweep(store, file)
    wait_for_epochs(store, 2, trials=2)
    owners = [locks.current(path.parent).owner for path in store.glob(f"*/{stream.FILE}")]
    process.kill()
    process.wait()
    deadline = time.monotonic() + 30
    while any(locks._born(owner["pid"]) == owner["born"] for owner in owners):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert {record.status for record in records.load_store(store)} == {"interrupted"}


@pytest.mark.slow
def test_two_runners_on_one_store_do_nothing_twice(tmp_path):
    file = experiment(tmp_path, epochs=8, seeds=6)
    store = tmp_path / "store"
    both = [sweep(store, file) for _ in range(2)]
    told = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    assert len(numbers(store)) == 6
    # Both go through the trials in one order, so each trial may be begun by both at one moment, once: whoever comes second
    # finds the lock, which is taken before anything else is loaded, and costs a moment and nothing else.
    meetings = [path.read_text().count("is being trained by") for path in store.glob(f"*/{worker.LOG}")]
    assert max(meetings) <= 1
    for path in store.glob(f"*/{stream.FILE}"):
        entries = [json.loads(line)["epoch"] for line in path.read_text().splitlines()]
        assert entries == list(range(9))
    assert not list(store.glob("*/lock-*"))
