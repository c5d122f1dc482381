"""Where a method stands in an arena: what is refused, what is trained, and what is said of it."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import arena_fixture as fixture
import numpy as np
import pytest
import yaml
from docs_fixture import PAGES, blocks
from sweeps_fixture import SMALL

import dmlplayground as dml
from dmlplayground import methods
from dmlplayground.base.errors import UserError
from dmlplayground.cli import main, templates
from dmlplayground.reports import place
from dmlplayground.reports.variance import Comparison
from dmlplayground.sweeps import arenas, searches

ROOT = Path(__file__).resolve().parents[1]
LOSS = ROOT / "examples" / "own_loss" / "proxy_nca_pp.py"
COMMAND = f"python {ROOT}/examples/external/numpy_lda.py {{job}}"
DATA = {**SMALL["data"], "classes": 48}
SEARCH = {
    "title": "Tiny",
    "methods": ["margin", "npairs", "proxy_nca"],
    "images": 160,
    "evaluations": 2,
    "rungs": [{"trials": 2, "length": "1/2"}, {"trials": 1, "length": 1}],
    "searches": 2,
    "config": {
        "data": DATA,
        "hyperparams": "equal",
        "batch_size": 20,
        "protocol": {"folds": 2},
        "evaluation": {"metrics": ["R@K", "MAP@R"], "ks": [1], "clustering": False},
        "optimizer": {"lr": {"range": [1e-3, 1e-2], "log": True}},
    },
}
FINALS = {
    "title": "Tiny",
    "base": {"data": DATA, "hyperparams": "experiments/results/arenas/tiny/search"},
    "grid": {"search": [1, 2], "seed": [1, 2], "method": SEARCH["methods"]},
}
LEVELS = {"margin": 80, "npairs": 60, "proxy_nca": 40}


def of_tiny(records):
    """Records of one division, on the data of the tiny arena."""
    for one in records:
        one.config["data"] = dict(DATA)
    return records


@pytest.fixture
def arena(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "search.yaml").write_text(yaml.safe_dump(SEARCH))
    (folder / "finals.yaml").write_text(yaml.safe_dump(FINALS))
    fixture.keep(folder / "finals", of_tiny(fixture.finals(LEVELS, noise="seeds", divisions=1)))
    scores = {
        "margin": {"1/2": 0.5, "1": 0.6},
        "npairs": {"1/2": 0.4, "1": 0.5},
        "proxy_nca": {"1/2": 0.45, "1": 0.3},
    }
    fixture.search(folder / "search", scores)
    return folder


# --- what is refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["margin", "--in", "glyph"], "unknown arena 'glyph'. Did you mean 'glyphs'?"),
        (["marginn", "--in", "glyphs"], "unknown method 'marginn'. Did you mean 'margin'?"),
        (["margin", "--in", "glyphs", "--set", "epochs=9"], "epochs is the arena's, the same for all."),
        (["margin", "--in", "glyphs", "--set", "data.size=9"], "data is the arena's"),
        (
            ["margin", "--in", "glyphs", "--set", "method.marginn=9"],
            "unknown option of method margin: 'marginn'",
        ),
        (["--in", "glyphs"], "name a method, a file that has one, or a command that trains one."),
        (["--in", "glyphs", "--command", "train {job}"], "name a method"),
        (["x", "--in", "glyphs", "--command", "python 'x.py"], "the command cannot be read"),
        (["mine", "--in", "glyphs", "--command", "python x.py"], "{job}"),
        (["none.py", "--in", "glyphs"], "cannot read the part none.py"),
        (["margin"], "--in"),
    ],
)
def test_bad_input_is_one_line_before_any_work(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["place", *words]) == 2
    output = capsys.readouterr()
    assert said in output.err and len(output.err.splitlines()) == 1 and output.out == ""
    assert not (tmp_path / "runs").exists()


def test_an_arena_without_records_is_refused(arena, capsys):
    (arena / "finals").rename(arena / "elsewhere")
    assert main(["place", "margin", "--in", str(arena)]) == 2
    assert "has no records" in capsys.readouterr().err


def test_a_file_without_a_method_is_refused(tmp_path, arena):
    (part, *_) = templates.write("sampler", "few_classes", tmp_path)
    with pytest.raises(UserError, match="few_classes.py has no method"):
        arenas.enter(part, arena)


def test_what_needs_pictures_has_no_place_among_features(arena):
    content = {
        **SEARCH,
        "config": {**SEARCH["config"], "data": fixture.DATA, "hyperparams": "equal_features"},
    }
    (arena / "search.yaml").write_text(yaml.safe_dump(content))
    assert arenas.enter("margin", arena).name == "margin"
    with pytest.raises(UserError, match="transform is the arena's"):
        arenas.enter("margin", arena, overrides=["transform=paper"])


# --- what is trained ----------------------------------------------------------------------------------------------------


def test_the_searches_are_those_of_the_arena():
    """A method that was there gets the very trials that its kept searches have."""
    entry = arenas.enter("npairs", "glyphs")
    kept = [
        one
        for folder in entry.searches
        for one in dml.records.load_store(entry.arena.kept / "search" / folder)
    ]
    ids = {record.id for record in kept}
    for search in entry.searches.values():
        assert search.trial(dict(searches.sobol(search, 0)), 0).id in ids


def test_an_option_that_is_set_is_not_searched():
    searched = arenas.enter("proxy_nca", "glyphs").searches["1/proxy_nca"]
    told = arenas.enter("proxy_nca", "glyphs", overrides={"method.scale": 3}).searches["1/proxy_nca"]
    assert set(searched.parameters) - set(told.parameters) == {"method.scale"}
    assert told.trial(told._at(0)).method["scale"] == 3


@pytest.mark.slow
def test_a_loss_of_ones_own_gets_a_place(arena, tmp_path):
    store = tmp_path / "runs"
    words = ["place", str(LOSS), "--in", str(arena), "--store", str(store), "--workers", "2"]
    command = [sys.executable, "-m", "dmlplayground", *words]
    look = subprocess.run([*command, "--quick"], capture_output=True, text=True, cwd=tmp_path)
    assert look.returncode == 0, look.stderr
    said = " ".join(look.stdout.split())
    assert "of 4 by this alone" in said and "This tells little." in said
    short = {path: path.stat().st_mtime_ns for path in store.glob("search/1/*/*/record.json")}
    assert len(short) == 2
    whole = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    assert (
        short.items()
        <= {path: path.stat().st_mtime_ns for path in store.glob("search/1/*/*/record.json")}.items()
    )
    assert "2 of 2 trials done already" in whole.stdout
    finals = dml.records.load_store(store / "finals")
    assert sorted((one.config["search"], one.seed) for one in finals) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    rates = {one.config["search"]: one.config["optimizer"]["lr"] for one in finals}
    for search, rate in rates.items():
        best = yaml.safe_load((store / "search" / str(search) / "proxy_nca_pp" / "best.yaml").read_text())
        assert best["values"]["optimizer.lr"]["value"] == rate
    said = " ".join(whole.stdout.split())
    assert "proxy_nca_pp against the others: Arena tiny" in said
    assert "dmlplayground bundle" in said and "of 4 in tiny" in said
    page = (store / "finals" / "report" / "index.html").read_text()
    assert "proxy_nca_pp against the others" in page and "margin" in page
    done = {path: path.stat().st_mtime_ns for path in store.rglob("record.json")}
    assert subprocess.run(command, capture_output=True, cwd=tmp_path).returncode == 0
    assert done == {path: path.stat().st_mtime_ns for path in store.rglob("record.json")}, (
        "nothing is trained again"
    )


@pytest.mark.slow
def test_a_command_gets_a_place(arena, tmp_path):
    placed = dml.place(
        arena=arena,
        command=COMMAND,
        store=tmp_path / "runs",
        overrides={"method.shrink": {"range": [0.01, 1.0]}},
    )
    assert placed.name == "numpy_lda" and "numpy_lda" in placed.compared.methods
    assert {row.values[0] for row in placed.table.rows} == {*LEVELS, "numpy_lda"}
    for one in dml.records.load_store(tmp_path / "runs" / "finals"):
        folder = tmp_path / "runs" / "search" / str(one.config["search"]) / "numpy_lda"
        best = yaml.safe_load((folder / "best.yaml").read_text())["values"]["method.shrink"]
        assert 0.01 <= one.config["method"]["shrink"] == best["value"] <= 1 and best["source"] == "search"


# --- what is said ------------------------------------------------------------------------------------------------------


def compared(arena, name, level, monkeypatch, **how):
    records = of_tiny(fixture.finals({name: level}, noise="seeds", divisions=1, seed=5, **how))
    monkeypatch.setattr(arenas.Entrant, "train", lambda self, *_, **__: records)
    return dml.place(name, arena=arena, store=arena / "placed")


def test_a_placed_method_stands_among_the_others(arena, monkeypatch):
    placed = compared(arena, "contrastive", 70, monkeypatch)
    assert placed.compared.methods == ["margin", "contrastive", "npairs", "proxy_nca"]
    assert placed.compared.places("contrastive") == (2, 2)
    assert "place 2 of 4 in tiny. Beyond the noise, 1 are above it and 2 below." in placed.said[0]
    rows = {row.values[0]: row.values for row in placed.table.rows}
    gap = placed.compared.gap("contrastive", "npairs")
    assert rows["npairs"][2].value == gap.mean == pytest.approx(10, abs=3)
    assert rows["npairs"][4] == gap.wins.value > 0.9 > 0.1 > rows["margin"][4]
    assert rows["contrastive"][2:7] == [None] * 5 and rows["contrastive"][7] > 0
    assert "contrastive against the others" in placed.page.read_text()
    assert "place 2 of 4" in placed.page.with_name("badge.svg").read_text()


def test_a_method_that_was_there_is_compared_with_its_own_row(arena, monkeypatch):
    placed = compared(arena, "npairs", 70, monkeypatch)
    assert placed.name == "npairs, placed"
    assert {"npairs", "npairs, placed"} <= set(placed.compared.methods)
    assert placed.said[1].startswith("Against the row that npairs has in the arena: +")


def test_runs_that_the_arena_does_not_have_do_not_count(arena, monkeypatch):
    placed = compared(arena, "contrastive", 70, monkeypatch, searches=3)
    assert placed.compared.searches == 2 and "contrastive" in placed.compared.methods


def test_a_first_idea_says_how_little_it_tells(arena, monkeypatch):
    fixture.search(arena / "own", {"contrastive": {"1": 0.47}})
    monkeypatch.setattr(arenas.Entrant, "look", lambda self, **_: arena / "own")
    placed = dml.place("contrastive", arena=arena, quick=True)
    assert [row.values[0] for row in placed.table.rows] == ["margin", "contrastive", "proxy_nca", "npairs"]
    assert (
        placed.said[0]
        == "contrastive: MAP@R 47.0 on validation classes after 1/2 of the length, 2 of 4 by this alone."
    )
    assert "This tells little. It is the best of 2 short trainings of one search" in placed.said[1]
    assert (
        "67% of the pairs of methods are in the order of the finals" in placed.said[2]
    )  # not npairs and proxy_nca
    assert placed.page is None


def test_places_leave_out_what_the_noise_hides():
    cells = {"a": [90, 91], "b": [50, 51], "c": [50.4, 50.8], "d": [10, 11]}
    found = Comparison.of(
        {
            name: {(d, s, 0): value + s / 9 for d in (1, 2) for s, value in enumerate(values)}
            for name, values in cells.items()
        }
    )
    assert [found.places(name) for name in "abcd"] == [(1, 1), (2, 3), (2, 3), (4, 4)]


def test_a_badge_is_a_picture_of_its_words():
    drawn = ElementTree.fromstring(place.badge("a<b", (1, 6), 13))
    texts = [one.text for one in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["dmlplayground a<b", "place 1 to 6 of 13"]


# --- the loss of the tutorial ---------------------------------------------------------------------------------------------


def test_the_tutorials_loss_is_the_formula_and_an_option_of_ours():
    from dmlplayground.base import outside

    outside.load([LOSS])
    random = np.random.default_rng(3)
    points = random.normal(size=(8, 5)).astype(np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    labels, proxies = np.arange(8) % 3, random.normal(size=(3, 5)).astype(np.float32)
    values = []
    for name, options in [("proxy_nca_pp", {}), ("proxy_nca", {"exclude_positive": False})]:
        loss = methods.loss(name, num_classes=3, embed_dim=5, **options)
        loss.initialize()
        loss.proxies.set_data(proxies)
        values.append(float(loss(points, labels).asscalar()))
    assert values[0] == pytest.approx(values[1], rel=1e-5)


def test_the_tutorial_shows_the_files():
    loss, reference = blocks("python", PAGES["paper-to-place.md"])
    assert LOSS.read_text().endswith(loss)
    assert LOSS.with_name("proxy_nca_pp_reference.py").read_text().endswith(reference)


@pytest.mark.slow
def test_the_tutorials_loss_passes_every_check():
    found = list(dml.check(LOSS))
    assert len(found) > 20 and not [one for one in found if one.fault or one.left_out]
