"""Parts from outside the package: files, scripts, stores and installed packages."""

import subprocess
import sys

import pytest

import dmlplayground as dml
from dmlplayground.base import outside
from dmlplayground.base.errors import UserError
from dmlplayground.cli import main
from dmlplayground.trial import config

SAMPLER = """
from dmlplayground.parts.samplers.shared.base import KIND, BatchSampler


@KIND.register(title="Rows of one's own")
class Own(BatchSampler):
    '''Random rows. {remark}'''

    def check(self, batch_size, num_classes):
        self.require(batch_size < 1000, "too large")

    def draw(self, rng):
        return rng.integers(self.size, size=self.batch_size)
"""
TINY = {
    "method": "triplet",
    "data": {"name": "glyphs", "classes": 12, "images_per_class": 4, "size": 24},
    "embed_dim": 4,
    "batch_size": 8,
    "iterations": 1,
    "epochs": 1,
    "evaluation": {"clustering": False, "ks": [1]},
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(outside.resources, "cache", lambda: tmp_path / "cache")


def written(folder, remark="", name="own_rows"):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(SAMPLER.format(remark=remark))
    return folder / f"{name}.py"


def test_a_file_is_a_part_and_its_digest_is_in_the_id(tmp_path):
    wanted = {**TINY, "sampler": "own_rows"}
    first = config.trial({**wanted, "parts": [str(written(tmp_path / "a"))]})
    moved = config.trial({**wanted, "parts": [str(written(tmp_path / "b"))]})
    other = config.trial({**wanted, "parts": [str(written(tmp_path / "c", "Changed."))]})
    assert first.id == moved.id != other.id
    assert len(first.parts[0]["sha256"]) == 64
    without = config.trial(TINY)
    assert config.trial({**TINY, "parts": [str(tmp_path / "a" / "own_rows.py")]}).id == without.id
    with pytest.raises(UserError, match="sampler own_rows: too large"):
        config.trial({**wanted, "batch_size": 1002, "parts": [str(tmp_path / "a" / "own_rows.py")]})


def test_a_trial_says_when_its_part_has_changed(tmp_path, capsys):
    file = written(tmp_path / "own", "First.")
    record = dml.train({**TINY, "sampler": "own_rows"}, tmp_path / "runs", parts=[file])
    folder = tmp_path / "runs" / record.id
    file.write_text(SAMPLER.format(remark="Second."))

    def fresh(*words):
        done = subprocess.run(
            [sys.executable, "-m", "dmlplayground", *words], capture_output=True, text=True, cwd=tmp_path
        )
        return done.returncode, done.stdout + done.stderr

    code, said = fresh("train", str(folder / "trial.json"), "--store", str(tmp_path / "runs"))
    assert code == 2 and "own_rows.py has changed since the trial was made" in said
    assert main(["report", str(tmp_path / "runs")]) == 0
    assert "own_rows.py has changed since it was used" in capsys.readouterr().err


def test_code_of_a_store_runs_only_if_its_user_has_run_it(tmp_path, monkeypatch):
    file = written(tmp_path / "own", "Handed.")
    trial = config.trial({**TINY, "sampler": "own_rows", "parts": [str(file)]})
    outside.keep(trial.parts, tmp_path / "runs")
    monkeypatch.setattr(outside, "_loaded", {})
    outside.recall(trial.parts, tmp_path / "runs")
    monkeypatch.setattr(outside, "_loaded", {})
    monkeypatch.setattr(outside.resources, "cache", lambda: tmp_path / "another")
    with pytest.raises(UserError, match="is a program that you have not run yet"):
        outside.recall(trial.parts, tmp_path / "runs")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "registers no part"),
        ("x = (", "cannot be loaded: line 1: SyntaxError"),
        ("\nraise ValueError('no')", "cannot be loaded: line 2: ValueError: no"),
        (
            SAMPLER.replace("register(", 'register("pairs", '),
            "a sampler called pairs is in the package already",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_a_line(text, message, tmp_path):
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(UserError, match=message):
        outside.load([tmp_path / "bad.py"])


def test_an_installed_package_brings_its_parts(tmp_path):
    (tmp_path / "brought.py").write_text(
        SAMPLER.replace("register(", 'register("brought_rows", ').format(remark="")
    )
    info = tmp_path / "brought-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[dmlplayground.parts]\nmine = brought\n")
    program = "import dmlplayground as dml; print(dml.samplers.get('brought_rows').title)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": f"{tmp_path}:{':'.join(sys.path)}"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "Rows of one's own\n", done.stderr
