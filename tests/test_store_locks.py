"""Locks: one owner at a time, whoever dies, sleeps or comes at the same moment, whatever the clocks say."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time

import pytest

from dmlplayground.base import files
from dmlplayground.base.errors import UserError
from dmlplayground.trial.store import locks, stream


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(locks, "BEAT", 0.02)
    monkeypatch.setattr(locks, "STALE", 0.3)


@pytest.fixture
def far(monkeypatch):
    """As if every process were on another machine: nothing is known of it but its lock."""
    monkeypatch.setattr(locks, "_place", lambda: "")


def wait_until_free(watch: locks.Watch, folder, seconds=10.0) -> float:
    began = time.monotonic()
    while watch.look(folder) != "free":
        assert time.monotonic() - began < seconds
        time.sleep(0.01)
    return time.monotonic() - began


def test_a_lock_is_one_processs_and_goes_when_it_is_done(tmp_path):
    with locks.hold(tmp_path):
        lock = locks.current(tmp_path)
        assert lock.here
        assert not lock.gone
        assert lock.owner["pid"] == os.getpid()
        with (
            pytest.raises(locks.Busy, match=f"is being trained by process {os.getpid()} on"),
            locks.hold(tmp_path),
        ):
            pass
    assert locks.current(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_it_goes_with_an_error_too(tmp_path):
    with pytest.raises(ZeroDivisionError), locks.hold(tmp_path):
        raise ZeroDivisionError
    assert locks.Watch().look(tmp_path) == "free"


HOLDER = """
import sys, time
from dmlplayground.trial.store import locks, stream
from dmlplayground.base import files
from dmlplayground.base.errors import UserError
locks.BEAT = 0.02
with locks.hold(__import__("pathlib").Path(sys.argv[1])):
    print("held", flush=True)
    for _ in range(6000):
        time.sleep(0.01)
"""


def holder(folder) -> subprocess.Popen:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_a_dead_process_of_this_machine_is_known_at_once(tmp_path):
    process = holder(tmp_path)
    watch = locks.Watch()
    assert watch.look(tmp_path) == "busy"
    process.kill()  # not yet waited for: what is left of it is a zombie
    wait_until_free(watch, tmp_path)
    process.wait()
    with locks.hold(tmp_path) as held:
        assert locks.current(tmp_path).number == 2
        assert sorted(path.name for path in tmp_path.iterdir()) == ["lock-2", held.parts.name]


def test_another_process_with_the_number_of_the_dead_one_is_not_it(tmp_path):
    locks._create(tmp_path, 1, {**locks._identity(), "born": "1"})
    assert locks.Watch().look(tmp_path) == "free"


def test_from_far_a_living_lock_is_seen_to_move(tmp_path, quick, far):
    watch = locks.Watch()
    with locks.hold(tmp_path):
        assert watch.look(tmp_path) == "unsure"
        time.sleep(0.1)
        assert watch.look(tmp_path) == "busy"
        time.sleep(0.6)
        assert watch.look(tmp_path) == "busy"
        with pytest.raises(locks.Busy), locks.hold(tmp_path):
            pass


def test_from_far_a_lock_that_stands_still_is_given_up(tmp_path, quick, far):
    locks._create(tmp_path, 1, {"host": "elsewhere", "pid": 1, "token": "x"})
    assert wait_until_free(locks.Watch(), tmp_path) > 0.25
    assert locks.current(tmp_path).owner == locks.FREE
    with locks.hold(tmp_path):
        assert locks.current(tmp_path).number == 3


@pytest.mark.parametrize("jump", [-(10**6), 10**6], ids=["back", "forth"])
def test_clocks_do_not_matter(tmp_path, quick, far, monkeypatch, jump):
    """Neither the watcher's clock nor the stamp's distance from it counts, only that the stamp changes."""
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    watch = locks.Watch()
    with locks.hold(tmp_path):
        path = locks.current(tmp_path).path
        os.utime(path, (real() + jump, real() + jump))
        for _ in range(20):
            assert watch.look(tmp_path) != "free"
            time.sleep(0.03)


def test_an_owner_that_was_given_up_stops(tmp_path, quick):
    """It was asleep; when it wakes there is a successor. The interrupt reaches it at its work."""
    # Made in another thread: the interrupt may come at once, and would undo a lock that is just being written in this one.
    successor = threading.Thread(target=locks._create, args=(tmp_path, 2, locks._identity()))
    with pytest.raises(locks.Busy, match="another process continues with it"), locks.hold(tmp_path):
        successor.start()
        for _ in range(1000):
            time.sleep(0.01)
    successor.join()
    assert [path.name for path in tmp_path.iterdir()] == ["lock-2"]


def test_a_sleeping_process_loses_its_trial(tmp_path, quick):
    """Stopped and continued, as a machine that slept: others take over after a while, and it must not go on."""
    process = holder(tmp_path)
    process.send_signal(19)  # SIGSTOP
    wait_until_free(locks.Watch(), tmp_path)
    with locks.hold(tmp_path):
        process.send_signal(18)  # SIGCONT
        assert process.wait(timeout=60) != 0
        assert locks.current(tmp_path).owner["pid"] == os.getpid()


def test_nothing_of_a_former_owner_arrives(tmp_path):
    """It was asleep in the middle of writing; meanwhile another process has had the trial, and has let go of it."""
    with (
        pytest.raises(locks.Busy),
        locks.hold(tmp_path) as former,
        former.writing() as through,
        files.replacing(tmp_path / "kept", through=through) as file,
    ):
        file.write("of the former")
        locks._create(tmp_path, 2, {**locks._identity(), "born": "1"})  # takes over, and dies
        with locks.hold(tmp_path) as held, held.writing() as later:
            files.write_json(tmp_path / "kept", "of the latter", later)
        with locks.hold(tmp_path):  # one more, under the very number that the former had
            pass
    assert files.read_json(tmp_path / "kept") == "of the latter"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize("name", [stream.FILE, "events.out.tfevents.1.here.2.3"])
def test_what_a_former_owner_still_has_open_is_looked_at_no_more(tmp_path, name):
    with pytest.raises(locks.Busy), locks.hold(tmp_path) as former:
        with former.writing() as through:
            growing = stream.Growing(tmp_path / name, b"first\n", through)
        growing.write(b"second\n")
        locks._create(tmp_path, 2, {**locks._identity(), "born": "1"})  # takes over, and dies
        with locks.hold(tmp_path):
            growing.write(b"third\n")
        former.check()
    assert (tmp_path / name).read_bytes() == b"first\nsecond\n"


def test_a_former_owner_does_not_remove_the_lock_of_a_later_one(tmp_path):
    with contextlib.ExitStack() as stack:
        with locks.hold(tmp_path) as former:
            locks._take_away(former.parts)
            former.lock.unlink()
            later = stack.enter_context(locks.hold(tmp_path))
            assert later.lock == former.lock
            with pytest.raises(locks.Lost):
                former.check()
        assert later.lock.exists()
        later.check()


def test_what_killed_owners_were_writing_is_cleared_away(tmp_path):
    process = holder(tmp_path)
    (part,) = tmp_path.glob("lock-1.*")
    (part / ".record.json.abc.part").write_text("half")
    process.kill()
    process.wait()
    with locks.hold(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_folder_made_for_the_lock_alone_goes_with_it(tmp_path):
    with locks.hold(tmp_path / "store" / "trial"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_of_many_at_a_time_one_wins(tmp_path, quick):
    """Threads instead of machines; a dead lock is there to be fought for."""
    for round in range(20):
        folder = tmp_path / str(round)
        folder.mkdir()
        locks._create(folder, 1, {**locks._identity(), "born": "1"})
        at_once, inside, most = threading.Barrier(8), [], []

        def contend(folder=folder, at_once=at_once, inside=inside, most=most):
            at_once.wait()
            try:
                with locks.hold(folder):
                    inside.append(1)
                    most.append(len(inside))
                    time.sleep(0.02)
                    inside.pop()
            except locks.Busy:
                pass

        threads = [threading.Thread(target=contend) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(most) == {1}


def test_where_no_folder_can_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UserError, match="cannot write .*file/trial"),
        locks.hold(tmp_path / "file" / "trial"),
    ):
        pass


def test_a_beat_needs_no_room_on_the_disk(tmp_path, quick, monkeypatch):
    with locks.hold(tmp_path):
        before = locks.current(tmp_path)

        def full(*_, **__):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("pathlib.Path.open", full)
        time.sleep(0.2)
        monkeypatch.undo()
        after = locks.current(tmp_path)
    assert after.owner == before.owner
    assert after.stamp > before.stamp


@pytest.mark.parametrize(
    "content", ["", "[1]", "3", "{half", "[" * 99999, '{"pid": "\\u0000"}'], ids=lambda content: content[:8]
)
def test_a_damaged_lock_is_one_of_an_unknown_owner(tmp_path, quick, content):
    (tmp_path / "lock-1").write_text(content)
    assert locks.alive(tmp_path)
    wait_until_free(locks.Watch(), tmp_path)


@pytest.mark.parametrize("owner", [{}, {"pid": "\0"}, {"pid": []}])
def test_a_lock_of_this_machine_without_a_process_is_of_the_dead(tmp_path, owner):
    (tmp_path / "lock-1").write_text(json.dumps({"place": locks._place(), **owner}))
    assert not locks.alive(tmp_path)


def test_a_second_word_that_the_trial_is_lost_ends_it_as_the_first_does(tmp_path, monkeypatch):
    """The keeper and the trial may find out at the same moment."""
    stop = locks._Keeper.stop

    def late(self):
        stop(self)
        raise locks.Lost

    monkeypatch.setattr(locks._Keeper, "stop", late)
    with pytest.raises(locks.Busy, match="was taken for dead"), locks.hold(tmp_path / "trial"):
        raise locks.Lost
