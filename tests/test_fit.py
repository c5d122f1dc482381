"""From a folder of images to a trained search: ``dmlplayground fit`` as a person meets it, by a subprocess."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from data_fixture import class_folders, picture

from dmlplayground import cli
from dmlplayground.serving.fitting import choose, look, timing

CLASSES = [f"class {i}" for i in range(10)]
TINY = ["iterations=1", "epochs=1", "batch_size=8", "embed_dim=4", "evaluation.clustering=false"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def photos(tmp_path):
    return class_folders(tmp_path / "photos", CLASSES, per_class=4)


def words(folder: Path, *arguments: object, changes=TINY) -> list[str]:
    given = [part for change in changes for part in ("--set", change)]
    return ["fit", str(folder), *map(str, arguments), *given]


def test_from_a_folder_to_a_search(photos, tmp_path, capsys):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "dmlplayground", *words(photos, "--out", out, "--quiet", "--threads", 1)]
    first = subprocess.run(command, capture_output=True, text=True)
    assert first.returncode == 0, first.stderr
    # Where a line is broken depends on the length of the path before.
    assert "40 images of 10 classes, 4 to 4 in each" in " ".join(first.stdout.split())
    assert "7 classes to train on, 3 others to test on" in first.stdout
    assert "training takes about" in first.stdout and "joined" in first.stdout
    for command in ("retrieve", "embed", "export", "serve"):
        assert f"dmlplayground {command} " in first.stdout
    assert (out / "report" / "index.html").is_file()

    rows = list(csv.DictReader((out / "classes.csv").open()))
    roles = {row["class"]: row["split"] for row in rows}
    assert sorted(roles) == sorted(CLASSES) and list(roles.values()).count("test") == 3
    assert {row["validation_in_fold"] for row in rows if row["split"] == "train"} == {"", "0", "1"}
    assert all(row["validation_in_fold"] == "" for row in rows if row["split"] == "test")

    assert cli.main(words(photos, "--out", out, "--quiet")) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert cli.main(["train", str(out / "config.yaml"), "--store", str(out), "--dry-run"]) == 0
    by_hand = capsys.readouterr().out
    assert "1 trial" in by_hand and "1 finished" in by_hand  # the very same trial
    trial = next(out.glob("*/record.json")).parent
    assert cli.main(["retrieve", str(trial), str(photos / CLASSES[0] / "0.jpg"), str(photos)]) == 0
    assert CLASSES[0] in capsys.readouterr().out


def test_a_dry_run_chooses_and_trains_nothing(photos, tmp_path, capsys):
    changes = ["data.seed=5", "epochs=2"]
    assert cli.main(words(photos, "--out", tmp_path / "run", "--dry-run", changes=changes)) == 0
    told = capsys.readouterr().out
    assert "training takes" not in told
    assert "trains proxy_nca: 2 epochs of 100 steps of 32 images, resized to 3" in told
    chosen = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert chosen["data"]["seed"] == 5 and chosen["epochs"] == 2
    # The shorter sides are from 30 to 33 pixels: nothing is blown up.
    assert chosen["transform"]["resize"] in (30, 31, 32) and chosen["backbone"]["name"] == "conv4"


@pytest.mark.parametrize(
    ("shorter", "weights", "network", "pixels"),
    [
        (64, True, "efficientnet_lite0", 64),
        (150, True, "efficientnet_lite0", 128),
        (150, False, "conv4", 64),
        (28, True, "conv4", 28),
    ],
)
def test_images_decide_pixels_and_network(monkeypatch, shorter, weights, network, pixels):
    monkeypatch.setattr(choose, "has_weights", lambda: weights)
    seen = look.Look(Path("photos"), {"a": 3}, [(shorter, 2 * shorter)] * 3)
    chosen = choose.configuration(seen)
    assert (chosen["backbone"]["name"], chosen["transform"]["resize"]) == (network, pixels)
    assert ("dmlplayground[pretrained]" in choose.lacking(seen)) == (shorter >= 64 and not weights)


def test_batches_fit_the_classes_of_a_fold(monkeypatch):
    monkeypatch.setattr(choose, "has_weights", lambda: True)

    def batch(classes: int, train_classes: int = 0) -> int:
        counts = {str(i): 4 for i in range(classes)}
        return choose.configuration(look.Look(Path("photos"), counts, [(99, 99)], train_classes))[
            "batch_size"
        ]

    assert [batch(6), batch(10), batch(50), batch(50, train_classes=6)] == [8, 12, 32, 12]


def test_a_slow_start_is_not_counted_and_pauses_widen_the_estimate(monkeypatch):
    now = 0.0

    def work(lengths):
        nonlocal now
        for length in lengths:
            now += length
            yield

    monkeypatch.setattr(timing.time, "perf_counter", lambda: now)
    assert timing.duration(work([9, 5, 0.5, 0.5, 2.3, 0.5])) == pytest.approx((0.5, 0.95))
    assert timing.duration(work([4])) == (4, 4)
    quick, slow = [0.01] * 100, [3.0] * 10
    for lengths, measured in ((quick, timing.COUNTED), (slow, timing.FEWEST)):
        left = work(lengths)
        timing.duration(left)
        assert len(lengths) - sum(1 for _ in left) == timing.WARM_UP + measured


def bad_folders(tmp_path: Path) -> dict[str, Path]:
    picture(tmp_path / "loose" / "1.jpg", 1)
    class_folders(tmp_path / "one", ["a"], per_class=5)
    class_folders(tmp_path / "two", CLASSES, per_class=2)
    broken = class_folders(tmp_path / "broken", CLASSES)
    (broken / "class 3" / "0.jpg").write_bytes(b"no image")
    (tmp_path / "empty").mkdir()
    return {path.name: path for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("loose", "images, but no folders of classes"),
        ("one", "1 class with at least 3 images"),
        ("two", "0 classes with at least 3 images"),
        ("broken", "1 of 30 images cannot be used; repair or remove them: class 3/0.jpg cannot be read"),
        ("empty", "holds no images"),
        ("missing", "there is no folder"),
    ],
)
def test_what_cannot_be_trained_on_is_said_in_a_line(tmp_path, capsys, name, message):
    folder = bad_folders(tmp_path).get(name, tmp_path / name)
    assert cli.main(words(folder, "--out", tmp_path / "run")) == 2
    assert message in capsys.readouterr().err.splitlines()[-1] and not (tmp_path / "run").exists()


def test_a_file_and_a_place_that_cannot_be_written(photos, capsys):
    file = photos / CLASSES[0] / "0.jpg"
    assert cli.main(words(file)) == 2
    assert "is a file; give a folder" in capsys.readouterr().err
    assert cli.main(words(photos, "--out", file / "run")) == 2
    told = capsys.readouterr()
    assert "Not a directory" in told.err and "training takes" not in told.out
