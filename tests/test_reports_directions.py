"""Whatever the metric, and whichever way it points: every table, card, axis and note asks the metric."""

import dataclasses

import pytest
import reports_fixture as fixture

from dmlplayground import metrics, reports
from dmlplayground.reports import figures, optimism, trial_details
from dmlplayground.reports.grouping import Arena, arenas
from dmlplayground.reports.leaderboard import BELOW
from dmlplayground.reports.statistics import Summary

LEVELS = {"npairs": 0.3, "angular": 0.45, "margin": 0.7}  # what "better" is of these is for the metric to say
MEMBERS = [name.replace("@K", "@2") for name in metrics.names()]


@pytest.fixture(params=[True, False], ids=["higher", "lower"])
def higher(request):
    return request.param


@pytest.fixture(params=MEMBERS)
def name(request, higher, monkeypatch):
    """A metric that points this way."""
    family = metrics.get(request.param).family
    turned = dataclasses.replace(metrics.get(family), higher_is_better=higher)
    monkeypatch.setitem(metrics.KIND._parts, family, turned)
    return request.param


def trials(name, higher, seeds=3, **changes):
    made = []
    for method, level in LEVELS.items():
        for seed in range(seeds):
            record = fixture.record(method, seed, **changes)
            record.config["evaluation"].update(metrics=[name], headline=name)
            better = 1 if higher else -1
            at_best = level + 0.004 * seed
            values = {"best": at_best, "last": at_best - better * 0.01, "untrained": 0.5 - better * 0.4}
            for which, value in values.items():
                record.results[which] = {**record.results[which], "metrics": {name: value}}
            for entry in record.epochs:
                entry["metrics"] = {name: values["untrained"] if entry["epoch"] == 0 else at_best}
            made.append(record)
    return made


def ranking(higher):
    return sorted(LEVELS, key=LEVELS.__getitem__, reverse=higher)


def test_tables_rank_and_embolden_the_best(name, higher):
    [table] = reports.leaderboard(trials(name, higher))
    assert [row.values[0] for row in table.rows] == ["untrained", *ranking(higher)]
    [arena] = arenas(trials(name, higher))
    for one in (table, reports.scores(arena), *optimism.tables(arena, [])):
        measured = {i for i, value in enumerate(one.rows[-1].values) if isinstance(value, Summary)}
        rows = [row for row in one.rows if row.kind != "baseline"]
        assert [row.values[0] for row in rows] == ranking(higher)
        if one.kind != "optimism":
            assert [row.bold for row in rows] == [measured, set(), set()]
        said = " ".join(one.notes)
        assert ("Percent" in said) == metrics.get(name).percent
        assert (f"Lower is better: {name}." in said) != higher
    assert not any(note.startswith(BELOW) for note in table.notes)


def test_a_network_that_training_has_made_worse_is_named(name, higher):
    records = trials(name, higher)
    for record in records:
        beyond = {name: 0.99 if higher else 0.01}
        record.results["untrained"] = {**record.results["untrained"], "metrics": beyond}
    [table] = reports.leaderboard(records)
    [note] = [note for note in table.notes if note.startswith(BELOW)]
    assert all(method in note for method in LEVELS)
    [arena] = arenas(records)
    assert "no better than the untrained network" in str(reports.answers.of_arena(arena)[0].details)


def test_untrained_networks_stand_best_first(name, higher):
    records = [
        record
        for backbone, level in (("conv4", 0.2), ("resnet18_v2", 0.4))
        for record in trials(name, higher, backbone=backbone)
        if not record.results["untrained"]["metrics"].update({name: level})
    ]
    [table] = reports.leaderboard(records)
    shown = [
        value.mean for row in table.rows if row.kind for value in row.values if isinstance(value, Summary)
    ]
    assert shown == sorted(shown, reverse=higher)


def test_cards_name_the_best_and_how_far_it_is_ahead(name, higher):
    [arena] = arenas(trials(name, higher))
    first, second, last = ranking(higher)
    winner, lead, *_ = reports.answers.of_arena(arena)
    assert winner.answer == first and lead.answer == "Yes"
    assert "no better than" not in str(winner.details)
    assert f"ahead of {second} (95 % interval +" in lead.details[0]
    assert (" points ahead of" in lead.details[0]) == metrics.get(name).percent
    assert "leads with" not in str(lead.details)
    cells = [dataclasses.replace(cell, headline=name) for cell in arena.cells]
    ranked = Arena(sorted(cells, key=lambda cell: cell.rank))
    assert [cell.method for cell in ranked.champions()] == [first, second, last]


def test_another_leader_after_the_last_epoch_is_the_best_there(name, higher):
    records = trials(name, higher)
    last = ranking(higher)[-1]
    for record in records:
        if record.config["method"]["name"] == last:
            record.results["last"] = {**record.results["last"], "metrics": {name: 0.99 if higher else 0.01}}
    [arena] = arenas(records)
    assert f"after the last epoch {last} leads" in str(reports.answers.of_arena(arena)[1].details)


def test_a_method_meets_others_at_its_best_setting(name, higher):
    worse = trials(name, higher, embed_dim=128)
    for record in worse:
        for which in ("best", "last"):
            record.results[which]["metrics"][name] += -0.2 if higher else 0.2
    [arena] = arenas([*trials(name, higher), *worse])
    assert {cell.config["embed_dim"] for cell in arena.champions()} == {64}


def test_axes_say_percent_of_percent_alone_and_which_way_is_better(name, higher):
    [arena] = arenas(trials(name, higher))
    drawn = {figure.name: figure for figure in figures.of_arena(arena)}
    for kind, axis in (
        ("bars", "x_label"),
        ("curves", "y_label"),
        ("cost", "y_label"),
        ("optimism", "x_label"),
    ):
        label = getattr(drawn[kind], axis)
        assert label.startswith(name)
        assert (", %" in label or ", points" in label) == metrics.get(name).percent
        assert label.endswith("lower is better") != higher
    assert drawn["bars"].series[0].x == ranking(higher)


def test_the_page_says_percent_of_percent_alone(name, higher):
    cells = trial_details.of_arenas(arenas(trials(name, higher)))
    assert trial_details.in_percent(cells) == ({name} if metrics.get(name).percent else set())


def test_stores_are_compared_the_metrics_way(name, higher, tmp_path):
    for side, shift in (("a", 0.0), ("b", 0.1)):
        for record in trials(name, higher):
            for which in ("best", "last"):
                record.results[which]["metrics"][name] += shift + 0.001 * (record.seed if shift else 0)
            record.save(tmp_path / side / record.id)
    table = reports.compare(tmp_path / "a", tmp_path / "b")
    assert {row.values[7] for row in table.rows} == {"better" if higher else "worse"}
    said = " ".join(table.notes)
    assert ("Percent" in said) == metrics.get(name).percent and ("Lower is better" in said) != higher
