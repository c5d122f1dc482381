"""Tables: every number recomputed here, plainly, from the records' JSON; cells without any shown as such."""

import csv
import io
import json
import statistics
from collections import defaultdict

import pytest
import reports_fixture as fixture

from dmlplayground import reports
from dmlplayground.reports import tables, trial_details
from dmlplayground.reports.grouping import arenas
from dmlplayground.trial.store import manifest
from dmlplayground.trial.store.records import Record

PAPER, VALIDATED = 0, 1  # the arenas of the fixture's grid


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    for record in fixture.grid():
        record.save(folder / record.id)
    planned = [{"id": "planned", "config": fixture.configuration("discriminative")}]
    (folder / "experiment.json").write_text(
        json.dumps({"title": "A grid", "about": "By hand", "trials": planned})
    )
    reports.report(folder)
    return folder


def rows_of(store, name):
    content = (store / "report" / f"{name}.csv").read_text(encoding="utf-8")
    return {row["method"]: row for row in csv.DictReader(io.StringIO(content))}


def plainly(store, protocol, result, metric):
    """method -> values in percent, read from the JSON without any of the package."""
    values = defaultdict(list)
    for path in sorted(store.glob("*/record.json")):
        record = json.loads(path.read_text())
        if record["status"] == "finished" and record["config"]["protocol"]["name"] == protocol:
            found = record["results"][result]
            ones = found if isinstance(found, list) else [found]
            score = sum(one["metrics"][metric] for one in ones) / len(ones)
            values[record["config"]["method"]["name"]].append(100 * score)
    return values


@pytest.mark.parametrize(
    ("protocol", "result"),
    [("paper", "best"), ("paper", "last"), ("validated", "joined"), ("validated", "separate")],
)
@pytest.mark.parametrize("metric", ["R@1", "NMI"])
def test_means_spreads_and_seeds_are_those_of_the_records(store, protocol, result, metric):
    rows = rows_of(store, f"leaderboard-glyphs-{protocol}-protocol")
    expected = plainly(store, protocol, result, metric)
    for method, values in expected.items():
        row = rows[method]
        assert float(row[f"{metric} {result}"]) == pytest.approx(statistics.mean(values))
        assert row[f"{metric} {result} seeds"] == str(len(values))
        spread = row[f"{metric} {result} spread"]
        assert float(spread) == pytest.approx(statistics.stdev(values)) if len(values) > 1 else spread == ""
    assert {"untrained", *expected} <= set(rows)


@pytest.mark.parametrize("metric", fixture.METRICS)
def test_the_table_of_all_scores_too(store, metric):
    rows = rows_of(store, "scores-glyphs-paper-protocol")
    for method, values in plainly(store, "paper", "best", metric).items():
        assert float(rows[method][metric]) == pytest.approx(statistics.mean(values))


def test_optimism_is_the_mean_gap_between_the_same_runs(store):
    rows = rows_of(store, "optimism-glyphs-paper-protocol")
    best, last = (plainly(store, "paper", which, "R@1") for which in ("best", "last"))
    for method in best:
        gaps = [b - a for b, a in zip(best[method], last[method])]
        assert float(rows[method]["best − last"]) == pytest.approx(statistics.mean(gaps))
    joined = plainly(store, "validated", "joined", "R@1")["margin"]
    gaps = [b - a for b, a in zip(best["margin"], joined)]
    assert float(rows["margin"]["best − joined"]) == pytest.approx(statistics.mean(gaps))
    assert float(rows["margin"]["best − joined spread"]) == pytest.approx(statistics.stdev(gaps))
    assert rows["proxy_nca"]["best − joined"] == ""  # it has no validated twin


def test_the_untrained_network_comes_first_then_the_best_and_last_what_has_no_result(store):
    methods = list(rows_of(store, "leaderboard-glyphs-paper-protocol"))
    means = {method: statistics.mean(v) for method, v in plainly(store, "paper", "best", "R@1").items()}
    ranked = sorted(means, key=means.get, reverse=True)
    assert methods == ["untrained", *ranked, "discriminative", "ranked_list"]


def test_failed_missing_and_single_cells_are_shown_as_such(store):
    rows = rows_of(store, "leaderboard-glyphs-paper-protocol")
    assert rows["lifted_structure"]["seeds"] == "2 (1 failed)"
    assert rows["ranked_list"]["seeds"] == "0 (2 failed)" and rows["ranked_list"]["R@1 best"] == ""
    assert rows["discriminative"]["seeds"] == "0 (1 missing)"
    assert rows["angular"]["seeds"] == "1"
    text = reports.terminal(reports.leaderboard(fixture.grid(), manifest.read(store).trials))
    assert "so their spread is unknown" in text and "0 (1 missing)" in text


def bold(table, metric="R@1 best"):
    column = [column.name for column in table.columns].index(metric)
    return {row.values[0] for row in table.rows if column in row.bold}


def test_bold_are_the_best_and_what_is_inside_the_noise():
    assert bold(reports.leaderboard(fixture.grid())[PAPER]) == {"npairs", "margin"}


def test_a_clear_winner_is_bold_alone_and_a_single_run_above_it_is_not():
    records = [fixture.record("margin", seed, 0.5, noise=0.002) for seed in range(4)]
    records += [fixture.record("npairs", seed, 0.3, noise=0.002) for seed in range(4)]
    records += [fixture.record("angular", 0, 0.9)]
    assert bold(reports.leaderboard(records)[0]) == {"margin"}


def test_the_baseline_counts_a_seed_once():
    table = reports.leaderboard([fixture.record(m, s) for m in ("margin", "npairs") for s in (0, 1, 2)])[0]
    assert table.rows[0].kind == "baseline" and table.rows[0].values[1] == 3


def with_backbone(method, untrained, seeds=(0, 1), **backbone):
    """Trials of one backbone whose untrained R@1 is this, and a little more with every seed."""
    made = [fixture.record(method, seed) for seed in seeds]
    for record in made:
        record.config["backbone"] = backbone
        record.results["untrained"]["metrics"]["R@1"] = untrained + 0.01 * record.seed
    return made


def test_every_backbone_has_a_baseline_of_its_own_and_so_has_every_pretraining():
    records = []
    for method in ("margin", "npairs"):
        records += with_backbone(method, 0.30, name="resnet", pretrained="imagenet")
        records += with_backbone(method, 0.10, name="resnet", pretrained="none")
        records += with_backbone(method, 0.05, name="conv4", pretrained="none")
    table = reports.leaderboard(records)[0]
    names = [column.name for column in table.columns]
    assert names[:4] == ["method", "backbone", "backbone.pretrained", "seeds"]
    baselines = [row.values for row in table.rows if row.kind == "baseline"]
    assert {tuple(values[1:4]): round(values[4].mean, 6) for values in baselines} == {
        ("resnet", "imagenet", 2): 30.5,
        ("resnet", "none", 2): 10.5,
        ("conv4", "none", 2): 5.5,
    }


def test_backbones_that_differ_between_methods_alone_are_told_apart_too():
    records = with_backbone("margin", 0.3, name="resnet", pretrained="imagenet")
    records += with_backbone("npairs", 0.1, name="resnet", pretrained="none")
    table = reports.leaderboard(records)[0]
    assert [column.name for column in table.columns][:3] == ["method", "backbone.pretrained", "seeds"]
    assert [row.values[:2] for row in table.rows[:2]] == [
        ["untrained head", "imagenet"],
        ["untrained", "none"],
    ]


def test_what_a_backbone_is_by_its_name_needs_no_column():
    records = with_backbone("margin", 0.3, name="inception_bn", pretrained="imagenet")
    records += with_backbone("margin", 0.1, name="conv4", pretrained="none")
    assert [column.name for column in reports.leaderboard(records)[0].columns][:3] == [
        "method",
        "backbone",
        "seeds",
    ]


def test_a_baseline_measured_on_validation_classes_says_so():
    paper, validated = reports.leaderboard(fixture.grid())
    assert not any("validation classes, not on the test" in note for note in paper.notes)
    assert any("validation classes, not on the test" in note for note in validated.notes)


def test_what_differs_within_a_method_gets_a_column_and_what_a_method_sets_for_itself_does_not():
    records = [
        fixture.record("margin", 0, optimizer={"name": "adam", "lr": 0.1}),
        fixture.record("npairs", 0, optimizer={"name": "adam", "lr": 0.2}),
    ]
    assert [c.name for c in reports.leaderboard(records)[0].columns][:2] == ["method", "seeds"]
    records += [fixture.record("npairs", 0, optimizer={"name": "adam", "lr": 0.3}, embed_dim=64)]
    assert [c.name for c in reports.leaderboard(records)[0].columns][:3] == [
        "method",
        "optimizer.lr",
        "seeds",
    ]
    records += [fixture.record("npairs", 0, embed_dim=128)]
    names = [c.name for c in reports.leaderboard(records)[0].columns]
    assert names[:4] == ["method", "numbers", "optimizer.lr", "seeds"]


def test_a_row_says_how_many_numbers_an_embedding_really_has():
    trained = {"train": "glyphs (train): 4362 images of 100 classes, 30 to 60 in each"}
    classes = fixture.record("discriminative", 0, embed_dim=64, head={"to_classes": True})
    ensemble = fixture.record("dreml", 0, embed_dim=16, ensemble__members=3)
    classes.data = trained
    records = [classes, ensemble, fixture.record("npairs", 0, embed_dim=64)]
    table = reports.leaderboard(records)[0]
    place = [column.name for column in table.columns].index("numbers")
    found = {row.values[0]: row.values[place] for row in table.rows}
    assert {name: found[name] for name in ("discriminative", "dreml", "npairs")} == {
        "discriminative": 100,
        "dreml": 48,
        "npairs": 64,
    }
    same = [fixture.record("npairs", 0, embed_dim=48), ensemble]
    assert "numbers" not in [column.name for column in reports.leaderboard(same)[0].columns]


def test_data_sets_and_protocols_are_never_ranked_together():
    records = [fixture.record("margin", 0), fixture.record("margin", 0, data__classes=60)]
    titles = [table.of for table in reports.leaderboard(records)]
    assert titles == ["glyphs, classes 200, paper protocol", "glyphs, classes 60, paper protocol"]


def test_without_recall_at_one_another_metric_ranks():
    records = [fixture.record("margin", seed, level) for seed, level in ((0, 0.4), (1, 0.41))]
    for record in records:
        for result in record.results.values():
            result["metrics"].pop("R@1", None)
    table = reports.leaderboard(records)[0]
    assert table.columns[2].name == "R@2 best"


def test_the_forms_say_the_same():
    table = reports.leaderboard(fixture.grid())[PAPER]
    best = table.rows[1]
    shown = tables.text(best.values[2])
    assert f"**{shown}**" in tables.markdown(table)
    assert rf"\textbf{{{shown.replace('±', '$' + chr(92) + 'pm$')}}}" in tables.latex(table)
    assert f"{shown} *" in tables.terminal(table)
    assert r"lifted\_structure" in tables.latex(table)
    widths = {len(row) for row in csv.reader(io.StringIO(tables.comma_separated(table)))}
    assert len(widths) == 1


def test_an_unfinished_store_can_be_reported(tmp_path):
    running = fixture.record("margin", 0, status="running")
    assert '"status":"running"' in reports.write(tmp_path, [running]).read_text()
    stopped = Record(id="x", config=fixture.configuration("npairs"), status="interrupted")
    assert "it was interrupted and can go on" in reports.write(tmp_path, [stopped]).read_text()


def test_one_trial_can_be_reported(store):
    trial = next(store.glob("margin-glyphs-*"))
    page = reports.report(trial)
    assert page == trial / "report" / "index.html"
    assert reports.report(trial / "record.json") == page


def test_the_same_records_give_the_same_report(tmp_path, monkeypatch):
    for side in "ab":
        (tmp_path / side).mkdir()
        monkeypatch.chdir(tmp_path / side)  # the page's commands name the store as it was given
        reports.write("store", [fixture.record("margin", seed) for seed in range(2)])
    first, second = (tmp_path / side / "store" / "report" for side in "ab")
    names = sorted(path.name for path in first.iterdir())
    assert names == sorted(path.name for path in second.iterdir())
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


@pytest.fixture
def blank_figures(monkeypatch):
    """Files of figures with nothing in them, which takes less time."""
    monkeypatch.setattr(reports.figure_files, "draw", lambda figure, _: {".svg": b"<svg></svg>"})


def test_what_an_earlier_report_left_goes_and_what_others_put_there_stays(tmp_path, blank_figures):
    both = [fixture.record("margin", 0), fixture.record("margin", 1, protocol__name="validated")]
    folder = reports.write(tmp_path, both).parent
    before = {path.name for path in folder.iterdir()}
    for name in ("notes.md", "leaderboard-of-mine.md"):
        (folder / name).write_text("kept")
    reports.write(tmp_path, both[:1])
    gone = before - {path.name for path in folder.iterdir()}
    assert any(name.endswith(".svg") for name in gone)
    assert gone == {name for name in before if "validated" in name}
    assert (folder / "notes.md").exists() and (folder / "leaderboard-of-mine.md").exists()


@pytest.mark.parametrize("name", ["../outside.md", "{}/outside.md", ".."])
def test_a_list_of_files_that_somebody_else_wrote_reaches_nothing_outside(tmp_path, name, blank_figures):
    folder = reports.write(tmp_path, [fixture.record("margin", 0)]).parent
    (tmp_path / "outside.md").write_text("kept")
    (folder / "files.json").write_text(json.dumps([name.format(tmp_path)]))
    reports.write(tmp_path, [fixture.record("margin", 0)])
    assert (tmp_path / "outside.md").exists()


def test_names_are_no_formulas_in_a_spreadsheet_and_no_html_in_a_page():
    names = ["=HYPERLINK(1)", "+1", "-1", "@sum", "<script>alert(1)</script>"]
    row = tables.Row([*names, -1.5])
    table = tables.Table(
        "t", "<b>T</b>", "x", [tables.Column(name) for name in (*names, "n")], [row], ["<i>"]
    )
    for line in csv.reader(io.StringIO(tables.comma_separated(table))):
        assert not any(cell.startswith(("=", "+", "@")) for cell in line)
        assert [cell for cell in line if cell.startswith("-")] in ([], ["-1.5"])
    assert "<" not in tables.markdown(table)


def test_a_search_is_ranked_by_validation_alone():
    """Better on test classes, worse on validation classes: the search's own choice leads, and says by what."""
    records = [
        fixture.record("proxy_nca", 0, level, protocol__name="validated", method__scale=scale)
        for scale, level in ((1.23456789, 0.5), (2.0, 0.4))
    ]
    for record, validated in zip(records, (0.1, 0.2)):
        for fold in record.results["separate"]:
            fold["validation"] = {"MAP@R": validated}
    plain, searched = reports.leaderboard(records)[0], reports.leaderboard(records, searched=True)[0]
    names = [column.name for column in searched.columns]
    assert [row.values[names.index("method.scale")] for row in searched.rows if not row.kind] == [
        "2",
        "1.235",
    ]
    assert [row.values[names.index("method.scale")] for row in plain.rows if not row.kind] == ["1.235", "2"]
    (first,) = searched.rows[-2].values[names.index("MAP@R validation")].values.values()
    assert first == pytest.approx(20)
    assert any(note.startswith("validation: on the classes that chose the epochs") for note in searched.notes)
    shown = [bool(row.values[names.index("MAP@R joined")]) for row in searched.rows if not row.kind]
    assert shown == [True, False], "the test scores of a trial that lost are no result"
    (arena,) = arenas(records, [], searched=True)
    won, lost = trial_details.of_arenas([arena])
    assert won["trials"][0]["shown"][1] is not None and "joined" in won["trials"][0]["scores"]
    assert lost["trials"][0]["shown"][1] is None and lost["trials"][0]["scores"] == {}


def cells_with(*changes):
    records = [fixture.record("margin", seed, 0.4, **change) for change in changes for seed in range(2)]
    (arena,) = arenas(records, [])
    return arena.factors, {cell.label for cell in arena.cells}


def test_what_comes_with_another_part_or_switch_is_no_column():
    """Two rows of a method with values of their own are told apart by the switch; amounts are, where they must be."""
    switch, rate = "method__per_class", "optimizer__lr"
    factors, labels = cells_with({switch: True, rate: 1e-3}, {switch: False, rate: 1e-4})
    assert factors == ["method.per_class"]
    assert labels == {"margin, method.per_class true", "margin, method.per_class false"}
    grid = [{switch: on, rate: lr} for on in (True, False) for lr in (1e-3, 1e-4)]
    assert cells_with(*grid)[0] == ["method.per_class", "optimizer.lr"]
    factors, labels = cells_with({"mining": {"name": "hard"}, switch: True}, {"mining": None, switch: False})
    assert factors == ["mining.name"]
    assert labels == {"margin, mining hard", "margin, mining none"}


def test_lists_of_parts_are_shown_by_their_names_and_options():
    """None of them is ``none``, and no reader meets JSON."""
    factors, labels = cells_with(
        {"regularizers": []},
        {"regularizers": [{"name": "zero_mean", "weight": 0.5}]},
        {"regularizers": [{"name": "zero_mean", "weight": 0.5}, {"name": "embedding_norm"}]},
    )
    assert factors == ["regularizers"]
    assert labels == {
        "margin, regularizers none",
        "margin, regularizers zero_mean (weight 0.5)",
        "margin, regularizers zero_mean (weight 0.5) + embedding_norm (weight 0.005, power 2)",
    }
