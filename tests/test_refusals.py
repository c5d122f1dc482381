"""Input that cannot work: one line that names it, exit code 2, before any work."""

import dataclasses
import io
import json
import math
import os
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

import dmlplayground as dml
from dmlplayground import cli, config, protocols
from dmlplayground.base import threads
from dmlplayground.base.errors import UserError
from dmlplayground.serving.index import Index
from dmlplayground.serving.model import Model
from dmlplayground.sweeps.search_space import Search


def told(capsys, *words: object) -> str:
    assert cli.main([*map(str, words)]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("error: ")
    return errors


@pytest.mark.parametrize("method", [None, 3, ["npairs"], {"name": ["npairs"]}, {"margin": 1}])
def test_a_grid_of_methods_that_are_none(tmp_path, capsys, method):
    (tmp_path / "grid.yaml").write_text(json.dumps({"title": "x", "grid": {"method": [method]}}))
    assert "method" in told(capsys, "sweep", tmp_path / "grid.yaml", "--dry-run")


def test_weights_that_are_not_there_are_found_by_a_dry_run(tmp_path, capsys):
    weights = tmp_path / "none.params"
    words = ("train", "npairs", "--set", f"backbone.pretrained={weights}", "--dry-run", "--store", tmp_path)
    assert f"{weights} is not a file" in told(capsys, *words)


def test_an_empty_word_is_no_method(capsys):
    assert "'' is neither a known method nor a file. Known: " in told(capsys, "train", "", "--dry-run")


def test_a_store_that_is_a_file(tmp_path, capsys):
    file = tmp_path / "store.txt"
    file.write_text("text")
    assert f"{file} is a file" in told(capsys, "train", "npairs", "--store", file, "--dry-run")


@pytest.mark.parametrize("name", ["folder", "list", "parquet", "features"])
def test_a_split_by_a_negative_seed(name):
    with pytest.raises(UserError, match=f"data set {name}: seed must not be negative, not -1"):
        dml.data.load(name, path="anywhere", seed=-1)


def test_an_index_of_numbers_that_are_not_finite(tmp_path):
    np.save(tmp_path / "index.npy", np.full((1, 4), np.nan, np.float32))
    (tmp_path / "index.json").write_text(json.dumps({"files": ["a"], "classes": [""], "digests": ["x"]}))
    with pytest.raises(UserError, match="not finite"):
        Index.open(tmp_path / "index.npy", SimpleNamespace(width=4))


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    "low, high", [(0.1, 0.01), (0.1, 0.1), (0, 1), (math.nan, 1), (0.1, math.nan), (0.1, math.inf)]
)
def test_rates_that_cannot_be_gone_through(tmp_path, capsys, low, high, more):
    words = ("lr", "npairs", f"--low={low}", f"--high={high}", "--out", tmp_path / "rates.svg", *more)
    assert f"the lower one first, not {low:g} and {high:g}" in told(capsys, *words)


@pytest.mark.parametrize("command", ["lr", "fit"])
def test_a_dry_run_of_any_training_looks_for_the_weights(tmp_path, capsys, command):
    pictures = tmp_path / "pictures"
    for number in range(18):
        path = pictures / f"class{number // 3}" / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (32, 32)).save(path)
    what = {"lr": "npairs", "fit": pictures}[command]
    words = (
        command,
        what,
        "--set",
        f"backbone.pretrained={tmp_path / 'none.params'}",
        "--out",
        tmp_path / "out.svg",
    )
    assert f"{tmp_path / 'none.params'} is not a file" in told(capsys, *words, "--dry-run")
    assert list(tmp_path.iterdir()) == [pictures]


def test_a_store_without_finished_trials_has_nothing_to_compare(tmp_path, capsys):
    assert f"no trial in {tmp_path} has finished" in told(capsys, "compare", tmp_path, tmp_path)


def test_an_option_that_a_data_set_does_not_have(capsys):
    words = ("data", "show", "glyphs", "--set", "split=0")
    assert "unknown option of data set glyphs: 'split'" in told(capsys, *words)


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_features_that_are_not_finite_are_no_good_data_set(tmp_path, capsys, wrong):
    path, features = tmp_path / "features.npz", np.ones((8, 3))
    words = ("data", "verify", "features", "--set", f"path={path}")
    np.savez(path, features=features, labels=np.arange(8) // 2)
    assert cli.main([*words]) == 0
    assert "features (train): 4 images" in capsys.readouterr().out
    features[5, 1] = wrong
    np.savez(path, features=features, labels=np.arange(8) // 2)
    assert f"{path} holds numbers that are not finite" in told(capsys, *words)


@pytest.mark.parametrize(
    "words",
    [
        ("embed", "trial", "photos", "--out", ""),
        ("export", "trial", ""),
        ("fit", "photos", "--out", ""),
        ("train", "npairs", "--store", ""),
        ("train", "npairs", "--hyperparams", ""),
        ("report", ""),
        ("new", "miner", "mine", "--into", ""),
        ("data", "show", "glyphs", "--out", ""),
    ],
    ids=lambda words: words[0],
)
def test_a_path_that_is_empty(capsys, words):
    assert "must not be empty" in told(capsys, *words)


@pytest.mark.parametrize("name", ["x.csv", "x", "x.NPY", "."])
def test_embeddings_are_written_to_known_kinds_of_file_only(tmp_path, capsys, name):
    place = tmp_path / name
    said = f"an index is an .index, a .npy or a .parquet, not {place}"
    assert said in told(capsys, "embed", tmp_path / "no-trial", tmp_path, "--out", place)


@pytest.mark.parametrize("place", [".", "/"])
def test_a_network_needs_a_name_to_be_exported_under(place):
    with pytest.raises(UserError, match="is a folder: add the name"):
        Model.export(SimpleNamespace(), place)


def test_a_search_by_no_criterion(monkeypatch):
    """Such a protocol can be trained under: the headline chooses the epochs."""

    class Open(type(protocols.create("validated"))):
        def __init__(self, *, folds: int = 2, criterion: str | None = None):
            super().__init__(folds=folds, criterion=criterion)

    part = dataclasses.replace(protocols.get("validated"), key="open", build=Open)
    monkeypatch.setitem(protocols.KIND._parts, "open", part)
    given = {"method": "npairs", "protocol": "open", "optimizer": {"lr": {"range": [0.1, 0.2]}}}
    assert config.trial({**given, "optimizer": {}}).protocol["criterion"] is None
    with pytest.raises(UserError, match="a search needs a criterion, and the protocol open names none"):
        Search("x", given).check()
    Search("x", {**given, "protocol": {"name": "open", "criterion": "R@1"}}).check()


def test_pictures_that_no_machine_holds_fail_a_dry_run(tmp_path, capsys):
    words = ("train", "npairs", "--dry-run", "--store", tmp_path, "--set")
    assert "classes must be from 2 to 40000" in told(capsys, *words, "data.classes=100000000000")
    assert "resize must be from 1 to 4096" in told(capsys, *words, "transform={name: paper, resize: 1000000}")


@pytest.mark.parametrize(
    "words",
    [("retrieve", "trial", "query.jpg", "photos", "--picture"), ("data", "show", "glyphs", "--out")],
    ids=lambda words: words[0],
)
def test_pictures_are_written_as_png_only(capsys, words):
    assert "must end in .png, not found.jpg" in told(capsys, *words, "found.jpg")


@pytest.mark.parametrize("command", ["sweep", "tune"])
def test_a_dry_run_asks_for_a_known_executor_and_known_trackers(capsys, command):
    words = (command, "quickstart", "--dry-run")
    assert "unknown executor 'slurm'. Known: local, ray." in told(capsys, *words, "--executor", "slurm")
    assert "unknown tracker 'neptune'" in told(capsys, *words, "--log", "neptune")


def test_a_store_below_a_file(tmp_path, capsys):
    file = tmp_path / "store.txt"
    file.write_text("text")
    words = ("train", "npairs", "--store", file / "runs", "--dry-run")
    assert f"cannot be made: {file} is a file" in told(capsys, *words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train", "npairs", "--threads", "1000000000000"), "must be at most 1,024"),
        (("evaluate", "points.npy", "labels.npy", "--ks", "1,10001"), "must be at most 10,000"),
        (("evaluate", "a.npy", "b.npy", "--ks", "9" * 5000), f"must be a whole number, not {'9' * 20}..."),
        (("retrieve", "a", "b", "c", "--count", "many"), "must be a whole number, not many"),
    ],
    ids=lambda given: given[0],
)
def test_numbers_that_are_none_or_too_large(capsys, words, said):
    assert f"{said} (dmlplayground {words[0]} --help)" in told(capsys, *words)


@pytest.mark.parametrize("setting", ["many", "0", "-1", "1000000000000", "x,2"])
def test_a_number_of_threads_that_ends_mxnet(monkeypatch, setting):
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    with pytest.raises(UserError, match=f"OMP_NUM_THREADS must be a number from 1 to 1024, not '{setting}'"):
        threads.arithmetic()


@pytest.mark.parametrize(("setting", "kept"), [("4,2", "4"), ("3", "3"), ("", "")])
def test_of_threads_for_every_level_mxnet_gets_the_first(monkeypatch, setting, kept):
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    threads.arithmetic()
    assert os.environ["OMP_NUM_THREADS"] == kept


@pytest.mark.parametrize("steps", ["1", "9" * 20])
def test_steps_that_are_too_few_or_too_many(tmp_path, capsys, steps):
    words = ("lr", "npairs", "--steps", steps, "--out", tmp_path / "rates.svg", "--dry-run")
    assert f"the rate rises over 2 to 1,000,000 steps, not {steps}" in told(capsys, *words)


def test_what_is_for_trials_is_refused_for_arrays(capsys):
    words = ("evaluate", "a.npy", "b.npy")
    for option in ("--data=cub200", "--split=train", "--engine=fused"):
        assert "data, split and engine are for a trial" in told(capsys, *words, option)


def test_several_arrays_are_not_one(tmp_path, capsys):
    np.savez(tmp_path / "several.npz", features=np.ones((4, 2)))
    path = tmp_path / "several.npz"
    assert (
        told(capsys, "evaluate", path, path) == f"error: {path} holds several arrays; give a .npy of one.\n"
    )


def test_a_sheet_is_no_wider_than_its_longest_row(tmp_path, capsys):
    words = (
        "data",
        "show",
        "glyphs",
        "--set",
        "classes=4",
        "--set",
        "images_per_class=3",
        "--set",
        "size=16",
    )
    out = tmp_path / "sheet.png"
    assert cli.main([*words, "--per-class", "1000000000", "--out", str(out)]) == 0
    with Image.open(out) as sheet:
        assert sheet.width == 4 * (16 + 2) + 2


@pytest.mark.parametrize("output", ["closed", "ascii"])
def test_output_that_is_closed_or_knows_few_characters(monkeypatch, tmp_path, output):
    written = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", None if output == "closed" else written)
    monkeypatch.setattr("dmlplayground.cli.listing.as_text", lambda *_: "a – b")
    assert cli.main(["methods", "npairs"]) == 0
    written.seek(0)
    assert written.read() == ("" if output == "closed" else "a ? b\n")


X, LABELS = np.eye(6, dtype=np.float32), np.repeat(np.arange(3), 2)


def made(key="triplet", **options):
    return dml.methods.loss(key, **{"num_classes": 3, "embed_dim": 6, **options})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: made(num_classes="3"), "num_classes must be a whole number of at least 1, not '3'"),
        (lambda: made(embed_dim=-4), "embed_dim must be a whole number of at least 1, not -4"),
        (lambda: made(mining=5), "by its name, or by a mapping with a name and options, not 5"),
        (lambda: made(mining={"margin": 1}), "by its name, or by a mapping with a name and options, not"),
        (lambda: made(regularizers="zero_mean"), "regularizers must be a list of names or mappings"),
        (lambda: made(regularizers=[7]), "by its name, or by a mapping with a name and options, not 7"),
        (lambda: made(memory=5), "memory must be a mapping, such as {'size': 1024}, not 5"),
        (lambda: made(memory={"sise": 5}), "unknown option of memory: 'sise'. Did you mean 'size'"),
        (lambda: made(memory={"size": "5"}), "memory: size must be a whole number, not '5'"),
        (lambda: made()(X, list("aabbcc")), "labels must be numbers, not <U1"),
        (lambda: made().on_triplets(X, LABELS, [0], [1], [50]), "rows are numbers from 0 to 5, not [50]"),
        (lambda: made().on_triplets(X, LABELS, [0], [1, 1], [2]), "lists of one length"),
        (lambda: made("contrastive").on_pairs(X, LABELS, [0], [-1], [0], [2]), "from 0 to 5, not [-1]"),
        (lambda: dml.mining.create("semihard").mine(X, LABELS[:3]), "embeddings are (B, E) and labels (B,)"),
        (
            lambda: dml.samplers.create("shuffled", LABELS, -4),
            "batch_size must be a whole number of at least 1",
        ),
        (
            lambda: dml.samplers.create("shuffled", LABELS, 4, iterations=0),
            "iterations must be a whole number",
        ),
        (lambda: dml.samplers.create("shuffled", X, 4), "not an array of shape (6, 6)"),
        (lambda: dml.samplers.create("shuffled", [], 4), "not an array of shape (0,)"),
        (lambda: dml.metrics.evaluate(X, LABELS, ks=5), "ks must be a list of whole numbers, not 5"),
        (lambda: dml.metrics.evaluate(X, LABELS, ks=["a"]), "K must be a whole number, not 'a'"),
        (lambda: config.trial({"method": "npairs"}, "epochs=3"), "overrides must be a list of texts"),
        (lambda: dml.sweep("quickstart", "nowhere", workers=0), "workers must be at least 1, not 0"),
    ],
)
def test_wrong_arguments_in_python_are_told_in_one_line(call, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as caught:
        call()
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_embeddings_and_labels_may_be_lists():
    assert made()(X.tolist(), LABELS.tolist()) == made()(X, LABELS)


def test_a_store_in_a_trials_place(trained):
    with pytest.raises(UserError, match=f"is a store: name one of its trials, such as .*{trained.name}"):
        dml.evaluate(trained.parent)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--where", "methd=margin"], "unknown key of the grid's trials: 'methd'. Did you mean 'method'"),
        (["--where", "method=margn"], "unknown method in this grid: 'margn'. Did you mean 'margin'"),
        (["--set", "evaluation.headline=foo"], "seed 1 and 38 more: unknown metric 'foo'"),
    ],
)
def test_what_is_wrong_in_all_trials_of_a_grid_is_told_once(words, said, capsys):
    error = told(capsys, "sweep", "quickstart", "--dry-run", *words)
    assert said in error and len(error.splitlines()) == 1


def test_a_grid_over_a_misspelt_key(tmp_path, capsys):
    file = tmp_path / "grid.yaml"
    file.write_text("title: x\ngrid: {methd: [margin]}\n")
    assert "unknown configuration key 'methd'. Did you mean 'method'" in told(
        capsys, "sweep", file, "--dry-run"
    )
