"""A store under fire: processes killed at any moment, files cut at any length, bits flipped anywhere."""

import os
import random
import signal
import time

import numpy as np
import pytest
from sweeps_fixture import experiment, numbers, sweep

from dmlplayground.base import array_files, files
from dmlplayground.base.errors import UserError
from dmlplayground.sweeps.worker import TRIAL
from dmlplayground.trial.store import locks, records

KILLS = 12


def workers(store):
    """The processes that train the store's trials."""
    found = [locks.current(folder) for folder in store.glob("*-*")]
    return [lock.owner["pid"] for lock in found if lock is not None and "pid" in lock.owner and not lock.gone]


@pytest.mark.slow
def test_a_sweep_that_is_killed_again_and_again_gives_the_very_numbers(tmp_path):
    """Two runners share the work; now one of them, now a process of theirs, is killed with SIGKILL at a random moment."""
    file = experiment(tmp_path, epochs=60, seeds=4)
    calm = sweep(tmp_path / "calm", file)
    assert calm.wait() == 0, calm.stdout.read()
    store, rng = tmp_path / "store", random.Random(0)
    runners = [sweep(store, file, start_new_session=True) for _ in range(2)]
    for _ in range(KILLS):
        time.sleep(rng.uniform(0.2, 2.5))
        runners = [r if r.poll() is None else sweep(store, file, start_new_session=True) for r in runners]
        victims = [*workers(store), rng.choice(runners).pid]
        try:
            os.kill(rng.choice(victims), signal.SIGKILL)
        except ProcessLookupError:
            continue
    for runner in runners:
        runner.communicate()
    last = sweep(store, file, "--retry-failed")
    told, _ = last.communicate()
    assert last.returncode == 0, told
    assert numbers(store) == numbers(tmp_path / "calm")
    for record in records.load_store(store):
        for which in ("best", "last"):
            for name in record.results[which]["weights"]:
                (_, ours), (_, theirs) = (
                    array_files.read(place / record.id / name) for place in (store, tmp_path / "calm")
                )
                assert all(np.array_equal(ours[key], theirs[key]) for key in ours.keys() | theirs.keys())
    left = {path.name for folder in store.glob("*-*") for path in folder.iterdir()}
    # What a runner was just writing when it was killed stays for an hour. Until then another might be writing it.
    left = {name for name in left if not name.startswith(f".{TRIAL}.")}
    assert not [name for name in left if name.startswith((".", "lock")) or name.endswith(files.PART)]


ARRAYS = {"weights": np.arange(40, dtype=np.float32), "mean": np.float64(3)}


def the_same_or_refused(path) -> bool:
    """Whether a damaged file is refused; if not, it must hold what it held."""
    try:
        header, arrays = array_files.read(path)
    except UserError as problem:
        assert str(path) in str(problem)
        return True
    assert header == {"epoch": 3}
    assert arrays.keys() == ARRAYS.keys()
    assert all(np.array_equal(arrays[name], ARRAYS[name]) for name in arrays)
    return False


def test_a_file_cut_at_any_length_is_refused(tmp_path):
    path = tmp_path / "kept.npz"
    array_files.write(path, {"epoch": 3}, ARRAYS)
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        assert the_same_or_refused(path), length


def test_a_flipped_bit_is_refused_or_of_no_account(tmp_path):
    path = tmp_path / "kept.npz"
    array_files.write(path, {"epoch": 3}, ARRAYS)
    content = path.read_bytes()
    refused = 0
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        refused += the_same_or_refused(path)
    assert refused > len(content) / 2
