"""The command line as a person meets it: every command once by a subprocess."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from sweeps_fixture import SMALL

from dmlplayground import cli, config, methods
from dmlplayground.base import errors, registry
from dmlplayground.cli import run_summary


def run(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "dmlplayground", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def test_help_tells_a_newcomer_what_there_is():
    out = run("--help")
    assert out.returncode == 0
    for command in ("methods", "train", "sweep", "report", "data", "evaluate", "doctor"):
        assert command in out.stdout
    detail = run("sweep", "--help")
    assert "example: dmlplayground sweep quickstart" in detail.stdout
    assert "--dry-run" in detail.stdout


def test_methods_are_listed_and_told():
    assert set(methods.names()) <= set(run("methods").stdout.split())
    story = " ".join(run("methods", "npairs").stdout.split())  # in lines of any width
    assert "fehervari2019/cub200" in story  # settings to be had by name
    assert "51.61" in story  # the result reported with them
    assert "64: 53.68, 128: 58.04" in story  # the study's curve
    option = "method.l2_reg = 0.0005 (a number) weight of the term that keeps embeddings short."
    for words in ("NIPS 2016", "log softmax", option, "batch_size: 128", "reads: batch"):
        assert words in story


def test_backbones_and_data_are_listed():
    assert "conv4" in run("backbones").stdout
    assert "glyphs" in run("data").stdout


def test_searches_are_told_too():
    told = run("experiments", "musgrave2020/search/snr_contrastive").stdout
    assert told.startswith("snr_contrastive: The search of the Reality Check: SNR contrastive\n")
    assert "A search of 50 trials:\n  method.pos_margin      0.0 to 2.0\n" in told
    assert "this is Optuna" in told and "regularizers.0.weight  0.0 to 1.0" in told
    told = run("experiments", "equal/search/tune_glyphs").stdout
    assert told.startswith("tune_glyphs: ") and "methods: angular, arcface" in told


def test_experiments_are_listed_and_told():
    listed = run("experiments").stdout
    assert "table2_cub200" in listed
    assert "Table 2: CUB-200-2011" in listed
    told = run("experiments", "table2_cub200").stdout
    for words in ("main table", "A grid of 260 trials", "backbone  [inception_bn, resnet50_v2]"):
        assert words in told


def test_a_list_as_json(capsys):
    assert cli.main(["samplers", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == set(registry.kind("samplers").names())
    assert cli.main(["data", "glyphs", "--json"]) == 0
    [(name, facts)] = json.loads(capsys.readouterr().out).items()
    size = facts["options"]["size"]
    assert name == "glyphs" and size["default"] == 64 and size["note"] and "whole number" in size["type"]


def test_a_near_name_is_named_alone():
    """Of many names; where none is near, or there are few, all are listed."""
    assert str(errors.unknown("method", "nparis", methods.names())).endswith("Did you mean 'npairs'?")
    assert "Known: angular, " in str(errors.unknown("method", "zzzz", methods.names()))
    assert str(errors.unknown("split", "tran", ["test", "train"])).endswith("Known: test, train.")


def test_a_misspelt_search_is_answered_with_a_search():
    out = run("experiments", "musgrave2020/search/tripet")
    assert out.returncode == 2 and "Did you mean 'musgrave2020/search/triplet'" in out.stderr


def test_the_whole_story_of_a_study():
    told = run("studies", "musgrave2020").stdout
    for words in ("68.13 ± 0.31", "musgrave2020/table4_glyphs", "musgrave2020/search/triplet", "fast_ap,"):
        assert words in told


def test_the_whole_story_of_a_part():
    story = run("transforms", "paper").stdout
    assert "transform.crop = 0.875  (a number)\n      the crop's share of height and width" in story
    assert story.count("the crop's share") == 1  # told with its option, and not in the notes again
    assert "also known as N-pairs batches" in run("samplers", "pairs").stdout


def test_train_evaluate_and_report(tmp_path, capsys):
    path = tmp_path / "trial.yaml"
    path.write_text(yaml.safe_dump({**SMALL, "method": "npairs", "iterations": 2, "epochs": 1}))
    assert cli.main(["train", str(path), "--store", str(tmp_path / "store"), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "1 not started" in told and not (tmp_path / "store").exists()
    settings = textwrap.dedent(told.partition("all settings:\n")[2].partition("\nnpairs-")[0])
    assert config.trial(yaml.safe_load(settings)) == config.trial(config.read_yaml(str(path)))
    out = run("train", path, "--store", tmp_path / "store", "--set", "seed=7")
    assert out.returncode == 0, out.stderr
    assert "untrained" in out.stdout
    folder = next((tmp_path / "store").iterdir())
    assert "-s7-" in folder.name
    assert cli.main(["evaluate", str(folder), "--no-clustering"]) == 0
    scores = capsys.readouterr().out
    assert "R@1" in scores
    assert "NMI" not in scores
    report = run("report", tmp_path / "store")
    assert report.returncode == 0, report.stderr
    assert "untrained" in report.stdout.lower()


def test_a_recipe_brings_its_network_and_what_it_sets_is_printed():
    told = run(
        "train", "npairs", "--dry-run", "--hyperparams", "fehervari2019", "--set", "data=cub200"
    ).stdout
    lines = [line.split(maxsplit=1) for line in told.splitlines()]
    assert ["data", "cub200"] in lines
    assert ["network", "inception_bn (pretrained=imagenet)"] in lines
    assert ["protocol", "paper"] in lines
    assert "the recipe sets backbone.name=inception_bn" in told
    told = run("sweep", "quickstart", "--dry-run", "--where", "method=npairs").stdout
    assert told.startswith("data      glyphs")


def test_training_that_ends_below_the_untrained_network_says_so():
    def told(last):
        scores = {"untrained": 0.3, "best": 0.5, "last": last}
        results = {
            key: {"epoch": 1, "metrics": {"R@1": value, "NMI": value}} for key, value in scores.items()
        }
        config = {"protocol": {"name": "paper"}}
        return run_summary.results(SimpleNamespace(config=config, results=results, seconds=1.0), Path("runs"))

    assert "below the untrained network: R@1 20.00 (before: 30.00); NMI" in told(0.2)
    assert "warning" not in told(0.4)


def test_evaluate_bare_arrays(tmp_path):
    points = np.array([[0.0], [1.0], [2.0], [9.0]], np.float32)
    np.save(tmp_path / "points.npy", points)
    np.save(tmp_path / "labels.npy", np.array([0, 0, 1, 1]))
    out = run("evaluate", tmp_path / "points.npy", tmp_path / "labels.npy", "--ks", "1,2")
    assert out.returncode == 0, out.stderr
    assert ["R@1", "75.00"] in [line.split() for line in out.stdout.splitlines()]


BAD = {
    "nothing": ([], "COMMAND"),
    "unknown command": (["trian"], "Did you mean 'train'"),
    "no method": (["train"], "required: config (dmlplayground train --help)"),
    "unknown option": (
        ["train", "npairs", "--stre", "x"],
        "dmlplayground train '--stre'. Did you mean '--store'",
    ),
    "unknown option of an action": (
        ["data", "show", "glyphs", "--ot", "x"],
        "show '--ot'. Did you mean '--out'",
    ),
    "one word too many": (
        ["train", "npairs", "margin"],
        "unexpected argument: margin (dmlplayground train --help)",
    ),
    "unknown action": (["data", "shwo", "glyphs"], "Did you mean 'show'"),
    "unknown experiment to read about": (["experiments", "quikstart"], "Did you mean 'quickstart'"),
    "unknown sampler": (["samplers", "N-pairs batch"], "Did you mean 'pairs'"),
    "unknown method": (["methods", "nparis"], "Did you mean 'npairs'"),
    "unknown method to train": (["train", "nparis"], "Did you mean 'npairs'"),
    "unknown setting": (["train", "npairs", "--set", "batchsize=3"], "unknown configuration key 'batchsize'"),
    "impossible batch": (["train", "margin", "--set", "batch_size=12"], "class blocks of 5"),
    "too many pairs": (["train", "npairs", "--set", "data.classes=20"], "the training split has 10"),
    "too many pairs, before training": (
        ["train", "npairs", "--dry-run", "--set", "data.classes=20", "--set", "batch_size=64"],
        "needs 32 classes, but the training split has 10",
    ),
    "too many pairs of a set that is yet to come": (
        ["train", "npairs", "--dry-run", "--set", "data=cub200", "--set", "batch_size=256"],
        "the training split has 100",
    ),
    "no such GPU": (
        ["train", "npairs", "--dry-run", "--set", "device=gpu", "--set", "devices=64"],
        "'gpu:63'",
    ),
    "amp on a CPU": (["train", "npairs", "--dry-run", "--set", "device=cpu", "--set", "amp=true"], "amp"),
    "impossible pictures": (["train", "npairs", "--dry-run", "--set", "data.size=3"], "from 16 to 512"),
    "data that are not there": (
        ["train", "npairs", "--dry-run", "--set", "data=folder", "--set", "data.path=nowhere"],
        "there is no folder nowhere",
    ),
    "unknown experiment": (["sweep", "quikstart"], "Did you mean 'quickstart'"),
    "empty grid": (["sweep", "quickstart", "--where", "method=none"], "unknown method in this grid: 'none'"),
    "no store": (["report", "nowhere"], "nowhere"),
    "no embeddings": (["evaluate", "absent.npy", "absent.npy"], "cannot read absent.npy"),
    "no trial": (["evaluate", "absent"], "cannot read absent"),
    "no number": (["sweep", "quickstart", "--workers", "0"], "at least 1"),
    "bad ranks": (["evaluate", "a", "b", "--ks", "1,x"], "--ks"),
    "unknown data set": (["data", "show", "glyhps"], "Did you mean 'glyphs'"),
    "bad option": (["data", "show", "glyphs", "--set", "size=1"], "size"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_with_2_and_one_message(case, tmp_path, monkeypatch, capsys):
    arguments, words = BAD[case]
    monkeypatch.chdir(tmp_path)
    code = cli.main(arguments)
    told = capsys.readouterr()
    assert code == 2, told.err
    assert told.err.startswith("error: ") and len(told.err.splitlines()) == 1
    assert words in told.err
    assert not told.out
    assert not list(tmp_path.iterdir())


def test_bad_input_is_no_traceback_in_a_process_of_its_own(tmp_path):
    out = run("train", "nparis", folder=tmp_path)
    assert (out.returncode, out.stdout) == (2, "")
    assert out.stderr.startswith("error: ") and len(out.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
