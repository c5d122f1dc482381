"""Experiment grids and the runner: what is in a grid, what runs, what is skipped, what a death leaves behind."""

import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml
from sweeps_fixture import SMALL, command, ready

import dmlplayground as dml
from dmlplayground import cli, config
from dmlplayground.base import files, optional, resources
from dmlplayground.base.errors import UserError
from dmlplayground.sweeps import grid
from dmlplayground.sweeps.chosen import choose
from dmlplayground.trial.store import CHECKPOINT, manifest, records

BASE = {
    **SMALL,
    "iterations": 2,
    "epochs": 1,
}


def experiment_file(tmp_path: Path, **content) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump({"title": "Small", "base": BASE, **content}))
    return path


def experiment(**content) -> grid.Experiment:
    return grid.Experiment(title="x", base=BASE, **content)


def test_a_grid_is_every_combination():
    trials = experiment(
        grid={"method": ["npairs", "proxy_nca"], "embed_dim": [4, 8], "optimizer.lr": [1e-3, 1e-4], "seed": 0}
    ).trials()
    assert len(trials) == 8
    assert {(t.method["name"], t.embed_dim, t.optimizer["lr"]) for t in trials} == {
        (m, e, lr) for m in ("npairs", "proxy_nca") for e in (4, 8) for lr in (1e-3, 1e-4)
    }


def test_exceptions_includes_and_excludes():
    made = experiment(
        grid={"method": ["npairs", "proxy_nca"], "seed": [0, 1]},
        methods={"proxy_nca": {"batch_size": 6}},
        exclude=[{"method": "npairs", "seed": [1, 2]}],
        include=[
            {"method": "npairs", "embed_dim": 4},
            {"method": "margin", "batch_size": [10, 15], "seed": 2},
        ],
    ).trials()
    found = [(t.method["name"], t.batch_size, t.embed_dim, t.seed) for t in made]
    assert found == [
        ("npairs", 12, 8, 0), ("proxy_nca", 6, 8, 0), ("proxy_nca", 6, 8, 1),
        ("npairs", 12, 4, 0), ("npairs", 12, 4, 1), ("margin", 10, 8, 2), ("margin", 15, 8, 2),
    ]  # fmt: skip


MIXED = {
    "methods": {"proxy_nca": {"batch_size": 6, "seed": 7}},
    "grid": {
        "method": ["npairs", "proxy_nca"],
        "seed": [0, 3, 12, 5.0],
        "mining": [None, "all"],
        "embed_dim": [4, 8],
        "backbone": ["conv4", {"name": "resnet18_v2", "pretrained": "none"}],
    },
    "exclude": [{"seed": 3, "embed_dim": 8}, {"method": "proxy_nca", "mining": "all"}, {"mining": "all"}],
    "include": [{"method": "margin", "embed_dim": 16, "batch_size": 10}],
}


@pytest.mark.parametrize("overrides", [[], ["epochs=2"], ["seed=9", "batch_size=10"]])
def test_trials_that_differ_in_their_seed_alone_are_those_made_one_by_one(overrides):
    mixed = experiment(**MIXED)
    made = mixed.trials(overrides=overrides)
    single = [config.trial(mixed.configuration(choice), overrides) for choice in mixed.choices()]
    assert [(t.id, t.mapping()) for t in made] == [
        (i, t.mapping()) for i, t in {t.id: t for t in single}.items()
    ]
    assert len(made) > (1 if overrides[:1] == ["seed=9"] else 40)


def test_all_problems_of_a_large_grid_are_found_and_some_shown():
    with pytest.raises(UserError) as caught:
        seeds = [*range(100), *range(-108, 0)]
        experiment(grid={"method": ["npairs", "proxy_nca"], "batch_size": [7, 12], "seed": seeds}).trials()
    lines = str(caught.value).splitlines()
    assert len(lines) == 102
    assert "npairs, batch_size 7, seed 0 and 99 more: sampler pairs: batch_size 7 is odd" in lines[1]
    assert "seed -108 and 3 more: seed must not be negative" in lines[2]
    assert lines[-1] == "  and 9 more"  # 1 + 108 problems


@pytest.mark.parametrize("rule", ["protocol=paper", "protocol.name=paper"])
def test_a_component_is_picked_by_its_name(rule):
    grid = {"method": "npairs", "protocol": ["paper", {"name": "validated", "folds": 2}]}
    assert [trial.protocol["name"] for trial in experiment(grid=grid).trials(where=[rule])] == ["paper"]


def test_a_grid_may_be_included_ones_alone():
    made = experiment(grid={}, include=[{"method": ["npairs", "margin"], "batch_size": 10}]).trials()
    assert [trial.method["name"] for trial in made] == ["npairs", "margin"]


def test_excludes_look_at_the_whole_configuration():
    made = experiment(
        grid={
            "method": ["npairs", "proxy_nca"],
            "backbone": ["conv4", {"name": "resnet18_v2", "pretrained": "none"}],
        },
        exclude=[
            {"method": ["npairs", "margin"], "backbone": "resnet18_v2"},
            {"backbone.name": "conv4", "embed_dim": 8, "seed": 1},
        ],
    )
    assert [(t.method["name"], t.backbone["name"]) for t in made.trials()] == [
        ("npairs", "conv4"), ("proxy_nca", "conv4"), ("proxy_nca", "resnet18_v2"),
    ]  # fmt: skip


def test_a_file_like_another(tmp_path):
    first = experiment_file(
        tmp_path, grid={"method": ["npairs"], "seed": [0, 1]}, methods={"npairs": {"batch_size": 6}}
    )
    second = tmp_path / "second.yaml"
    second.write_text(
        yaml.safe_dump(
            {
                "title": "Second",
                "like": str(first),
                "base": {"data": {"strength": 0.1}},
                "grid": {"embed_dim": [4]},
            }
        )
    )
    loaded, path = grid.load(second)
    assert (loaded.title, path) == ("Second", second)
    assert [(t.seed, t.embed_dim, t.batch_size, t.data["strength"], t.data["size"]) for t in loaded.trials()] == [
        (0, 4, 6, 0.1, 24), (1, 4, 6, 0.1, 24),
    ]  # fmt: skip
    first.write_text(yaml.safe_dump({"title": "Small", "like": str(second)}))
    with pytest.raises(UserError, match="small.yaml is like second.yaml, which is like small.yaml in turn"):
        grid.load(second)


def test_too_few_classes_are_told_without_the_data():
    """CUB-200-2011 has 100 training classes, of which a validated fold leaves 75."""
    wide = {"data": "cub200", "backbone": "inception_bn"}
    with pytest.raises(
        UserError,
        match="npairs, batch_size 202: batch_size 202 as pairs needs 101 classes, but the training split has 100",
    ):
        grid.Experiment("x", base=wide, grid={"method": "npairs", "batch_size": [200, 202]}).trials()
    with pytest.raises(UserError, match="needs 76 classes, but the training split has 75"):
        grid.Experiment(
            "x", base=wide, grid={"method": "npairs", "protocol": "validated", "batch_size": [150, 152]}
        ).trials()


STUDY = [
    "table2_cub200",
    "table3_cars196",
    "table4_sop",
    "figure1_embedding_size",
    "figure2_batch_size",
    "backbones",
]


def test_a_former_name_is_enough():
    assert grid.load("table2_cub200")[1] == grid.load("fehervari2019/table2_cub200")[1]


@pytest.mark.parametrize("name", STUDY)
def test_the_laptop_twins_run_the_same_grid(name):
    """The same methods, sizes and gaps; what cannot be the same on a laptop is left out of account."""

    def cells(name):
        axes = {"method", "embed_dim", "batch_size"} & set(study.grid)
        trials = grid.load(name)[0].trials()
        return {
            tuple((axis, t.method["name"] if axis == "method" else getattr(t, axis)) for axis in sorted(axes))
            for t in trials
        }

    study = grid.load(name)[0]
    assert cells(name) == cells(f"{name}_glyphs")
    assert {t.backbone["name"] for t in grid.load(f"{name}_glyphs")[0].trials()} <= {
        "conv4",
        "gluoncv:cifar_resnet20_v1",
    }
    assert all(len({t.seed for t in grid.load(n)[0].trials()}) >= 2 for n in (name, f"{name}_glyphs"))


def test_the_tables_are_the_studys():
    table = grid.load("table2_cub200")[0].trials()
    assert len(table) == 2 * 13 * 10
    assert {t.backbone["name"] for t in table if t.method["name"] == "dreml"} == {
        "inception_bn",
        "resnet18_v2",
    }
    assert all(
        t.groups.backbone["lr_mult_by_name"] == {"conv": 0.01}
        for t in table
        if t.method["name"] == "angular" and t.backbone["name"] == "resnet50_v2"
    )


def test_all_methods():
    made = experiment(grid={"method": "all", "batch_size": [60]})
    assert {trial.method["name"] for trial in made.trials()} == set(dml.methods.names())


def test_the_quick_start_is_of_the_first_studys_methods():
    trials = grid.load("quickstart")[0].trials()
    assert len({trial.method["name"] for trial in trials}) == 13
    assert len({trial.seed for trial in trials}) >= 2


def test_where_picks_trials():
    made = experiment(grid={"method": ["npairs", "proxy_nca"], "embed_dim": [4, 8]})
    assert {t.method["name"] for t in made.trials(where=["method=npairs"])} == {"npairs"}
    assert len(made.trials(where=["method=npairs", "embed_dim=4"])) == 1
    assert len(made.trials(where=["data=glyphs", "method=[npairs, margin]"])) == 2
    with pytest.raises(UserError, match=r"unknown embed_dim in this grid: 5\. Known: 4, 8"):
        made.trials(where=["embed_dim=5"])
    with pytest.raises(UserError, match="unknown key of the grid's trials: 'methd'. Did you mean 'method'"):
        made.trials(where=["methd=npairs"])
    with pytest.raises(UserError, match="empty where embed_dim=4, method=margin"):
        experiment(
            grid={"method": ["npairs", "margin"], "embed_dim": [4, 8]},
            exclude=[{"method": "margin", "embed_dim": 4}],
        ).trials(where=["embed_dim=4", "method=margin"])


def test_what_cannot_run_is_listed_at_once():
    with pytest.raises(UserError) as caught:
        experiment(grid={"method": ["npairs", "margin"], "batch_size": [7, 10]}).trials()
    message = str(caught.value)
    assert "npairs, batch_size 7" in message
    assert "margin, batch_size 7" in message
    assert "batch_size 10" not in message


@pytest.mark.parametrize("name", filter(ready, resources.experiment_names()))
def test_every_experiment_of_ours_makes_trials(name):
    trials = grid.load(name)[0].trials()
    assert len(trials) == len({trial.id for trial in trials}) > 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"grids": {}}, "unknown configuration key 'grids'"),
        ({"methods": {"nparis": {}}}, "unknown method in small.yaml: 'nparis'"),
        ({"grid": {"method": ["npairs"], "embed_dims": [4]}}, "embed_dims"),
        ({"grid": []}, "grid must be a mapping"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, content, words):
    with pytest.raises(UserError, match=words):
        grid.load(experiment_file(tmp_path, **content))[0].trials()


@pytest.mark.slow
def test_a_sweep_runs_skips_and_reports_failures(tmp_path):
    file = experiment_file(
        tmp_path,
        grid={"method": ["npairs", "proxy_nca"]},
        include=[
            {"method": "npairs", "optimizer.name": "sgd", "optimizer.lr": 1e20, "optimizer.momentum": 0.0}
        ],
    )
    store = tmp_path / "store"
    first = subprocess.run(command(file, store), capture_output=True, text=True)
    assert first.returncode == 1, first.stderr
    assert "2 finished, 1 failed" in first.stdout
    assert "--retry-failed" in first.stdout
    assert "failed: dmlplayground.trial.training.run.Diverged: the loss is" in first.stdout
    assert "Traceback" not in first.stdout + first.stderr
    assert (store / "report" / "index.html").exists()
    written = {path: path.stat().st_mtime_ns for path in store.glob(f"*/{records.RECORD}")}
    assert len(written) == 3
    second = subprocess.run(command(file, store), capture_output=True, text=True)
    assert second.returncode == 1
    assert {path: path.stat().st_mtime_ns for path in store.glob(f"*/{records.RECORD}")} == written
    planned = files.read_json(store / manifest.FILE)
    assert {trial["id"] for trial in planned["trials"]} == {path.parent.name for path in written}


@pytest.mark.slow
def test_a_sweep_with_a_damaged_record_goes_on_and_ends_with_1(tmp_path):
    file, store = experiment_file(tmp_path, grid={"method": ["npairs"], "seed": [0, 1]}), tmp_path / "store"
    damaged = store / grid.load(file)[0].trials()[0].id / records.RECORD
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{half")
    told = subprocess.run(command(file, store), capture_output=True, text=True)
    assert told.returncode == 1, told.stderr
    assert "1 unreadable, 1 finished" in told.stdout
    assert str(damaged) in told.stderr
    assert "Traceback" not in told.stderr
    assert damaged.read_text() == "{half"


def test_weights_that_cannot_be_had_are_told_before_anything_runs(tmp_path, capsys):
    backbones = [{"name": "conv4", "pretrained": str(tmp_path / "none.params")}, "conv4"]
    file = experiment_file(tmp_path, grid={"method": ["npairs", "proxy_nca"], "backbone": backbones})
    assert cli.main(command(file, tmp_path / "store")[3:]) == 2  # without "python -m dmlplayground"
    assert "none.params is not a file" in capsys.readouterr().err
    assert not list((tmp_path / "store").glob("*/record.json"))


@pytest.mark.slow
def test_ctrl_c_stops_a_sweep_and_the_same_command_goes_on(tmp_path):
    file = experiment_file(
        tmp_path, grid={"method": ["npairs"], "epochs": [400], "iterations": [6], "seed": [0, 1]}
    )
    store = tmp_path / "store"
    process = subprocess.Popen(
        command(file, store), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and len(list(store.glob(f"*/{CHECKPOINT}"))) < 2:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "2 interrupted" in errors
    assert "Traceback" not in errors
    again = subprocess.run(command(file, store), capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert "2 finished" in again.stdout


def test_a_sweep_by_command_and_from_python(tmp_path, capsys):
    """What the command has trained is not trained again."""
    file = experiment_file(tmp_path, grid={"method": ["npairs"], "seed": [0]})
    assert cli.main(["sweep", str(file), "--store", str(tmp_path / "store"), "--workers", "1"]) == 0
    assert "1 finished" in capsys.readouterr().out
    [written] = (tmp_path / "store").glob(f"*/{records.RECORD}")
    before = written.stat().st_mtime_ns
    found = dml.sweep(file, tmp_path / "store")
    assert [record.status for record in found] == ["finished"]
    assert written.stat().st_mtime_ns == before
    assert found[0].config == json.loads(json.dumps(config.trial(found[0].config).mapping()))


@pytest.mark.slow
def test_what_comes_on_top_takes_nothing_away(tmp_path):
    file = experiment_file(tmp_path, grid={"method": ["npairs"], "seed": [0]})
    dml.sweep(file, tmp_path / "store")
    dml.sweep(file, tmp_path / "store", overrides=["seed=1"])
    stated = manifest.read(tmp_path / "store").trials
    assert [trial["config"]["seed"] for trial in stated] == [0, 1]


def test_networks_are_compared_at_like_settings():
    """The study has settings of its own for ResNet-50; a comparison of networks must not compare those."""
    given = {}
    for trial in grid.load("backbones")[0].trials():
        own = {key: value for key, value in trial.mapping().items() if key not in ("backbone", "seed")}
        own["groups"]["backbone"]["lr_mult_by_name"] = {
            piece: rate for piece, rate in own["groups"]["backbone"]["lr_mult_by_name"].items() if rate != 1
        }
        assert given.setdefault(trial.method["name"], own) == own


def test_a_mapping_is_as_good_as_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = {
        "title": "Two at once!",
        "like": "quickstart",
        "grid": {"method": ["npairs", "margin"], "seed": [0]},
    }
    (tmp_path / "file.yaml").write_text(yaml.safe_dump(content))
    ours, theirs = (choose(given) for given in (content, "file.yaml"))
    assert [trial.id for trial in ours.trials] == [trial.id for trial in theirs.trials]
    assert ours.experiment == theirs.experiment
    assert (ours.store, theirs.store) == (Path("runs/two_at_once"), Path("runs/file"))
    picked = choose(content, where={"method": "npairs"}, overrides={"epochs": 3, "optimizer.lr": 0.5})
    assert [trial.id for trial in picked.trials] == [
        trial.id
        for trial in choose(content, None, ["method=npairs"], ["epochs=3", "optimizer.lr=0.5"]).trials
    ]
    with pytest.raises(UserError, match="plain values"):
        choose(content, overrides={"epochs": object()})
    with pytest.raises(UserError, match="Did you mean 'grid'"):
        choose({**content, "gird": {}})


def test_all_that_is_wrong_with_a_grid_is_said_at_once(tmp_path, capsys):
    """What no trial can be, a file of weights that is not there, and batches that the data do not allow."""
    base = {"data": SMALL["data"], "transform": "plain"}
    networks = ["conv4", {"name": "resnet18_v2", "pretrained": "absent.params"}]
    grid_ = {"method": ["npairs", "margin"], "backbone": networks, "batch_size": [40, 7], "seed": [0, 1]}
    file = tmp_path / "grid.yaml"
    file.write_text(yaml.safe_dump({"title": "Bad", "base": base, "grid": grid_}, sort_keys=False))
    wrong = ("absent.params is not a file", "batch_size 40 as pairs needs 20 classes", "batch_size 7 is not")
    for more in (["--dry-run"], ["--store", str(tmp_path / "store")]):
        assert cli.main(["sweep", str(file), *more]) == 2
        told = capsys.readouterr().err
        for words in wrong:
            (line,) = [line for line in told.splitlines() if words in line]
            assert re.match(r"  method \w+, backbone .* seed \d and \d more: ", line)
    grid_["batch_size"] = [40]
    file.write_text(yaml.safe_dump({"title": "Bad", "base": base, "grid": grid_}, sort_keys=False))
    for more in (["--dry-run"], ["--store", str(tmp_path / "store")]):
        assert cli.main(["sweep", str(file), *more]) == 2
        told = capsys.readouterr().err
        for words in wrong[:2]:
            (line,) = [line for line in told.splitlines() if words in line]
            assert re.match(r"  \w+-glyphs-\w+-e64-s0-\w+ and \d more: ", line)


def test_a_report_of_other_data_does_not_keep_the_title(tmp_path):
    choose("parts/methods", tmp_path, overrides=["data=folder", "data.path=photos"]).state()
    stated = manifest.read(tmp_path)
    assert stated.title == "methods, with data=folder, data.path=photos" and stated.about == ""
    choose("quickstart", tmp_path, overrides={"epochs": 3}).state()
    assert manifest.read(tmp_path).title == f"{grid.load('quickstart')[0].title}, with epochs=3"


def test_records_become_a_data_frame(trained):
    pytest.importorskip("pandas", reason=optional.PACKAGES["pandas"].install)
    found = records.load_store(trained.parent)
    frame = records.to_frame(found)
    assert list(frame["id"]) == [trained.name]
    row = frame.iloc[0]
    assert row["config.method.name"] == found[0].config["method"]["name"]
    key, result = next((key, one) for key, one in found[0].results.items() if isinstance(one, dict))
    for name, value in result["metrics"].items():
        assert row[f"results.{key}.metrics.{name}"] == value
    assert frame.equals(records.to_frame(str(trained.parent)))
