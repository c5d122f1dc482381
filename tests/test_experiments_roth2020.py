"""The experiments of the study of training strategies: its tables, its factors, and a laptop twin of each."""

import functools

import pytest
import recipe_roth2020 as study

import dmlplayground as dml
from dmlplayground.base import resources
from dmlplayground.sweeps import grid

NAMES = [name for name in resources.experiment_names() if name.startswith("roth2020/")]
TWINS = [name for name in NAMES if name.endswith("_glyphs")]
FACTORS = {  # what a factor's trials differ in beside method and seed
    "batch_size": lambda trial: trial.batch_size,
    "embed_dim": lambda trial: trial.embed_dim,
    "backbone": lambda trial: trial.backbone["name"],
    "augmentation": lambda trial: tuple(map(str, trial.transform.items())),
    "weight_decay": lambda trial: trial.optimizer["weight_decay"],
    "samples_per_class": lambda trial: trial.sampler["n"],
    "sampler": lambda trial: (trial.sampler["name"], trial.sampler.get("replacement")),
}


@functools.cache
def trials(name):
    return grid.load(name)[0].trials()


def test_every_experiment_has_its_twin():
    assert {name.removesuffix("_glyphs") for name in TWINS} == set(NAMES) - set(TWINS)
    assert set(NAMES) - set(TWINS) == {f"roth2020/{factor}" for factor in FACTORS} | {
        f"roth2020/table_{data}" for data in study.EPOCHS
    }


@pytest.mark.parametrize("data", study.EPOCHS)
@pytest.mark.parametrize("twin", ["", "_glyphs"])
def test_the_tables_have_all_rows(data, twin):
    """Every row of the study is there as often as there are seeds; two rows never make the same trial."""
    expected = [row for row in study.SETTINGS if (row, data) not in study.MISSING]
    found = trials(f"roth2020/table_{data}{twin}")
    for seed in range(2 if twin else 5):
        of_seed = [trial for trial in found if trial.seed == seed]
        assert sorted(trial.method["name"] for trial in of_seed) == sorted(map(study.method, expected))
    assert len(found) == len(expected) * (2 if twin else 5)
    assert {trial.protocol["name"] for trial in found} == {"per_metric"}
    assert all("rho_spectrum@2" in trial.evaluation.training_metrics for trial in found)
    if not twin:
        assert {trial.data["name"] for trial in found} == {data}
        assert {trial.epochs for trial in found} == {study.EPOCHS[data]}


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("twin", ["", "_glyphs"])
def test_a_factor_alone_varies(factor, twin):
    found = trials(f"roth2020/{factor}{twin}")
    values = {FACTORS[factor](trial) for trial in found}
    others = [one for one in FACTORS if one != factor]
    assert len(values) > 2
    assert len(found) == 3 * len(values) * (2 if twin else 5)
    for other in others:
        assert (
            len({FACTORS[other](trial) for trial in found if "n" in trial.sampler or factor != "sampler"})
            == 1
        )


def test_the_factors_start_from_the_recipe():
    """In each of them is the setting of the study itself."""
    for factor in FACTORS:
        (standard,) = [
            trial
            for trial in trials(f"roth2020/{factor}")
            if (trial.method["name"], trial.seed) == ("margin", 0)
            and trial.batch_size == study.SHARED["batch_size"]
            and trial.embed_dim == study.SHARED["embed_dim"]
            and trial.backbone["name"] == study.SHARED["backbone.name"]
            and trial.optimizer["weight_decay"] == study.SHARED["optimizer.weight_decay"]
            and trial.sampler == {"name": "per_class", "n": 2, "replacement": True}
            and trial.transform["crop"] == "area"
            and trial.transform["size"] == 224
            and not trial.transform.get("augment")
        ]
        assert standard.method["beta"] == 1.2


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_a_trial_of_each_twin_trains(name, tmp_path):
    tiny = [
        "iterations=2",
        "epochs=1",
        "data.classes=40",
        "data.images_per_class=9",
        "evaluation.every=1",
        "evaluation.training_every=1",
    ]
    trial = grid.load(name)[0].trials(overrides=tiny)[-1]
    record = dml.train(trial, tmp_path)
    assert record.status == "finished"
    assert {"maximum", "best", "last"} <= set(record.results)
    assert "rho_spectrum@2" in record.results["best"]["training"]
