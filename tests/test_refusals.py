"""Input that cannot work: one line that names it, exit code 2, before any work."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from dmlplayground import cli
from dmlplayground.data.catalogue import Entry, divide
from dmlplayground.errors import UserError
from dmlplayground.trained.index import Index


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


def test_a_store_that_is_a_file(tmp_path, capsys):
    file = tmp_path / "store.txt"
    file.write_text("text")
    assert f"{file} is a file" in told(capsys, "train", "npairs", "--store", file, "--dry-run")


def test_a_split_by_a_negative_seed():
    entries = [Entry(f"{number}.png", f"class{number}") for number in range(4)]
    with pytest.raises(UserError, match="data set folder: seed must not be negative, not -1"):
        divide(entries, 0.5, None, "data set folder", seed=-1)


def test_an_index_of_numbers_that_are_not_finite(tmp_path):
    np.save(tmp_path / "index.npy", np.full((1, 4), np.nan, np.float32))
    (tmp_path / "index.json").write_text(json.dumps({"files": ["a"], "classes": [""], "digests": ["x"]}))
    with pytest.raises(UserError, match="not finite"):
        Index.load(tmp_path / "index.npy", SimpleNamespace(width=4))
