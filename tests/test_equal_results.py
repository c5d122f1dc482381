"""The committed results of equal conditions: every method had as many trials, the recipe has their winners, and the records
are those of the experiments as they stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dmlplayground import config, methods
from dmlplayground.sweeps import grid, search_files, search_space

pytest.importorskip("optuna", reason="Optuna is not installed: pip install 'dmlplayground[tune]'")

from dmlplayground.sweeps import sobol

KEPT = Path(__file__).parents[1] / "experiments" / "results" / "equal"
SEARCHES = sorted(path.name for path in (KEPT / "search").iterdir())
STORES = sorted(path.name for path in KEPT.iterdir() if path.name != "search")


def tried(search: str, method: str) -> list[dict]:
    return json.loads((KEPT / "search" / search / method / "search.json").read_text(encoding="utf-8"))[
        "tried"
    ]


@pytest.mark.parametrize("name", SEARCHES)
def test_every_method_had_the_trials_that_the_file_proposes(name):
    """As many for each, none stopped early, all kept; their configurations are those that the ranges of their time give."""
    searches = search_files.load_all(f"equal/search/{name}")
    assert {path.name for path in (KEPT / "search" / name).iterdir()} == set(searches)
    for method in searches:
        kept = json.loads((KEPT / "search" / name / method / "search.json").read_text(encoding="utf-8"))
        search = search_space.Search("", kept["config"], trials=len(kept["tried"]), draw=kept["draw"])
        entries = kept["tried"]
        assert [entry["state"] for entry in entries] == ["complete"] * search.trials
        for entry in entries:
            assert entry["values"] == sobol.proposal(search, entry["number"])
            assert entry["id"] == search.trial(entry["values"]).id
        found = {path.parent.name for path in (KEPT / "search" / name / method).glob("*/record.json")}
        assert found == {entry["id"] for entry in entries}


@pytest.mark.parametrize("name", SEARCHES)
def test_the_recipe_has_the_winners(name):
    for method, search in search_files.load_all(f"equal/search/{name}").items():
        winner = max(tried(name, method), key=lambda entry: entry["value"])
        part = {key: search.config[key] for key in ("data", "backbone") if key in search.config}
        made = config.dotted(config.trial({"method": method, "hyperparams": "equal", **part}).mapping())
        assert {key: made[key] for key in winner["values"]} == winner["values"], method


@pytest.mark.parametrize("name", STORES)
def test_the_records_are_those_of_the_experiment(name):
    wanted = {trial.id: trial for trial in grid.load(f"equal/{name}")[0].trials()}
    found = {path.parent.name: path for path in (KEPT / name).glob("*/record.json")}
    assert set(found) == set(wanted)
    for trial_id, path in found.items():
        record = json.loads(path.read_text(encoding="utf-8"))
        assert record["status"] == "finished"
        assert config.upgraded(record["config"]) == wanted[trial_id].mapping()
    assert {trial.seed for trial in wanted.values()}.isdisjoint(
        search.trial(sobol.proposal(search, 0)).seed
        for search in search_files.load_all("equal/search/tune_glyphs").values()
    )


def test_all_methods_of_the_three_studies_are_compared():
    from dmlplayground import hyperparams

    studies = ("fehervari2019", "musgrave2020", "roth2020")
    published = {hyperparams.read(name).method for name in hyperparams.names() if name.study in studies}
    compared = {trial.method["name"] for trial in grid.load("equal/glyphs")[0].trials()}
    assert compared == published <= set(methods.names())
