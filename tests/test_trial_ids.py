"""Ids that outlive the schema: what is added later renames nothing."""

import dataclasses
from pathlib import Path

from dmlplayground import config, methods, optimizers
from dmlplayground.base.options import Option
from dmlplayground.trial.config import schema, trial_ids
from dmlplayground.trial.store.records import Record


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
    assert set(schema.NEUTRAL) | {"method"} == set(schema.NEEDED)


def test_records_that_are_kept_go_by_the_present_ids():
    """What was recorded is found again: a schema that renamed a trial would train it once more."""
    home = Path(__file__).parent.parent / "experiments" / "results" / "fehervari2019" / "methods_glyphs"
    places, kept = config.Places(home), [Record.load(path) for path in home.glob("*/record.json")]
    assert len(kept) >= 26
    assert all(places.folder(config.trial(one.config)) == home / one.id for one in kept)
    assert all(config.upgraded(one.config) == config.trial(one.config).mapping() for one in kept)
