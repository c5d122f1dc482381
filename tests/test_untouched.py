"""The network's own row: what is measured of features that nothing has trained, where it is kept, and where it stands."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import reports_fixture as fixture
from test_features import clusters, given
from test_reports_folds_table import table as of_folds
from trained_fixture import TRIAL

import dmlplayground as dml
from dmlplayground import protocols, reports
from dmlplayground.cli import run_summary
from dmlplayground.reports import answers, figures
from dmlplayground.reports.grouping import arenas
from dmlplayground.reports.leaderboard import of_studies, scores
from dmlplayground.trial.training import models, scoring

VALIDATED = {"name": "validated", "folds": 2}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("features") / "some.npz"
    features, labels = clusters(classes=24, noise=0.9)
    np.savez(path, features=features, labels=labels)
    return path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def row(record):
    return record.results[protocols.UNTOUCHED]


def test_features_are_scored_as_they_are_by_the_cosine(path, tmp_path, cache):
    record = dml.train(given(path, seed=3), store=tmp_path)
    test = dml.data.load("features", "test", path=str(path))
    expected = dml.metrics.evaluate(test.images, test.labels, distance="cosine", seed=0)
    measured = {name: row(record)["metrics"][name] for name in expected}
    ranked = {name for name in expected if dml.metrics.get(name).needs == "ranks"}
    assert {name: measured[name] for name in ranked} == {name: expected[name] for name in ranked}
    assert row(record)["measured_on"] == "test" and set(row(record)["metrics"]) == set(
        record.results["best"]["metrics"]
    )


def test_of_a_network_they_are_what_its_head_gets(tmp_path, trained):
    learner = scoring.learners(trained)[0]
    weights = str(trained / "fold0-member0.best.npz")
    begun = {**TRIAL, "backbone": {"name": "conv4", "pretrained": weights}, "epochs": 0}
    record = dml.train(begun, store=tmp_path)
    test, transform = models.data_of(learner.trial, "test")
    inputs = []
    learner.network.hybridize(False)
    learner.network.head.register_forward_pre_hook(lambda _, given: inputs.append(given[0].asnumpy()))
    models.outputs(learner, test, transform)
    found = np.concatenate(inputs).reshape(len(test), -1)
    expected = dml.metrics.evaluate(found, test.labels, distance="cosine", clustering=False)
    assert row(record)["metrics"] == {name: expected[name] for name in row(record)["metrics"]}


def test_a_network_that_has_learned_nothing_has_no_such_row(tmp_path):
    assert protocols.UNTOUCHED not in dml.train({**TRIAL, "epochs": 0}, store=tmp_path).results


def test_a_sweep_scores_them_once(path, tmp_path, cache, monkeypatch):
    first = dml.train(given(path), store=tmp_path)
    monkeypatch.setattr(scoring.models, "features", None)  # not to be called
    second = dml.train(given(path, method="margin", seed=1, epochs=1, sampler="pairs"), store=tmp_path)
    assert row(first) == row(second)
    shutil.rmtree(cache)
    with pytest.raises(Exception, match="NoneType"):
        dml.train(given(path, seed=2), store=tmp_path)


def test_other_features_in_the_same_file_are_scored_again(path, tmp_path, cache):
    file = tmp_path / "mine.npz"
    shutil.copy(path, file)
    first = dml.train(given(file, epochs=1), store=tmp_path)
    features, labels = clusters(classes=24, noise=0.1)
    np.savez(file, features=features, labels=labels)
    assert row(dml.train(given(file, epochs=1, seed=1), store=tmp_path)) != row(first)


def test_of_folds_they_are_measured_on_validation_classes_too(path, tmp_path, cache):
    record = dml.train(given(path, protocol=VALIDATED, epochs=1), store=tmp_path)
    train = dml.data.load("features", "train", path=str(path))
    folds = [train.subset(fold.kept) for fold in dml.protocols.create(**VALIDATED).folds(train.num_classes)]
    found = [
        dml.metrics.evaluate(fold.images, fold.labels, distance="cosine", clustering=False)["R@1"]
        for fold in folds
    ]
    assert row(record)["validation"]["R@1"] == pytest.approx(np.mean(found), abs=1e-12)
    table = reports.leaderboard([record], searched=True)[0]
    place = [column.name for column in table.columns].index("seeds") + 1
    headline = table.columns[place].name.split()[0]
    assert table.rows[0].values[place] == pytest.approx(100 * row(record)["validation"][headline])


def test_a_search_that_never_looks_at_test_classes_does_not_here(path, tmp_path, cache):
    search = {"name": "validation_only", "folds": 2}
    found = row(dml.train(given(path, protocol=search, epochs=1), store=tmp_path))
    assert found["metrics"] == found["validation"] and found["measured_on"] == "validation"


# --- tables, figures and words -----------------------------------------------------------------------------


def begun(level, features=0.4, method="margin", seed=0):
    """A trial from trained weights that climbs to ``level``."""
    made = fixture.record(method, seed, level, noise=0.001)
    made.config["backbone"] = {"name": "resnet50_v1", "pretrained": "imagenet"}
    metrics = fixture._metrics(features)
    made.results[protocols.UNTOUCHED] = {"epoch": 0, "measured_on": "test", "metrics": metrics}
    return made


def test_they_stand_first_in_every_table_beside_the_head():
    arena = arenas([begun(0.5, seed=seed) for seed in (0, 1)])[0]
    board = reports.leaderboard([begun(0.5, seed=seed) for seed in (0, 1)])[0]
    assert [row.values[0] for row in board.rows] == ["untouched features", "untrained head", "margin"]
    assert board.rows[0].values[2:4] == [40.0, 40.0]
    assert any(note.startswith("untrained head: ") for note in board.notes)
    assert scores(arena).rows[0].values[0] == "untouched features"
    drawn = {figure.name: figure for figure in figures.of_arena(arena)}
    assert (
        drawn["bars"].references["untouched features"]
        == drawn["curves"].references["untouched features"]
        == 40
    )
    assert drawn["curves"].span[1] >= 40


def test_they_stand_in_the_files_of_the_report_too(tmp_path):
    reports.write(tmp_path, [begun(0.5, seed=seed) for seed in (0, 1)])
    lines = next((tmp_path / "report").glob("leaderboard-*.csv")).read_text().splitlines()
    assert lines[1].startswith("untouched features,,40.0,,,,,40.0,,,,,"), lines[1]


def test_networks_of_their_own_and_pixels_of_their_own_have_rows_of_their_own():
    records = [begun(0.5), begun(0.45, features=0.3, method="npairs")]
    records[1].config["transform"] = {"name": "paper", "resize": 64}
    board = reports.leaderboard(records)[0]
    first = [row.values[-5:] for row in board.rows if row.values[0] == "untouched features"]
    assert len(first) == 2
    assert "untouched features" not in figures.bars(arenas(records)[0]).references


def test_records_made_before_have_no_such_row():
    record = begun(0.5)
    del record.results[protocols.UNTOUCHED]
    assert [row.values[0] for row in reports.leaderboard([record])[0].rows] == ["untrained head", "margin"]


@pytest.mark.parametrize(("level", "below"), [(0.3, True), (0.6, False)])
def test_who_ends_below_them_is_told_what_to_do(level, below):
    record = begun(level)
    notes = "\n".join(reports.leaderboard([record])[0].notes)
    assert ("below the untouched features for 1 of 1 row: margin." in notes) == below
    assert ("lower optimizer.lr" in notes) == below
    (best, *_) = answers.of_arena(arenas([record])[0])
    assert any("use these" in detail for detail in best.details) == below
    config = SimpleNamespace(config=record.config, results=record.results, seconds=1.0)
    said = run_summary.results(config, "runs")
    assert said.splitlines()[1].split()[0] == "untouched"
    assert ("warning: training ended below the untouched features: R@1" in said) == below
    assert ("optimizer.lr" in said) == below


def test_the_table_of_folds_begins_with_them_too():
    records, _ = of_folds(2)
    for record in records:
        record.results[protocols.UNTOUCHED] = {"measured_on": "test", "metrics": fixture._metrics(0.4)}
    made = of_studies(arenas(records, [])[0])[0]
    first = dict(zip((column.name for column in made.columns), made.rows[0].values))
    assert (first["method"], first["concatenated P@1"]) == ("untouched features", 40.0)
