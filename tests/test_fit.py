"""From a folder of images to a search: ``dmlplayground fit`` as a person meets it, and the ladder's parts."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from data_fixture import class_folders, picture

import dmlplayground as dml
from dmlplayground import cli
from dmlplayground.parts.data.shared import catalogue
from dmlplayground.serving import judge
from dmlplayground.serving.fitting import choose, ladder, look
from dmlplayground.trial.training.learner import Learner

CLASSES = [f"class {i}" for i in range(12)]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def no_heic(monkeypatch):
    """As where the extra heic is not installed, whatever is installed here."""
    suffixes = tuple(suffix for suffix in catalogue.SUFFIXES if suffix not in catalogue.HEIC)
    monkeypatch.setattr(catalogue, "SUFFIXES", suffixes)


@pytest.fixture
def photos(tmp_path):
    return class_folders(tmp_path / "photos", CLASSES, per_class=4)


@pytest.fixture
def small(monkeypatch, trained):
    """A small network with trained weights in the place of the large one, and short trainings."""
    network = {"name": "conv4", "pretrained": str(trained / "fold0-member0.best.npz")}
    monkeypatch.setattr(choose, "has_weights", lambda: True)
    monkeypatch.setattr(choose, "SIZES", (24, 32))
    monkeypatch.setattr(choose, "HEAD", {**choose.HEAD, "embed_dim": 8, "iterations": 2, "epochs": 1})
    monkeypatch.setattr(choose, "PASSES", {True: 3, False: 3})
    monkeypatch.setattr(ladder, "ROUNDS", 1)
    monkeypatch.setattr(ladder, "LEAST_STEPS", 1)
    monkeypatch.setattr(ladder, "FINDER", 4)
    plan = choose.plan

    def with_it(found, pictures):
        made = plan(found, pictures)
        return choose.Plan({**made.base, "backbone": network}, made.sizes, True)

    monkeypatch.setattr(choose, "plan", with_it)


def words(folder: Path, *arguments: object) -> list[str]:
    return ["fit", str(folder), "--quiet", *map(str, arguments)]


def test_from_a_folder_to_a_search(photos, tmp_path, small, capsys, monkeypatch):
    out = tmp_path / "run"
    (photos / "class 3" / "0.jpg").write_bytes(b"no image")
    (photos / "class 4" / "phone.heic").write_bytes(b"no image")
    (photos / "empty").mkdir()
    picture(photos / "one" / "1.jpg", 1)
    assert cli.main(words(photos, "--out", out)) == 0
    told = " ".join(capsys.readouterr().out.split())
    for reason in (
        "1 damaged image: class 3/0.jpg",
        "1 file of a kind that is not read here (.heic",
        "1 folder without images: empty",
        "1 class with fewer than 2 images: one",
    ):
        assert f"left out: {reason}" in told
    steps = (
        "untouched, 24 px",
        "untouched, 32 px",
        "principal components",
        "whitening",
        "head: proxy_anchor",
        "fine-tuning",
    )
    assert all(step in told for step in steps)
    content = json.loads((out / ladder.FILE).read_text())
    best = max(
        (rung for rung in content["rungs"] if not rung["worse"]),
        key=lambda rung: rung["scores"][judge.NAMES[1]],
    )
    assert f"delivered: {best['name']}" in told
    assert (
        "It stops" in told
        and "Two images match if" in told
        and "What to do next" in (out / "index.html").read_text()
    )
    assert "published" not in (out / "index.html").read_text()

    trial = re.search(r"px, in (\S+)", told)[1]
    model = dml.load(trial)
    query = photos / CLASSES[0] / "0.jpg"
    assert model.embed([query]).shape == (1, model.width)
    assert cli.main(["retrieve", str(trial), str(query), str(photos / CLASSES[0]), "--match"]) == 0
    assert CLASSES[0] in capsys.readouterr().out
    assert cli.main(["evaluate", str(trial)]) == 0

    # Again: nothing is trained or embedded for the ladder a second time.
    monkeypatch.setattr(ladder.models, "features", None)
    monkeypatch.setattr(ladder.lr_finder, "find", None)
    assert cli.main(words(photos, "--out", out)) == 0
    assert json.loads((out / ladder.FILE).read_text()) == content


def test_a_killed_ladder_goes_on(photos, tmp_path, small, monkeypatch, capsys):
    out = tmp_path / "run"
    measure = ladder.Ladder._measure
    monkeypatch.setattr(ladder.Ladder, "_measure", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert cli.main(words(photos, "--out", out)) == 130
    before = json.loads((out / ladder.FILE).read_text())["rungs"]
    assert len(before) == 4 + len(choose.HEADS)
    monkeypatch.setattr(ladder.Ladder, "_measure", measure)
    assert cli.main(words(photos, "--out", out)) == 0
    assert json.loads((out / ladder.FILE).read_text())["rungs"][: len(before)] == before


@pytest.mark.parametrize(
    ("seconds", "memory", "size", "words"),
    [
        (3000, 1e12, 32, "it stops after"),
        (90, 1e12, 24, "to train on images of 32 px needs --minutes"),
        (3000, 1.5e6, 24, "to train on images of 32 px needs 0 GB of memory"),
        (10, 1e12, None, "it stops before the whole network is trained: that needs --minutes"),
    ],
)
def test_the_network_is_trained_on_the_largest_images_that_time_and_memory_allow(
    photos, tmp_path, small, monkeypatch, seconds, memory, size, words
):
    """A step takes 1 s and 1 MB at 24 px."""
    monkeypatch.setattr(ladder, "LEAST_STEPS", 60)
    monkeypatch.setattr(choose, "PASSES", {True: 1000})
    monkeypatch.setattr(ladder, "duration", lambda _: 1.0)
    monkeypatch.setattr(ladder.memory, "peak", iter([0, 10**6]).__next__)
    monkeypatch.setattr(ladder.memory, "available", lambda: memory)
    out = tmp_path / "run"
    plan = choose.plan(look.look(photos), choose.write(out, look.look(photos)))
    climbed = ladder.Ladder(plan, out, seconds / 60, {}, True)
    for each in plan.sizes:
        climbed._rung("untouched", each, climbed._untouched)
    climbed.rungs[1].scores[judge.NAMES[1]] = 2.0  # 32 px is the best size
    climbed._rung("principal components", 32, climbed._components)
    for rung in climbed.rungs:
        rung.seconds = 0.0
    found = climbed._measure()
    assert found.get("size") == size and words in found["reason"]


def test_what_is_worse_than_the_untouched_network_is_not_delivered(photos, tmp_path, small, monkeypatch):
    """Whatever a head does to new classes, its step is marked and another is the best."""
    plan = choose.plan(look.look(photos), choose.write(tmp_path / "run", look.look(photos)))
    climbed = ladder.Ladder(plan, tmp_path / "run", 10, {}, True)
    climbed._rung("untouched", 32, climbed._untouched)
    labels = climbed._features(32, "kept")[1]
    nothing = judge.Judgement(dict.fromkeys(judge.NAMES, np.zeros(len(labels))), labels)
    climbed._rung("broken", 32, lambda _: (nothing, {"head": {}, "epochs": 0}))
    assert climbed.rungs[1].worse and climbed.best is climbed.rungs[0]


def test_a_dry_run_says_what_it_would_try_and_writes_nothing(photos, tmp_path, capsys):
    assert cli.main(words(photos, "--out", tmp_path / "run", "--dry-run", "--minutes", 3)) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "in about 3 minutes" in told and "9 classes to train on and to choose by, 3 others to test on" in told
    )
    assert not (tmp_path / "run").exists()


def test_the_list_of_pictures_is_the_division(photos, tmp_path):
    found = look.look(photos)
    rows = list(csv.DictReader(choose.write(tmp_path, found, seed=5).open()))
    split = {row["label"]: row["split"] for row in rows}
    assert len(rows) == 48 and list(split.values()).count("test") == 3
    assert split != {
        row["label"]: row["split"] for row in csv.DictReader(choose.write(tmp_path, found, 6).open())
    }


# --- the parts -----------------------------------------------------------------------------------------------


def test_principal_components_keep_distances_and_whitening_makes_the_spread_within_classes_equal():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(30), 40)
    stretched = rng.normal(size=(1200, 6)) * [10, 1, 1, 1, 1, 0.1]
    features = (rng.normal(size=(30, 6)) * 2)[labels] + stretched
    same = ladder.apply(ladder.components(features, 6), features)
    away = np.linalg.norm(features[0] - features[1:], axis=1)
    np.testing.assert_allclose(np.linalg.norm(same[0] - same[1:], axis=1), away, rtol=1e-4)
    found = ladder.apply(ladder.whitened(features, labels, 6, 1e-9), features)
    means = np.stack([found[labels == label].mean(axis=0) for label in range(30)])
    spread = np.cov((found - means[labels]).T, bias=True)
    np.testing.assert_allclose(spread, np.eye(6), atol=0.02)
    assert (
        judge.judge(found, labels).score(judge.NAMES[1])
        > judge.judge(features, labels).score(judge.NAMES[1]) + 0.1
    )


def test_an_interval_over_classes_holds_the_truth():
    """Of sets whose classes are easy or hard, 95 % of the intervals hold the mean over all classes."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(200):
        labels = np.repeat(np.arange(40), 20)
        values = (rng.random(800) < rng.uniform(0.2, 1, 40)[labels]).astype(float)
        low, high = judge.Judgement({"x": values}, labels).interval("x")
        held += low <= 0.6 <= high
    assert 175 <= held <= 200


def test_a_step_is_worse_only_beyond_the_noise():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(50), 10)
    values = rng.random(500)
    base = judge.Judgement({"x": values}, labels)
    assert not judge.Judgement({"x": values}, labels).worse(base, "x")
    assert judge.Judgement({"x": values - 0.05 * rng.random(500)}, labels).worse(base, "x")
    assert not judge.Judgement({"x": values + 0.05 * rng.random(500)}, labels).worse(base, "x")


def test_a_trial_starts_with_the_head_of_another(trained, tmp_path):
    source = trained / "fold0-member0.best.npz"
    given = {**dml.records.find(trained).config, "epochs": 0, "head": {"start": str(source)}}
    trial = dml.config.trial(given)
    learner = Learner(trial, 20, dml_contexts(trial))
    weights = ladder.trained_weights.read(source).arrays
    np.testing.assert_array_equal(
        learner.weights()["network.head.0.weight"], weights["network.head.0.weight"]
    )
    assert trial.id != dml.config.trial({**given, "head": {}}).id


def dml_contexts(trial):
    from dmlplayground.trial.training import models

    return models.devices(trial)


def test_neither_a_slow_start_nor_a_pause_is_counted(monkeypatch):
    now = 0.0

    def work(lengths):
        nonlocal now
        for length in lengths:
            now += length
            yield

    monkeypatch.setattr(ladder.time, "perf_counter", lambda: now)
    assert ladder.duration(work([9, 5, 0.5, 0.5, 2.3, 0.5])) == pytest.approx(0.5)
    assert ladder.duration(work([4])) == 4


def bad_folders(tmp_path: Path) -> dict[str, Path]:
    picture(tmp_path / "loose" / "1.jpg", 1)
    class_folders(tmp_path / "one", ["a"], per_class=5)
    class_folders(tmp_path / "two", CLASSES, per_class=1)
    (tmp_path / "phone" / "a").mkdir(parents=True)
    (tmp_path / "phone" / "a" / "1.HEIC").write_bytes(b"no image")
    (tmp_path / "empty").mkdir()
    return {path.name: path for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("loose", "images, but no folders of classes"),
        ("one", "1 class with at least 2 images"),
        ("two", "0 classes with at least 2 images"),
        (
            "phone",
            "1 file of a kind that is not read here (.heic: photographs of a telephone; save them as JPEG)",
        ),
        ("empty", "holds no images"),
        ("missing", "there is no folder"),
    ],
)
def test_what_cannot_be_trained_on_is_said_in_a_line(tmp_path, capsys, name, message):
    folder = bad_folders(tmp_path).get(name, tmp_path / name)
    assert cli.main(words(folder, "--out", tmp_path / "run")) == 2
    assert message in capsys.readouterr().err.splitlines()[-1] and not (tmp_path / "run").exists()
