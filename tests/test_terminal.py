"""What a person sees in a terminal: lines that fit, completion, and that nothing is left to do."""

import functools
import io
import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import yaml
from data_fixture import class_folders
from sweeps_fixture import SMALL

from dmlplayground import cli, data
from dmlplayground.base import layout, optional
from dmlplayground.cli import listing
from dmlplayground.cli.commands import methods
from dmlplayground.parts.data.shared import decoded_cache
from dmlplayground.sweeps import display
from dmlplayground.trial.training.progress import Progress, describe

RUN = [sys.executable, "-m", "dmlplayground"]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_running_trial_keeps_its_score_and_time_in_any_width(width):
    entries = [{"epoch": 1, "loss": 1.2345}, {"epoch": 2, "loss": 0.5, "metrics": {"R@1": 0.4321}}]
    line = display.trial("multi_similarity-folder-efficientnet_lite0-e64-s0-ff9d6e600cfd", entries, 2, 6, 75)
    shown = display.fitted(line, width)
    assert len(shown) <= width and shown.endswith("R@1 43.21  1:15") and shown.startswith("  multi_sim")
    assert (shown == line) == (len(line) <= width)


def entry(**more):
    scores = {"measured_on": "test", "metrics": {"R@1": 0.5}}
    return {"fold": 0, "member": 0, "epoch": 1, "loss": 0.2, **scores, **more}


def test_an_epoch_says_what_it_was_measured_on():
    assert describe(entry()).strip() == "epoch 1: R@1 50.00  loss 0.2"
    assert describe(entry(member=2)).startswith("member 2, epoch 1: R@1")
    of_fold = describe(entry(measured_on="validation", fold=0, epoch=0))
    assert of_fold.startswith("fold 0, untrained: validation R@1 50.00")


def test_what_is_said_of_an_option_fits_any_width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    told = listing.as_text("methods", "npairs", methods)
    options = told.partition("Options, with their defaults:\n")[2].partition("\n\n")[0]
    assert "negatives" in options and max(map(len, options.splitlines())) <= 60
    assert told.count("keeps embeddings short") == 1  # not in the notes as well


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "pipe"])
def test_a_bar_counts_steps_and_foretells_the_end_where_a_terminal_shows_it(monkeypatch, capsys, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "200")
    told = Progress()
    told.begin(SimpleNamespace(epochs=3, id="npairs-glyphs"), units=2, done=1, held=None)
    time.sleep(0.11)  # a bar is drawn anew ten times a second
    told.step(5, 20, 0.25)
    told.epoch(entry(epoch=2))
    told.end()
    drawn = stream.getvalue()
    if stream.isatty():
        assert "epoch 2/6, step 5/20, loss 0.25" in drawn and "<?" not in drawn.split("step 5/20")[0][-30:]
    else:
        assert drawn == ""
    assert "epoch 2: R@1 50.00" in capsys.readouterr().out


def test_images_are_counted_where_a_terminal_shows_it(monkeypatch):
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        assert decoded_cache.progress(iter(()), 3).disable != stream.isatty()


def test_wrapped_lines_leave_paths_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    assert layout.prose("42 classes to train on: see runs/fit-photos/classes.csv").splitlines() == [
        "42 classes to train on: see", "runs/fit-photos/classes.csv"
    ]  # fmt: skip


@functools.cache
def script(shell: str) -> str:
    pytest.importorskip("shtab", reason=optional.PACKAGES["shtab"].install)
    return subprocess.run([*RUN, "completion", shell], capture_output=True, text=True, check=True).stdout


def completed(*words: str) -> list[str]:
    typed = " ".join(["dmlplayground", *words])
    ask = f"{script('bash')}\nCOMP_WORDS=({typed})\nCOMP_CWORD={len(words)}\n_shtab_dmlplayground\n"
    ask += 'printf "%s\\n" "${COMPREPLY[@]}"'
    return subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True).stdout.split()


def test_bash_completes_commands_options_names_and_keys():
    assert {"backbones", "samplers"} <= set(completed(""))
    assert completed("trai") == ["train"]
    assert {"sweep", "serve"} <= set(completed("s"))
    assert completed("train", "--dry") == ["--dry-run"]
    assert completed("data", "prep") == ["prepare"]
    assert completed("completion", "fi") == ["fish"]
    assert completed("train", "npair") == ["npairs"]
    assert completed("methods", "npair") == ["npairs"]
    assert completed("sweep", "quick") == ["quickstart"]
    assert completed("tune", "musgrave2020/search/tripl") == ["musgrave2020/search/triplet"]
    assert completed("train", "npairs", "--set", "optimizer.l") == ["optimizer.lr="]
    assert completed("train", "npairs", "--set", "epochs=3", "--hyperparams", "rot") == ["roth2020"]
    assert "fehervari2019/cub200/npairs" in completed("hyperparams", "fehervari2019/cub200/n")
    assert completed("data", "show", "gly") == ["glyphs"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_one_its_shell_can_read(shell):
    assert all(word in script(shell) for word in ("train", "dry-run", "npairs", "quickstart"))
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script(shell), text=True, capture_output=True).stderr == ""


def test_a_trial_that_was_trained_before_is_said_to_be(tmp_path, capsys):
    (tmp_path / "trial.yaml").write_text(
        yaml.safe_dump({**SMALL, "method": "npairs", "epochs": 1, "iterations": 1})
    )
    command = ["train", str(tmp_path / "trial.yaml"), "--quiet", "--store", str(tmp_path / "runs")]
    told = []
    for _ in range(2):
        assert cli.main(command) == 0
        told.append(capsys.readouterr())
    assert "nothing to do" not in told[0].err
    assert "nothing to do: this trial has finished already" in told[1].err
    assert told[0].out == told[1].out


def test_clean_lists_the_cache_and_frees_only_what_is_ours(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))

    def run(*words: str) -> str:
        assert cli.main(list(words)) == 0
        return capsys.readouterr().out

    assert "is empty" in run("clean")
    folder = class_folders(tmp_path / "own", list("abcdef"))
    data.load("glyphs", classes=4, size=16, images_per_class=4)
    data.load("folder", path=str(folder))
    store = tmp_path / "cache" / "runs" / "trial"
    store.mkdir(parents=True)
    (store / "record.json").write_text("{}")

    told = run("clean")
    assert "glyphs-" in told and "images/folder-train-" in told and "nothing was deleted" in told
    assert run("clean") == told
    assert "freed." in run("clean", "--yes") and "is empty" in run("clean")
    assert (store / "record.json").exists() and folder.is_dir()
