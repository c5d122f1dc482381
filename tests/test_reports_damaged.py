"""Stores with files that are damaged, yet can be read: each is named in one line, and the report shows the others."""

import gzip
import json
import shutil
from pathlib import Path

import pytest
from reports_fixture import record

from dmlplayground import reports
from dmlplayground.base import errors
from dmlplayground.base.errors import UserError
from dmlplayground.reports import usable_records
from dmlplayground.reports.grouping import arenas
from dmlplayground.trial import config
from dmlplayground.trial.store import checks, manifest, packed, records, snapshots
from dmlplayground.trial.training import scoring


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(errors, "_WARNED", set())
    for seed in (0, 1):
        made = record(seed=seed)
        made.save(tmp_path / made.id)
    return tmp_path


def damage(store, change, seed=1):
    """Change the content of the record of this seed, as if it had been written before there were checksums; gives its
    path."""
    path = next(store.glob(f"*-s{seed}/{records.RECORD}"))
    content = json.loads(path.read_text())
    del content[checks.CHECKSUM]
    change(content)
    path.write_text(json.dumps(content))
    return path


def best(content):
    return content["results"]["best"]


SHAPES = {
    "share above 1": lambda c: best(c)["metrics"].update({"R@1": 7.5}),
    "share below 0": lambda c: c["epochs"][3]["metrics"].update({"MAP@R": -0.5}),
    "not a number": lambda c: best(c)["metrics"].update({"R@1": float("nan")}),
    "infinite": lambda c: c["epochs"][2].update(loss=float("inf")),
    "text for a number": lambda c: best(c)["metrics"].update({"R@1": "high"}),
    "unknown status": lambda c: c.update(status="done"),
    "no results": lambda c: c.update(results={}),
    "results of another kind": lambda c: c.update(results={"untrained": c["results"]["untrained"]}),
    "results a list": lambda c: c.update(results=[1]),
    "result a word": lambda c: c["results"].update(best="good"),
    "epochs a mapping": lambda c: c.update(epochs={}),
    "epoch a number": lambda c: c["epochs"].append(3),
    "epoch without its number": lambda c: c["epochs"][0].pop("epoch"),
    "metrics a list": lambda c: c["epochs"][0].update(metrics=[0.5]),
    "config a list": lambda c: c.update(config=[]),
    "config without a method": lambda c: c["config"].pop("method"),
    "method a word": lambda c: c["config"].update(method="npairs"),
    "method null": lambda c: c["config"].update(method=None),
    "seed a word": lambda c: c["config"].update(seed="one"),
    "seconds a word": lambda c: c.update(seconds="long"),
    "id null": lambda c: c.update(id=None),
    "id of another trial": lambda c: c.update(id="another"),
    "nothing": lambda c: c.clear(),
    "epoch without a fold": lambda c: c["epochs"][0].pop("fold"),
    "health a word": lambda c: c["epochs"][1].update(health="good"),
    "metrics of training a list": lambda c: c["epochs"][1].update(training=[0.5]),
    "config without epochs": lambda c: c["config"].pop("epochs"),
    "evaluation a list": lambda c: c["config"].update(evaluation=[1]),
    "machine a list": lambda c: c.update(machine=[1]),
    "start a number": lambda c: c.update(started=5),
    "error a list": lambda c: c.update(status="failed", error=["x"]),
    "result without any metric": lambda c: best(c).update(metrics={}),
    "weights a number": lambda c: best(c).update(weights=3),
    "weights without names": lambda c: best(c).update(weights=[3]),
    "unknown metric": lambda c: best(c)["metrics"].update({"Q@1": 0.5}),
    "unknown protocol": lambda c: c["config"].update(protocol={"name": "none"}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_damaged_record_is_named_and_left_out(store, capsys, shape):
    path = damage(store, SHAPES[shape])
    assert [found.seed for found in usable_records.load(store)] == [0]
    [line] = capsys.readouterr().err.splitlines()
    assert path.parent.name in line
    assert line.endswith("It is left out.")


def test_a_report_and_a_comparison_go_on_without_the_damaged_ones(store, capsys):
    for seed, change in enumerate(SHAPES.values(), start=2):
        made = record(seed=seed)
        made.save(store / made.id)
        damage(store, change, seed)
    page = reports.report(store)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(SHAPES) and all(line.endswith("It is left out.") for line in lines)
    assert page.is_file()
    reports.compare(store, store)


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{}",
        "7",
        '{"trials": 3}',
        '{"trials": [3]}',
        '{"trials": [{"id": "x"}]}',
        "{half",
        '{"trials": [], "title": 3}',
    ],
)
def test_a_damaged_manifest_is_named(store, capsys, content):
    (store / manifest.FILE).write_text(content)
    assert manifest.read(store) == manifest.Manifest()
    [line] = capsys.readouterr().err.splitlines()
    assert str(store / manifest.FILE) in line


def test_a_report_goes_on_without_the_manifest(store, capsys):
    (store / manifest.FILE).write_text("{half")
    assert reports.report(store).is_file()
    assert str(store / manifest.FILE) in capsys.readouterr().err


def test_damaged_snapshots_are_named(store, capsys):
    for folder in store.glob("*-s*"):
        (folder / snapshots.FILE).write_bytes(b"PK damaged")
    assert reports.report(store).is_file()
    assert all(snapshots.FILE in line for line in capsys.readouterr().err.splitlines())


def test_a_copy_of_a_trial_under_another_name_is_not_counted_twice(store, capsys):
    folder = next(store.glob("*-s1"))
    shutil.copytree(folder, store / "copy")
    assert len(usable_records.load(store)) == 2
    assert "copy/record.json is the record of another trial" in capsys.readouterr().err


def test_one_record_alone_that_is_damaged_is_an_error(store):
    path = damage(store, SHAPES["unknown status"])
    with pytest.raises(
        UserError, match="its status 'done' is not one of running, finished, failed, interrupted"
    ):
        reports.report(path.parent)


@pytest.mark.parametrize("case", ["single", "equal", "zero", "nothing finite", "long names"])
def test_odd_stores_have_a_report_without_warnings_of_the_plotting_library(case, tmp_path, recwarn):
    long = {"backbone__name": "x" * 200} if case == "long names" else {}
    found = [record("margin", seed, 0.4, noise=0, **long) for seed in range(1 if case == "single" else 3)]
    for made in found if case in ("zero", "nothing finite") else []:
        for entry in [*made.epochs, *made.results.values()]:
            entry["metrics"] = dict.fromkeys(entry["metrics"], 0.0 if case == "zero" else None)
    assert reports.write(tmp_path, found, [], case).is_file()
    assert not recwarn.list


def test_a_score_that_is_not_finite_is_a_gap_in_its_curve(store):
    damage(store, lambda content: content["epochs"][2]["metrics"].update({"R@1": None}))
    assert reports.report(store).is_file()


def test_a_failure_without_a_reason_is_shown(store, capsys):
    damage(store, lambda content: content.update(status="failed", error=None, results={}))
    assert "it does not say why" in reports.report(store).read_text()
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"regularizers": None}, {"regularizers": []}),
        ({}, {"of_tomorrow": None}),
        (
            {"optimizer": {"name": "adam", "lr": 0.00123451}},
            {"optimizer": {"name": "adam", "lr": 0.00123449}},
        ),
    ],
)
def test_cells_that_look_alike_do_not_end_a_report(one, other, tmp_path):
    for side, changes in enumerate((one, other)):
        for seed in range(2):
            made = record("npairs", seed, 0.4 + side / 10)
            made.config.update(changes)
            made.id += f"-{side}"
            made.save(tmp_path / "alike" / made.id)
    assert reports.report(tmp_path / "alike").exists()
    [arena] = arenas(records.load_store(tmp_path / "alike"))
    same = "optimizer" not in one  # what is not set, and what is set to nothing
    assert len({cell.label for cell in arena.cells}) == len(arena.cells) == (1 if same else 2)


def changed_digits(text, every):
    """The text with one digit changed, for some of its digits."""
    content = json.loads(text)
    for place in [place for place, letter in enumerate(text) if letter.isdigit()][::every]:
        other = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        if json.loads(other) != content:  # a digit beyond what a number holds
            yield other


def test_one_changed_digit_of_a_record_is_refused(store, capsys):
    path = next(store.glob(f"*-s1/{records.RECORD}"))
    for text in changed_digits(path.read_text(), every=23):
        path.write_text(text)
        errors._WARNED.clear()
        assert [found.seed for found in records.load_store(store)] == [0]
        [line] = capsys.readouterr().err.splitlines()
        assert str(path) in line or path.parent.name in line


def test_every_reader_names_a_record_that_was_changed(store, capsys):
    other = store / "whole"
    record(seed=1).save(other / record(seed=1).id)
    path = next(store.glob(f"*-s1/{records.RECORD}"))
    path.write_text(path.read_text().replace('"steps": 20', '"steps": 21', 1))
    said = f"{path} is not the record of a trial, or is damaged: its content was changed after it was written"
    assert reports.report(store).is_file()
    assert said in capsys.readouterr().err
    errors._WARNED.clear()
    assert all(row.values[3].n == 1 for row in reports.compare(store, other).rows)
    assert said in capsys.readouterr().err
    with pytest.raises(UserError, match="checksum"):
        records.find(path.parent)
    with pytest.raises(UserError, match="checksum"):
        scoring.learners(path.parent)


def test_one_changed_digit_of_a_manifest_is_noticed(store, capsys):
    made = record(seed=0)
    manifest.write(store, "Title", "about", "file.yaml", {made.id: made.config})
    path = store / manifest.FILE
    assert manifest.read(store).title == "Title"
    for text in changed_digits(path.read_text(), every=7):
        path.write_text(text)
        errors._WARNED.clear()
        assert manifest.read(store) == manifest.Manifest()
        [line] = capsys.readouterr().err.splitlines()
        assert str(path) in line


def test_a_record_and_a_manifest_without_checksums_are_read(store):
    path = damage(store, lambda content: None)
    assert records.find(path.parent) == record(seed=1)
    content = {"title": "Older", "trials": [{"id": "x", "config": record().config}]}
    (store / manifest.FILE).write_text(json.dumps(content))
    assert manifest.read(store).title == "Older"


def test_a_record_without_a_checksum_must_have_the_configuration_of_its_id(store, capsys):
    made = record(seed=3)
    made.id = config.trial(made.config).id
    made.save(store / made.id)
    path = store / made.id / records.RECORD
    content = json.loads(path.read_text())
    del content[checks.CHECKSUM]
    path.write_text(json.dumps(content))
    assert 3 in [found.seed for found in usable_records.load(store)]
    content["config"]["batch_size"] += 2
    path.write_text(json.dumps(content))
    assert 3 not in [found.seed for found in usable_records.load(store)]
    [line] = capsys.readouterr().err.splitlines()
    assert made.id in line and "its configuration is not that of its id" in line


def test_a_manifest_without_a_checksum_must_have_the_configurations_of_its_ids(store, capsys):
    right, wrong = (config.trial(record(seed=seed).config) for seed in (7, 8))
    trials = [{"id": trial.id, "config": trial.mapping()} for trial in (right, wrong)]
    trials[1]["config"]["batch_size"] += 2
    (store / manifest.FILE).write_text(json.dumps({"title": "Older", "trials": trials}))
    stated = usable_records.planned(store)
    assert (stated.title, [one["id"] for one in stated.trials]) == ("Older", [right.id])
    [line] = capsys.readouterr().err.splitlines()
    assert wrong.id in line and right.id not in line
    assert wrong.id not in reports.report(store).read_text()


def test_records_of_older_versions_are_read(store):
    """Of parts and keys that no longer exist nothing can be said."""
    made = record(seed=3)
    trial = config.trial(made.config)
    assert config.agrees(trial.id, {**trial.mapping(), "once_called_so": 3})
    assert config.agrees(trial.id, {**trial.mapping(), "method": {"name": "forgotten"}})
    assert not config.agrees(trial.id[:-1] + ("0" if trial.id[-1] != "0" else "1"), trial.mapping())


def test_every_record_that_is_kept_is_read():
    kept = Path(__file__).resolve().parents[1] / "experiments" / "results"
    stores = {path.parents[1] for path in kept.rglob(records.RECORD)}
    stores |= {path.parent for path in kept.rglob(packed.FILE)}
    assert stores
    for one in stores:
        found, problems = records.survey(one)
        assert found and not problems
        assert len(usable_records.load(one)) == len(found)


def test_packed_records_carry_their_checksums(store, capsys):
    small = records.pack(store, store / "small")
    assert all(found.sealed for found in records.load_store(small.parent))
    with gzip.open(small, "rt") as lines:
        text = lines.read()
    with gzip.open(small, "wt") as lines:  # so that the file's own checksum is right
        lines.write(text.replace('"steps":20', '"steps":21', 1))
    assert len(records.load_store(small.parent)) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert str(small) in line and "checksum" in line


def test_packing_gives_no_checksum_to_what_had_none(store):
    damage(store, lambda content: None)
    kept = records.load_store(records.pack(store, store / "small").parent)
    assert sorted((found.seed, found.sealed) for found in kept) == [(0, True), (1, False)]
