"""Figures: their numbers, and that they can be drawn."""

import io

import pytest
import reports_fixture as fixture
from PIL import Image

from dmlplayground.reports import drawing, figures
from dmlplayground.reports.cells import arenas


def made(records, index=0):
    return {figure.name: figure for figure in figures.of_arena(arenas(records)[index])}


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
    single = series.x.index("angular")
    assert series.low[single] is None and series.seeds[single] == 1
    assert series.low[0] < series.y[0] < series.high[0]
    assert bars.reference == pytest.approx(5)


def test_bars_of_two_backbones_stand_side_by_side_with_what_was_published():
    records = [
        fixture.record("npairs", seed, 0.5, data="cub200", backbone=backbone)
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
    figure = made(sweep("embed_dim", (64, 128), ("npairs",), data="cub200", backbone="inception_bn"))[
        "embed_dim"
    ]
    quoted = [series for series in figure.series if series.quoted_for]
    assert [(series.x, series.y) for series in quoted] == [([64, 128], [53.7, 58.04])]


def test_no_line_without_two_sizes():
    assert "embed_dim" not in made(fixture.grid())


def test_cost_and_optimism():
    figures_ = made(fixture.grid())
    cost = {series.name: series for series in figures_["cost"].series}
    times = [record.seconds for record in fixture.grid() if record.id.startswith("margin-glyphs-s")]
    assert cost["margin"].x[0] == pytest.approx(sum(times) / len(times))
    assert all(gain >= 0 for gain in figures_["optimism"].series[0].y)
    assert "optimism" not in made(fixture.grid(), index=1)  # the validated protocol has none


def test_an_interval_of_two_seeds_does_not_set_the_axis():
    records = [fixture.record("margin", seed, 0.4, noise=0.05) for seed in range(2)]
    bars = made(records)["bars"]
    assert bars.series[0].low[0] < bars.span[0]


def test_a_grid_of_many_settings_shows_the_curves_of_the_best():
    records = [fixture.record("margin", 0, 0.3, batch_size=size) for size in range(2, 22)]
    records += [fixture.record("npairs", 0, 0.3)]
    assert len(made(records)["curves"].series) == 2


@pytest.mark.parametrize("name", ["bars", "curves", "cost", "optimism", "embed_dim"])
def test_every_figure_draws(name):
    files = drawing.draw(made(sweep("embed_dim", (64, 128), data="cub200", backbone="inception_bn"))[name])
    assert Image.open(io.BytesIO(files[".png"])).width > 600
    assert b"</svg>" in files[".svg"]
