"""Disks without room and folders that nothing can be written to: one clear line, exit code 2, and nothing kept is lost."""

import contextlib
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import mxnet as mx
import numpy as np
import pytest
import yaml
from checkout_fixture import checkout
from PIL import Image
from sweeps_fixture import SMALL

import dmlplayground as dml
from dmlplayground import cli, config
from dmlplayground.base import files
from dmlplayground.parts.backbones.shared.weights import formats
from dmlplayground.trial.store import records
from dmlplayground.trial.training import run

TINY = {**SMALL, "method": "npairs", "iterations": 1, "epochs": 1}
LIMIT = 3000  # bytes that a file may have; less than all that the commands here write


@contextlib.contextmanager
def room(limit: int) -> Iterator[None]:
    """No file that this process, or one that it starts, writes may be longer."""
    # Python would put modules that are imported now into its cache cut short, and then fail to read them.
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        monkeypatch.undo()


def command(*words) -> subprocess.CompletedProcess:
    words = [sys.executable, "-m", "dmlplayground", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    store = tmp_path_factory.mktemp("trained")
    record = dml.train(TINY, store)
    return store / record.id


@pytest.fixture
def trial(trained, tmp_path):
    return Path(shutil.copytree(trained, tmp_path / "store" / trained.name))


def refused(code: int, errors: str, *words: str) -> None:
    assert code == 2, errors
    assert "Traceback" not in errors
    line = errors.strip().splitlines()[-1]
    assert line.startswith("error: ")
    assert all(word in line for word in words)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Eight classes of images of noise."""
    folder, random = tmp_path_factory.mktemp("photos"), np.random.default_rng(0)
    for number in range(32):
        path = folder / f"class{number % 8}" / f"{number}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(random.integers(0, 256, (24, 24, 3), np.uint8)).save(path)
    return folder


COMMANDS = {
    "report": lambda trial, photos, out: ("report", trial.parent),
    "data show": lambda trial, photos, out: ("data", "show", "glyphs", "--out", out / "sheet.png"),
    "export": lambda trial, photos, out: ("export", trial, out / "exported"),
    "onnx": lambda trial, photos, out: ("export", trial, out / "exported", "--format", "onnx"),
    "train": lambda trial, photos, out: (
        "train", trial / "trial.json", "--set", "seed=1", "--store", out, "--quiet"
    ),
    "embed": lambda trial, photos, out: ("embed", trial, photos, "--out", out / "photos.npy"),
    "retrieve": lambda trial, photos, out: (
        "retrieve", trial, photos / "class0" / "0.png", photos, "--picture", out / "found.png"
    ),
    "fit": lambda trial, photos, out: ("fit", photos, "--out", out / "fit", "--set", "iterations=1", "--quiet"),
    "lr": lambda trial, photos, out: ("lr", trial / "trial.json", "--steps", "2", "--out", out / "rates.svg"),
    "new": lambda trial, photos, out: ("new", "method", "my_loss", "--into", checkout(trial.parent)),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_is_full(trial, photos, tmp_path, name, capsys):
    if name == "onnx":
        pytest.importorskip("onnx")
    out = tmp_path / "out"
    words = [str(word) for word in COMMANDS[name](trial, photos, out)]
    with room(200 if name == "new" else LIMIT):  # its files are small
        code = cli.main(words)
    refused(code, capsys.readouterr().err, "cannot write")
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(files.PART)]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("report", "new")])
def test_a_place_that_nothing_can_be_written_to(trial, photos, name, capsys):
    if name == "onnx":
        pytest.importorskip("onnx")
    words = [str(word) for word in COMMANDS[name](trial, photos, Path("/proc/nowhere"))]
    refused(cli.main(words), capsys.readouterr().err, "/proc/nowhere")


def test_files_that_belong_together_are_written_all_or_none(tmp_path):
    with (
        pytest.raises(files.CannotWrite, match=r"cannot write .*second.json"),
        room(LIMIT),
        files.replacing_all() as begin,
    ):
        begin(tmp_path / "first.txt").write("short")
        begin(tmp_path / "second.json").write("long" * LIMIT)
    assert not list(tmp_path.iterdir())


def test_weights_that_mxnet_cannot_write_are_told_in_a_line(tmp_path):
    with (
        pytest.raises(files.CannotWrite, match=r"cannot write .*w.params: not all of it"),
        room(LIMIT),
        files.replacing(tmp_path / "w.params", "wb") as file,
    ):
        formats.dump({"arg:weight": mx.nd.ones((LIMIT,))}, file)
    assert not list(tmp_path.iterdir())


def test_a_trial_goes_on_once_there_is_room(tmp_path):
    """Neither failed nor begun anew: its checkpoint and its record stay as they were."""
    given = {**TINY, "epochs": 2, "seed": 5}
    (tmp_path / "trial.yaml").write_text(yaml.safe_dump(given))
    words = ["train", str(tmp_path / "trial.yaml"), "--store", str(tmp_path / "store"), "--quiet"]
    folder = tmp_path / "store" / config.trial(given).id
    with room(40_000):
        told = command(*words)
    refused(told.returncode, told.stderr, "cannot write", folder.name, "File too large")
    assert records.find(folder).status == "interrupted"
    assert not list(folder.glob("lock-*"))
    assert cli.main(words) == 0
    assert records.find(folder).status == "finished"
    assert not (folder / run.DAMAGED).exists()


@pytest.mark.slow
def test_a_sweep_stops_and_goes_on_once_there_is_room(tmp_path):
    file = tmp_path / "sweep.yaml"
    file.write_text(yaml.safe_dump({"title": "Two", "base": TINY, "grid": {"seed": [0, 1]}}))
    words = ("sweep", file, "--store", tmp_path / "store", "--workers", 1)
    with room(40_000):
        told = command(*words)
    refused(told.returncode, told.stderr, "the store", "File too large", "run the same command again")
    found = records.load_store(tmp_path / "store")
    assert {record.status for record in found} == {"interrupted"}
    assert command(*words).returncode == 0
    assert [record.status for record in records.load_store(tmp_path / "store")] == ["finished", "finished"]


def test_what_cannot_be_written_leaves_the_old_file(tmp_path, monkeypatch):
    files.write_json(tmp_path / "kept.json", "old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(files.CannotWrite, match=r"cannot write .*kept\.json: No space left on device\."):
        files.write_json(tmp_path / "kept.json", "new")
    assert files.read_json(tmp_path / "kept.json") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]
