"""What killed processes leave behind: whoever starts next tidies what nobody holds, and nothing that somebody does."""

import os
import signal
import subprocess
import sys
import time

import pytest
import reports_fixture as fixture
from data_fixture import class_folders

from dmlplayground import cli, data
from dmlplayground.base import files, processes
from dmlplayground.reports.live import state
from dmlplayground.sweeps import worker
from dmlplayground.trial import config
from dmlplayground.trial.store import CHECKPOINT, locks, records
from dmlplayground.trial.training import train

DEAD = "11111111-1-1"  # of a machine that nobody knows


def killed(folder, lines):
    """A process that begins this in the folder and is killed in the middle of it."""
    program = f"""
import os, signal
from pathlib import Path
from dmlplayground.base import files
folder = Path({str(folder)!r})
with {lines}:
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program])
    assert done.returncode == -signal.SIGKILL


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_mark_tells_the_living_from_the_dead():
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from dmlplayground.base import processes as p; print(p.mark(), flush=True); input()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    mark = child.stdout.readline().strip()
    assert processes.ended(mark) is False and processes.ended(processes.mark()) is False
    child.communicate("\n")
    assert processes.ended(mark) is True
    assert processes.ended(DEAD) is None


@pytest.mark.parametrize(
    "lines", ["files.replacing(folder / 'table.csv')", "files.filling(folder / 'entry')"]
)
@pytest.mark.parametrize("writer", ["file", "folder"])
def test_the_next_writer_removes_what_a_killed_one_has_left(tmp_path, lines, writer):
    killed(tmp_path, lines)
    assert len(left(tmp_path)) == 1 and left(tmp_path)[0].endswith(files.PART)
    if writer == "file":
        files.write_json(tmp_path / "other", {})
    else:
        with files.filling(tmp_path / "other"):
            pass
    assert left(tmp_path) == ["other"]


def test_the_living_and_other_machines_keep_what_they_write(tmp_path):
    with files.replacing(tmp_path / "mine") as mine, files.filling(tmp_path / "ours") as ours:
        far = tmp_path / f".entry.{DEAD}.abc{files.PART}"
        (far / "deep").mkdir(parents=True)
        (far / "deep" / "array").write_text("half")
        strange = tmp_path / ".notes.part"
        strange.write_text("the user's")
        files.write_json(tmp_path / "other", {})
        mine.write("whole")
        assert ours.is_dir() and (far / "deep" / "array").exists()
    assert left(tmp_path) == sorted([far.name, strange.name, "mine", "ours", "other"])
    # a folder of another machine is old once nothing in it has changed for long
    old = time.time() - files.ABANDONED - 10
    for path in (far, far / "deep"):
        os.utime(path, (old, old))
    files.write_json(tmp_path / "other", {})
    assert far.exists()
    os.utime(far / "deep" / "array", (old, old))
    files.write_json(tmp_path / "other", {})
    assert not far.exists() and strange.exists()


def test_names_may_be_long(tmp_path):
    for name in ("ü" * 120, "x" * 255):
        files.write_json(tmp_path / name, {})
    assert len(left(tmp_path)) == 2


def test_clean_lists_what_killed_processes_left_in_the_cache(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))
    data.load("folder", path=str(class_folders(tmp_path / "own", list("abcdef"))))
    images = tmp_path / "cache" / "images"
    with files.filling(images / "alive"):
        for place in (tmp_path / "cache", images, tmp_path / "cache" / "parquet"):
            place.mkdir(exist_ok=True)
            killed(
                place, "files.filling(folder / 'folder-train') as beside, (beside / 'pixels.npy').open('wb')"
            )
        (mine,) = images.glob(".*.lock")
        assert cli.main(["clean"]) == 0
        told = capsys.readouterr().out
        assert told.count(".folder-train.") == 3 and "alive" not in told
        assert mine.name in told and "contents/" in told
        assert cli.main(["clean", "--yes"]) == 0
    capsys.readouterr()
    assert cli.main(["clean"]) == 0
    # the entry that was being made is one now
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    with files.alone(images / "held", "advice"):
        assert cli.main(["clean", "--yes"]) == 0
        assert (images / ".held.lock").exists()


# --- trials ---------------------------------------------------------------------------------------------------------


def finished(store, status="finished"):
    record = fixture.record(status=status)
    record.save(store / record.id)
    (store / record.id / CHECKPOINT).write_bytes(b"checkpoint")
    return store / record.id


def dead_lock(folder):
    locks._create(folder, 1, {**locks._identity(), "born": "1"})
    (folder / "lock-1.abc").mkdir()


@pytest.mark.parametrize("with_lock", [True, False])
def test_what_was_left_of_a_finished_trial_goes(tmp_path, with_lock):
    folder = finished(tmp_path)
    if with_lock:
        dead_lock(folder)
    records.tidy(folder)
    assert left(folder) == [records.RECORD]


def test_a_trial_that_is_to_go_on_keeps_its_checkpoint(tmp_path):
    folder = finished(tmp_path, "interrupted")
    dead_lock(folder)
    records.tidy(folder)
    assert left(folder) == [CHECKPOINT, records.RECORD]


def test_what_somebody_holds_stays(tmp_path):
    folder = finished(tmp_path)
    with locks.hold(folder):
        before = left(folder)
        records.tidy(folder)
        assert left(folder) == before


@pytest.mark.parametrize("status", ["finished", "interrupted"])
def test_a_lock_that_names_nobody_goes_from_a_finished_trial_alone(tmp_path, status):
    folder = finished(tmp_path, status)
    (folder / "lock-1").write_text("of whom?")
    (folder / "lock-1.abc").mkdir()
    began = time.monotonic()
    records.tidy(folder)
    assert time.monotonic() - began < 1
    others = [] if status == "finished" else [CHECKPOINT, "lock-1", "lock-1.abc"]
    assert left(folder) == [*others, records.RECORD]


def test_training_again_tidies_a_finished_trial(tmp_path):
    record = fixture.record()
    trial = config.trial(record.config)
    record.id = trial.id
    folder = tmp_path / trial.id
    record.save(folder)
    (folder / CHECKPOINT).write_bytes(b"checkpoint")
    dead_lock(folder)
    assert train(trial, tmp_path).status == "finished"
    assert left(folder) == [records.RECORD]


# --- locks ----------------------------------------------------------------------------------------------------------


def test_a_full_disk_leaves_no_lock_and_is_named(tmp_path):
    program = f"""
import resource
from pathlib import Path
from dmlplayground.trial.store import locks
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
try:
    with locks.hold(Path({str(tmp_path)!r}) / "trial"):
        print("held")
except Exception as problem:
    print(type(problem).__name__, problem)
"""
    said = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True)
    assert said.stdout.startswith(f"CannotWrite cannot write {tmp_path / 'trial' / 'lock-1'}: "), said
    assert left(tmp_path) == []


def test_waiting_for_a_lock_of_an_unknown_owner_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(locks, "BEAT", 0.02)
    monkeypatch.setattr(locks, "STALE", 0.3)
    (tmp_path / "lock-1").write_text("")
    with locks.hold(tmp_path):
        pass
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{tmp_path.name} is locked by nobody that it names: waiting up to")


def test_a_changed_digit_makes_the_owner_of_a_lock_unknown(tmp_path):
    with locks.hold(tmp_path):
        lock = tmp_path / "lock-1"
        text = lock.read_text()
        for place in [place for place, letter in enumerate(text) if letter.isdigit()]:
            lock.write_text(text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :])
            found = locks.current(tmp_path)
            assert found.owner == {} and not found.gone
        lock.write_text(text)


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-9], lambda text: text.replace("1", "2"), lambda text: ""]
)
def test_a_lock_of_a_damaged_owner_is_not_running_for_ever(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(locks, "STALE", 0.2)
    record = fixture.record(status="running")
    record.save(tmp_path / record.id)
    dead_lock(tmp_path / record.id)
    lock = tmp_path / record.id / "lock-1"
    lock.write_text(damage(lock.read_text()))
    listing = state.Listing(tmp_path)
    assert listing.now()["states"] == {"running": 1}
    time.sleep(0.3)
    assert listing.now()["states"] == {"interrupted": 1}
    assert left(tmp_path / record.id) == ["lock-1", "lock-1.abc", records.RECORD]  # looking writes nothing


def test_a_lock_that_moves_is_of_the_living(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "STALE", 0.2)
    record = fixture.record(status="running")
    record.save(tmp_path / record.id)
    lock = tmp_path / record.id / "lock-1"
    lock.write_text("damaged")
    listing = state.Listing(tmp_path)
    for beat in range(4):
        os.utime(lock, ns=(beat * 10**9, beat * 10**9))
        assert listing.now()["states"] == {"running": 1}
        time.sleep(0.1)


def test_a_busy_trial_is_noticed_before_anything_is_loaded(tmp_path):
    folder = tmp_path / config.trial({"method": "npairs"}).id
    files.write_json(folder / worker.TRIAL, {"method": "npairs"})
    program = f"""
import sys
from pathlib import Path
from dmlplayground.sweeps import worker
print(worker._train(Path({str(folder)!r}), ()), "mxnet" in sys.modules)
"""
    with locks.hold(folder):
        said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert said.stdout.split() == [str(worker.BUSY), "False"], said.stderr
