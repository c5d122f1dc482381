"""Ids that outlive the schema: what is added later renames nothing, and the first edition's stores are found again."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dmlplayground import config, methods, optimizers
from dmlplayground.base.errors import UserError
from dmlplayground.base.options import Option
from dmlplayground.reports.grouping import arenas
from dmlplayground.trial.config import part_keys, schema, trial_ids
from dmlplayground.trial.store.records import Record

ROOT = Path(__file__).parent.parent
OLD = ROOT / "experiments" / "results" / "fehervari2019" / "methods_glyphs"


def trials():
    given = [{"method": name, "data": {"name": "glyphs", "classes": 400}} for name in methods.names()]
    return [config.building.unchecked(one) for one in given] + [
        config.building.unchecked({"method": "npairs", "optimizer": "sgd", "groups": {"loss": {"lr": 0.1}}})
    ]


def test_a_key_added_with_a_neutral_value_renames_no_trial(monkeypatch):
    before = [trial.id for trial in trials()]

    @dataclasses.dataclass(frozen=True)
    class Later(schema.Trial):
        later: int = schema.key(7, "a key of next year")
        nested: schema.Average = schema.Average(0.5)  # noqa: RUF009

    monkeypatch.setattr(trial_ids, "Trial", Later)
    grown = [Later(**{f.name: getattr(t, f.name) for f in dataclasses.fields(t) if f.init}) for t in trials()]
    assert [trial_ids.name(trial) for trial in grown] == before
    assert {trial_ids.name(dataclasses.replace(trial, later=8)) for trial in grown}.isdisjoint(before)
    assert {trial_ids.name(dataclasses.replace(t, nested=schema.Average())) for t in grown}.isdisjoint(before)


def test_an_option_added_to_a_part_renames_no_trial(monkeypatch):
    before = [trial.id for trial in trials()]
    for name in optimizers.names():  # groups have others than their trials
        record = optimizers.get(name)
        monkeypatch.setitem(vars(record), "options", {**record.options, "later": Option(float, 0.25)})
    assert [trial.id for trial in trials()] == before
    changed = config.building.unchecked({"method": "npairs", "optimizer": {"later": 0.5}})
    assert changed.id != config.building.unchecked({"method": "npairs"}).id


def test_a_value_spelled_out_is_no_difference():
    plain = config.trial({"method": "npairs"})
    spelled = {"optimizer": {"name": "adam", "lr": 1e-4}, "groups": {"head": {"lr": 1e-4, "lr_mult": 1}}}
    assert config.trial({"method": "npairs", **spelled}).id == plain.id
    assert not {"optimizer", "groups", "data", "head.bias"} & trial_ids.departures(vars(plain)).keys()


def test_neutral_parts_are_named_once():
    assert set(part_keys.NEUTRAL) | {"method"} == set(schema.NEEDED)


def old_records() -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(OLD.glob("*/record.json"))]


def test_records_of_the_first_edition_are_found_by_what_they_are():
    places = config.Places(OLD)
    records = old_records()
    assert len(records) >= 26
    for record in records:
        trial = config.trial(record["config"])
        assert trial.id != record["id"]
        assert places.folder(trial) == OLD / record["id"]
        assert places.folder(config.trial({**trial.mapping(), "seed": 99})).name not in {
            r["id"] for r in records
        }


def test_a_sweep_into_a_store_of_the_first_edition_trains_nothing(tmp_path):
    store = tmp_path / "store"
    shutil.copytree(OLD, store)
    before = sorted(path.name for path in store.iterdir())
    seeds = sorted({record["config"]["seed"] for record in old_records()})
    command = [
        sys.executable,
        "-m",
        "dmlplayground",
        "sweep",
        "fehervari2019/methods_glyphs",
        "--store",
        str(store),
        "--dry-run",
    ]
    command += ["--where", f"seed={seeds}"]
    told = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout
    assert f"{len(old_records())} trials in" in told and f"{len(old_records())} finished." in told
    import dmlplayground as dml

    record = dml.train(old_records()[0]["config"], store)
    assert record.id == old_records()[0]["id"]
    assert sorted(path.name for path in store.iterdir()) == before


def test_records_of_both_editions_share_cells():
    """Old records beside records of today, and today's manifest: no cell is shown twice, and nothing is missing."""
    old = [Record.load(path) for path in sorted(OLD.glob("*/record.json"))]
    old = [record for record in old if record.config["method"]["name"] in ("margin", "npairs")]

    def again(record: Record, seed: int) -> Record:
        trial = config.trial({**record.config, "seed": seed})
        return dataclasses.replace(record, id=trial.id, config=trial.mapping(), started="2030-01-01")

    seeds = {record.seed for record in old}
    new = [again(record, record.seed + 50) for record in old] + [again(old[0], old[0].seed)]
    expected = [{"id": one.id, "config": one.config} for one in [*(again(r, r.seed) for r in old), *new]]
    assert not {record.id for record in old} & {entry["id"] for entry in expected}
    before, both = (
        {cell.label: cell for arena in arenas(found, expected) for cell in arena.cells}
        for found in (old, old + new)
    )
    assert list(both) == list(before) and not any(cell.problems for cell in both.values())
    for cell in both.values():
        assert sorted(r.seed for r in cell.records) == sorted([*seeds, *(seed + 50 for seed in seeds)])
    trained_twice = [r for cell in both.values() for r in cell.records if r.config["seed"] == old[0].seed]
    assert new[-1] in trained_twice and old[0] not in trained_twice


def test_the_old_name_of_a_key_is_answered_with_the_new_one():
    with pytest.raises(UserError, match="warmup_epochs is now called frozen_epochs"):
        config.trial({"method": "npairs", "warmup_epochs": 1})
    with pytest.raises(UserError, match="frozen_epochs"):
        config.trial({"method": "npairs"}, ["warmup_epochs=1"])


def test_what_a_group_of_the_first_edition_took_over_it_still_has():
    old = json.loads(json.dumps(next(r for r in old_records() if r["config"]["method"]["name"] == "margin")))
    content = old["config"]
    content["optimizer"].update(name="rmsprop", momentum=0.5, epsilon=1e-3, rho_decay=0.9)
    content["groups"]["loss"].update(name="sgd", lr=0.1, momentum=None)
    trial = config.trial(content)
    assert trial.optimizer["momentum"] == 0.5 and trial.optimizer["rho_decay"] == 0.9
    assert "beta1" not in trial.optimizer
    assert config.optimizer_of(trial.optimizer, trial.groups, "loss")["momentum"] == 0.5
    assert config.optimizer_of(trial.optimizer, trial.groups, "head")["epsilon"] == 1e-3
