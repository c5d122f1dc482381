"""Bundles: what goes in, what a verification finds, and that nothing in them runs by itself."""

import json
import shutil

import pytest
from test_external import HONEST, given

import dmlplayground as dml
from dmlplayground.base.errors import UserError
from dmlplayground.cli import main
from dmlplayground.trial import bundles
from dmlplayground.trial.store import checks, records


@pytest.fixture(scope="module")
def store(trained, tmp_path_factory):
    copy = tmp_path_factory.mktemp("bundled") / "store"
    shutil.copytree(trained.parent, copy)
    return copy


def test_a_bundle_verifies_to_the_last_bit(store, tmp_path, capsys):
    made = bundles.bundle(store, tmp_path / "mine.tar.gz")
    assert made.read_bytes() == bundles.bundle(store, tmp_path / "again.tar.gz").read_bytes()
    assert main(["verify", str(made), "--sample", "1"]) == 0
    assert "the same to the last bit" in capsys.readouterr().out


def changed(store, tmp_path, change):
    copy = tmp_path / "changed"
    shutil.copytree(store, copy)
    (path,) = copy.glob(f"*/{records.RECORD}")
    content = json.loads(path.read_text())
    change(content)
    content.pop(checks.CHECKSUM)
    path.write_text(json.dumps(checks.sealed(content)))  # who forges a record can do that too
    return bundles.bundle(copy, tmp_path / "changed.tar.gz")


def test_one_changed_digit_is_found(store, tmp_path):
    def change(content):
        metrics = content["results"]["best"]["metrics"]
        metrics["R@1"] = round(metrics["R@1"], 4) + 1e-4

    found = bundles.verify(changed(store, tmp_path, change), sample=1)
    assert found[-1].holds is False and "differ by up to" in found[-1].said


def test_settings_that_are_not_those_of_the_id_are_found(store, tmp_path):
    found = bundles.verify(
        changed(store, tmp_path, lambda c: c["config"].update(batch_size=c["config"]["batch_size"] * 2)), 0
    )
    assert [one.holds for one in found] == [True, True, False]


def test_more_steps_than_the_budget_are_found(store, tmp_path):
    def change(content):
        content["epochs"].append({**content["epochs"][-1], "epoch": 99})

    found = bundles.verify(changed(store, tmp_path, change), 0)
    assert "more than" in found[2].said and found[2].holds is False


def test_another_processor_has_a_tolerance(store, tmp_path):
    def change(content):
        content["machine"]["processor"] = "another"
        content["results"]["best"]["metrics"]["R@1"] += 1e-4

    found = bundles.verify(changed(store, tmp_path, change), sample=1)
    assert found[-1].holds and "as this processor is another" in found[-1].said


def test_code_in_a_bundle_runs_only_where_its_reader_says_so(tmp_path):
    witness = tmp_path / "ran"
    body = f"Path({str(witness)!r}).touch()\n" + HONEST
    dml.train(given(tmp_path, body), tmp_path / "runs")
    made = bundles.bundle(tmp_path / "runs", tmp_path / "mine.tar.gz")
    (tmp_path / "mine.py").unlink()
    witness.unlink()
    found = bundles.verify(made)
    assert not witness.exists()
    assert [one.what for one in found if one.holds is None] == [
        "trials with code",
        "images that commands declare",
    ]
    assert next(one.said for one in found if one.what == "parts") == "mine.py"
    assert bundles.verify(made, run=True)[-1].said == "the same to the last bit"
    assert witness.exists()


def test_images_that_a_command_declares_beyond_its_budget_are_found(tmp_path):
    record = dml.train(given(tmp_path, HONEST), tmp_path / "runs")
    (declared,) = [one for one in bundles._findings([record], tmp_path, 0, False, 0) if "declare" in one.what]
    assert declared.holds is None and "nobody has counted them" in declared.said
    # Of 8 in all; the other epoch has 4.
    made = changed(tmp_path / "runs", tmp_path, lambda content: content["epochs"][-1].update(images=5))
    (declared,) = [one for one in bundles.verify(made) if "declare" in one.what]
    assert declared.holds is False and declared.said.endswith("9, and its budget is 8")
    assert main(["verify", str(made)]) == 1


def test_what_is_no_bundle_is_refused(tmp_path):
    (tmp_path / "x.tar.gz").write_text("nothing")
    with pytest.raises(UserError, match="is not a bundle"):
        bundles.verify(tmp_path / "x.tar.gz")
    with pytest.raises(UserError, match="ends in .tar.gz"):
        bundles.bundle(tmp_path, tmp_path / "x.zip")
