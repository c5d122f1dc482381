"""Figures: their numbers, and that they can be drawn."""

import io

import pytest
import reports_fixture as fixture
from PIL import Image

from dmlplayground.reports import figure_files, figures
from dmlplayground.reports.grouping import arenas


def made(records, index=0):
    found = arenas(records)
    return {figure.name: figure for figure in figures.of_arena(found[index], found)}


def sweep(key, sizes, methods=("margin", "npairs"), **changes):
    return [
        fixture.record(m, s, 0.4, **{key: size}, **changes)
        for m in methods
        for size in sizes
        for s in range(3)
    ]


def test_bars_hold_every_finished_cell_with_its_interval():
    bars = made(fixture.grid())["bars"]
    (series,) = bars.series
    assert set(series.x) == {
        "npairs",
        "margin",
        "angular",
        "proxy_nca",
        "lifted_structure",
        "triplet_semihard",
    }
    single, double = series.x.index("angular"), series.x.index("lifted_structure")
    assert series.low[single] is None and series.runs[single] == []
    assert series.low[double] is None and sum(series.runs[double]) == pytest.approx(2 * series.y[double])
    assert series.low[0] < series.y[0] < series.high[0] and series.runs[0] == []
    assert bars.references == pytest.approx({"untrained": 5})


def test_bars_of_two_backbones_stand_side_by_side_with_what_was_published():
    records = [
        fixture.record("npairs", seed, 0.5, data="cub200", backbone=backbone, epochs=25)
        for backbone in ("inception_bn", "resnet50_v2")
        for seed in range(2)
    ]
    series = {series.name: series for series in made(records)["bars"].series}
    assert series["inception_bn"].x == series["resnet50_v2"].x == ["npairs"]
    assert series["inception_bn, published"].y == [53.7]
    assert series["resnet50_v2, published"].quoted_for == "resnet50_v2"


def test_learning_curves_are_the_means_of_the_epochs():
    records = [fixture.record("margin", seed) for seed in range(3)]
    (curve,) = made(records)["curves"].series
    assert curve.x == list(range(9))
    expected = sum(record.epochs[4]["metrics"]["R@1"] for record in records) / 3
    assert curve.y[4] == pytest.approx(100 * expected)


def test_members_trained_one_after_another_count_their_epochs_on():
    record = fixture.record("dreml", 0, ensemble={"members": 2, "order": "sequential"})
    second = [{**entry, "member": 1} for entry in record.epochs[1:]]
    record.epochs += second
    (curve,) = made([record])["curves"].series
    assert curve.x == list(range(17))


@pytest.mark.parametrize(("key", "sizes"), [("embed_dim", (64, 128, 512)), ("batch_size", (8, 32, 128))])
def test_lines_against_a_size(key, sizes):
    figure = made(sweep(key, sizes))[key]
    assert figure.log and {series.name for series in figure.series} == {"margin", "npairs"}
    assert all(series.x == list(sizes) for series in figure.series)


def test_published_points_have_a_line_of_their_own():
    figure = made(
        sweep("embed_dim", (64, 128), ("npairs",), data="cub200", backbone="inception_bn", epochs=25)
    )["embed_dim"]
    quoted = [series for series in figure.series if series.quoted_for]
    assert [(series.x, series.y) for series in quoted] == [([64, 128], [53.68, 58.04])]


def test_no_line_without_two_sizes():
    assert "embed_dim" not in made(fixture.grid())


def test_cost_and_optimism():
    figures_ = made(fixture.grid())
    cost = {series.name: series for series in figures_["cost"].series}
    times = [record.seconds for record in fixture.grid() if record.id.startswith("margin-glyphs-s")]
    assert cost["margin"].x[0] == pytest.approx(sum(times) / len(times))
    assert min(figures_["optimism"].series[0].y) >= 0 < max(figures_["optimism"].series[0].y)
    assert "optimism" not in made(fixture.grid(), index=1)  # the validated protocol has none


def test_of_two_seeds_the_runs_are_shown_and_fit_the_axis():
    records = [fixture.record("margin", seed, 0.4, noise=0.05) for seed in range(2)]
    bars = made(records)["bars"]
    runs = sorted(100 * record.results["best"]["metrics"]["R@1"] for record in records)
    assert sorted(bars.series[0].runs[0]) == pytest.approx(runs) and bars.span == pytest.approx((5, runs[1]))


def test_optimism_beside_the_validated_twins():
    best_last, against_validated = made(fixture.grid())["optimism"].series
    records = [record for record in fixture.grid() if record.config["method"]["name"] == "margin"]
    paper = [r.results["best"]["metrics"]["R@1"] for r in records if "validated" not in r.id][:3]
    folds = [r.results["separate"] for r in records if "validated" in r.id]
    separate = [sum(one["metrics"]["R@1"] for one in each) / len(each) for each in folds]
    gap = 100 * (sum(paper) - sum(separate)) / 3
    assert against_validated.y[against_validated.x.index("margin")] == pytest.approx(gap)
    assert set(against_validated.x) == {"margin", "npairs"} and len(best_last.x) == 6


def test_no_figure_of_no_optimism():
    records = [fixture.record("margin", seed) for seed in range(2)]
    for record in records:
        record.results["best"] = record.results["last"]
    assert "optimism" not in made(records)


def test_the_number_stands_at_the_end_of_every_bar():
    bars = made(fixture.grid())["bars"]
    drawn = figure_files.draw(bars)[".svg"].decode()
    assert all(f">{y:.1f}</text>" in drawn for y in bars.series[0].y)


def test_a_grid_of_many_settings_shows_the_curves_of_the_best():
    records = [fixture.record("margin", 0, 0.3, batch_size=size) for size in range(2, 22)]
    records += [fixture.record("npairs", 0, 0.3)]
    assert len(made(records)["curves"].series) == 2


@pytest.mark.parametrize("name", ["bars", "curves", "cost", "optimism", "embed_dim"])
def test_every_figure_draws(name):
    files = figure_files.draw(
        made(sweep("embed_dim", (64, 128), data="cub200", backbone="inception_bn"))[name]
    )
    assert Image.open(io.BytesIO(files[".png"])).width > 600
    assert b"</svg>" in files[".svg"]


def test_a_label_holds_what_tells_a_methods_settings_apart_and_no_more():
    records = sweep("embed_dim", (64, 128), ("margin",)) + sweep("batch_size", (120,), ("triplet_semihard",))
    (arena,) = arenas(records)
    assert arena.factors == ["embed_dim", "batch_size"]
    assert {cell.label for cell in arena.cells} == {
        "margin, embed_dim 64",
        "margin, embed_dim 128",
        "triplet_semihard",
    }


def test_a_method_has_one_colour_in_every_figure():
    records = [
        fixture.record(method, seed, level, embed_dim=size)
        for method, level in (("margin", 0.5), ("npairs", 0.4), ("angular", 0.3))
        for size in (32, 64)
        for seed in range(3)
    ]
    figures_ = made(records)
    found = {}
    for name in ("bars", "curves", "cost", "embed_dim"):
        for series in figures_[name].series:
            things = series.x if name == "bars" else [series.name] * len(series.x)
            assert len(series.colours) == len(things)
            for thing, colour in zip(things, series.colours):
                found.setdefault(thing.split(",")[0], set()).add(colour)
    assert found == {"margin": {0}, "npairs": {1}, "angular": {2}}
    assert sorted(set(figures_["cost"].series[0].sizes)) == ["32", "64"]


def test_settings_of_one_method_have_a_colour_each_and_backbones_have_shades():
    sizes = [fixture.record("margin", seed, 0.5, embed_dim=size) for size in (32, 64) for seed in range(3)]
    alone = made(sizes)
    assert {series.colours[0] for series in alone["curves"].series} == {0, 1}
    assert sorted(alone["cost"].series[0].colours) == [0, 1]
    networks = [
        fixture.record("npairs", seed, 0.5, backbone=name)
        for name in ("conv4", "resnet18_v2")
        for seed in (0, 1)
    ]
    assert all(series.colours == [] for series in made(networks)["bars"].series)
