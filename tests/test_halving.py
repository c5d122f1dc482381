"""Searches by halving: rungs are trainings of their own length, equal budgets, decided by scores and numbers alone."""

import json
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from sweeps_fixture import SMALL, numbers

from dmlplayground import cli, config, hyperparams, methods, protocols
from dmlplayground.base.errors import UserError
from dmlplayground.reports import rungs
from dmlplayground.sweeps import local, runner, search_files, search_space, searches, worker
from dmlplayground.sweeps.worker import Ending
from dmlplayground.trial import training
from dmlplayground.trial.store import records
from dmlplayground.trial.store.records import Record

CONFIG = {
    **SMALL,
    "data": {**SMALL["data"], "classes": 40},
    "protocol": {"folds": 4},
    "evaluation": {"metrics": ["R@K", "MAP@R"], "ks": [1], "clustering": False},
    "optimizer": {"lr": {"range": [1e-4, 1e-2], "log": True}},
}
RUNGS = [{"trials": 8, "length": "1/4"}, {"trials": 4, "length": "1/2"}, {"trials": 2, "folds": 2}]
FILE = {
    "title": "Halving",
    "images": 960,
    "evaluations": 4,
    "rungs": RUNGS,
    "config": {**CONFIG, "method": {"name": "proxy_nca", "scale": {"range": [0.75, 12.0], "log": True}}},
}


def wanted(**changes) -> search_space.Search:
    return search_space.Search(
        **{**FILE, "rungs": [search_space.HalvingRung(**rung) for rung in RUNGS], **changes}
    )


@pytest.fixture
def file(tmp_path):
    def write(**changes) -> Path:
        path = tmp_path / "halving.yaml"
        path.write_text(yaml.safe_dump({**FILE, **changes}))
        return path

    return write


# --- rungs ------------------------------------------------------------------------------------------------------------


def images(trial) -> int:
    return trial.batch_size * trial.accumulate * trial.iterations * trial.epochs * len(config.units(trial))


def test_a_rung_is_a_training_of_its_own_length():
    search = wanted()
    values = searches.sobol(search, 3)
    short, middle, whole = (search.trial(values, rung) for rung in range(3))
    assert [(one.epochs, one.iterations) for one in (short, middle, whole)] == [(2, 10), (2, 20), (4, 20)]
    assert [one.protocol["only"] for one in (short, middle, whole)] == [1, 1, 2]
    assert len({one.seed for one in (short, middle, whole)}) == 3, "no seed helps a setting twice"
    assert {one.protocol["name"] for one in (short, middle, whole)} == {"validation_only"}
    assert search.trial(values) == whole


@pytest.mark.parametrize("more", [{}, {"batch_size": 24}, {"accumulate": 2}])
def test_every_method_gets_the_same_images(file, more):
    path = file(
        methods="all", images=9600, config={**CONFIG, "hyperparams": "equal", "batch_size": 60, **more}
    )
    found = search_files.load_all(path)
    assert len(found) == len(methods.names())
    for rung, share in enumerate((0.25, 0.5, 2)):
        seen = set()
        for search in found.values():
            if more.get("batch_size") and search.config["method"]["name"] in ("prototypical", "margin"):
                continue  # episodes of ten, and classes of five, do not make a batch of 24
            try:
                seen.add(images(search.trial(searches.sobol(search, 1), rung)))
            except UserError:
                continue
        assert seen and all(0.9 * share * 9600 <= one <= share * 9600 for one in seen), (rung, seen)
        assert max(seen) - min(seen) <= 0.07 * share * 9600  # whole steps, of every member of an ensemble


def test_searches_have_points_seeds_and_folds_of_their_own(file):
    one, two = search_files.load_all(file(searches=2)).values()
    assert (one.number, two.number) == (1, 2)
    points = [[searches.sobol(search, number) for number in range(9)] for search in (one, two)]
    assert points[0][0] == points[1][0], "the method's own settings come first in both"
    scales = [{point["method.scale"] for point in some[1:]} for some in points]
    assert not scales[0] & scales[1]
    for some in scales:
        assert min(some) < 1.6 and max(some) > 6, "evenly spread"
    trials = [[search.trial(points[0][0], rung) for rung in range(3)] for search in (one, two)]
    assert not {trial.seed for trial in trials[0]} & {trial.seed for trial in trials[1]}
    assert [[trial.search for trial in some] for some in trials] == [[1] * 3, [2] * 3]
    kept = [{part for fold in config_folds(some[2].protocol) for part in fold.kept} for some in trials]
    assert not kept[0] & kept[1] and len(kept[0] | kept[1]) == 20


def config_folds(protocol):
    return protocols.create(**protocol).folds(20)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rungs": [{"trials": 4, "length": "1/2"}]}, "the last has length 1"),
        (
            {"rungs": [{"trials": 4, "length": "1/2"}, {"trials": 3, "length": 0.4}, {"trials": 1}]},
            "none may be shorter",
        ),
        (
            {"rungs": [{"trials": 2, "length": "1/2"}, {"trials": 3}]},
            "cannot have more trials than the one before",
        ),
        (
            {"rungs": [{"trials": 2, "length": "half"}]},
            "a length is a share of the full one, such as 1/3, not half",
        ),
        ({"rungs": [{"trials": 2, "length": "1/0"}]}, "a length is a share"),
        (
            {"rungs": [{"trials": 2, "length": "1/2", "refine": 1}, {"trials": 1}]},
            "refine, a whole number, is for those of length 1",
        ),
        ({"images": 0}, "rungs need images"),
        ({"searches": 0}, "searches must be a whole number from 1 on"),
        ({"rungs": [], "searches": 2}, "only a search by halving is repeated"),
        ({"config": {**FILE["config"], "protocol": "paper"}}, "leave config.protocol at validation_only"),
        ({"config": {**FILE["config"], "protocol": {"folds": 4, "first": 4}}}, "first must be from 0"),
    ],
)
def test_what_a_file_may_not_say(file, changes, words):
    with pytest.raises(UserError, match=words):
        for search in search_files.load_all(file(**changes)).values():
            search.check()


def test_a_winner_at_the_edge_is_named():
    scale = search_space.Range([0.75, 12.0], log=True)
    assert [scale.edge(value) for value in (0.75, 0.98, 1.0, 3.0, 9.0, 9.2, 12.0)] == [
        "low", "low", None, None, None, "high", "high",
    ]  # fmt: skip
    assert search_space.Range([0, 10]).edge(1) is None and search_space.Range([0, 20]).edge(1) == "low"
    assert search_space.Choice(["a", "b"]).edge("a") is None


# --- with processes that do as they are told --------------------------------------------------------------------------


class Trained:
    """Ends after some looks, with scores that settings and lengths decide: at full length a scale of 3 is best."""

    def __init__(self, trial, folder, looks):
        self.trial, self.folder, self.looks = trial, folder, looks

    def poll(self):
        self.looks -= 1
        if self.looks > 0:
            return None
        scale, trial = self.trial.method["scale"], self.trial
        if scale > 10:
            Record(trial.id, trial.mapping(), status="failed", error="Diverged").save(self.folder)
            return Ending(1, "ended with code 1")
        score = 1 / (1 + abs(scale - 3)) + trial.iterations / 1000
        entries = [
            {
                "fold": fold,
                "member": 0,
                "epoch": epoch,
                "measured_on": "validation",
                # the folds differ in their best epoch: that of their mean is the third
                "metrics": {"MAP@R": score - abs(epoch - (2, 4)[fold % 2]) ** 2 / 100, "R@1": 0.5},
            }
            for fold in range(trial.protocol["only"])
            for epoch in range(trial.epochs + 1)
        ]
        best = [max((e for e in entries if e["fold"] == f), key=lambda e: e["metrics"]["MAP@R"]) for f in
                range(trial.protocol["only"])]  # fmt: skip
        results = {"untrained": entries[0], "judged": [{**one, "validation": one["metrics"]} for one in best]}
        record = Record(trial.id, trial.mapping(), status="finished", epochs=entries, results=results)
        record.save(self.folder)
        return Ending(0, "ended with code 0")

    def stop(self):
        """Nothing to do."""


class Machine:
    slots = 1

    def __init__(self, seed=0, stop_after=None):
        self.random, self.started, self.stop_after = random.Random(seed), [], stop_after

    def prepare(self, trials, workers):
        return []

    def start(self, trial, folder):
        if len(self.started) == self.stop_after:
            raise KeyboardInterrupt
        self.started.append(trial.id)
        return Trained(trial, folder, self.random.randrange(1, 6))

    def ended(self, process):
        """Nothing to do."""

    def close(self, running):
        """Nothing to do."""


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(runner, "POLL", 0.0)


def tried(store):
    return json.loads((store / "search.json").read_text())["tried"]


def test_the_best_of_a_rung_go_on(tmp_path, quick):
    machine = Machine()
    winner = searches.tune(wanted(), tmp_path, machine, quiet=True)
    rows = tried(tmp_path)
    assert len(machine.started) == 8 + 4 + 2 and len(rows) == 8
    for rung, count in enumerate((8, 4, 2)):
        here = [row for row in rows if len(row["reached"]) > rung]
        assert len(here) == count
        if rung:
            before = sorted(
                (row for row in rows if len(row["reached"]) >= rung and "value" in row["reached"][rung - 1]),
                key=lambda row: (-row["reached"][rung - 1]["value"], row["number"]),
            )
            assert {row["number"] for row in here} == {row["number"] for row in before[:count]}
    best = max((row for row in rows if len(row["reached"]) == 3), key=lambda row: row["reached"][2]["value"])
    file = hyperparams.read(winner)
    assert file.values["method.scale"].value == best["values"]["method.scale"]
    assert file.search["epoch"] == file.values["protocol.epoch"].value == 3
    assert file.search["value"] == pytest.approx(best["reached"][2]["value"])
    assert list(file.search["by_length"]) == ["1/4", "1/2", "1"]
    trial = config.trial(
        {"method": "proxy_nca", "data": CONFIG["data"], "hyperparams": str(winner), "search": 1}
    )
    assert (trial.epochs, trial.iterations, trial.protocol["epoch"]) == (4, 20, 3)


def refined(count=4):
    """A search whose last rung has more settings, to refine what was found."""
    scale = {"name": "proxy_nca", "scale": {"range": [0.75, 12.0], "log": True}}
    rungs = [search_space.HalvingRung(**rung) for rung in [*RUNGS[:2], {**RUNGS[2], "refine": count}]]
    return wanted(rungs=rungs, config={**CONFIG, "method": scale})


def test_the_last_rung_refines_what_was_found(tmp_path, quick):
    machine, search = Machine(), refined()
    winner = searches.tune(search, tmp_path, machine, quiet=True)
    rows = tried(tmp_path)
    assert search.trials == len(machine.started) == 8 + 4 + 2 + 4
    last = [row for row in rows if len(row["reached"]) == 3]
    assert len(last) == 6 and rows[0] in last, "the method's own settings are always among them"
    through = [row for row in last if row["reached"][1]["status"] == "finished"]
    new = [row for row in rows if row["number"] >= 8]
    assert len(new) == (4 if rows[0] in through else 3)
    assert all(
        [one["status"] for one in row["reached"]] == ["left out", "left out", "finished"] for row in new
    )
    # near the best of those that were there before: numbers within a quarter of the range, on its scale
    before = [row for row in last if row not in new]
    best = max(before, key=lambda row: row["reached"][2]["value"])["values"]
    for row in new:
        for key, parameter in search.parameters.items():
            factor = (parameter.range[1] / parameter.range[0]) ** (search_space.NEAR / 2)
            assert (
                best[key] / factor <= row["values"][key] * 1.00001
                and row["values"][key] <= best[key] * factor * 1.00001
            )
    assert len({tuple(row["values"].values()) for row in [*new, {"values": best}]}) == len(new) + 1
    moved = [
        {key: row["values"][key] / best[key] for key in best if row["values"][key] != best[key]}
        for row in new
    ]
    eighth = 100 ** (1 / 8)  # of the rate's range, 1e-4 to 1e-2
    assert moved[1] == {"optimizer.lr": pytest.approx(1 / eighth, rel=1e-5)}
    assert moved[2] == {"optimizer.lr": pytest.approx(eighth, rel=1e-5)}
    assert all(len(one) == 2 for n, one in enumerate(moved) if n not in (1, 2)), "the others move everything"
    value = max(row["reached"][2]["value"] for row in last)
    assert hyperparams.read(winner).search["value"] == pytest.approx(value)
    assert sum(hyperparams.read(winner).search["trials"].values()) == 18, "what was left out is no trial"


def confirmed():
    """A search with one more rung of full length, on all folds."""
    return wanted(rungs=[*refined().rungs, search_space.HalvingRung(3, folds=4)], config=refined().config)


def test_a_further_rung_of_full_length_judges_the_best_anew(tmp_path, quick, monkeypatch):
    poll = Trained.poll
    monkeypatch.setattr(Trained, "poll", lambda self: _with_luck(self, poll))
    winner = searches.tune(confirmed(), tmp_path, Machine(), quiet=True)
    rows = tried(tmp_path)
    last = [row for row in rows if len(row["reached"]) == 4]
    before = sorted(
        (row for row in rows if len(row["reached"]) > 2), key=lambda row: -row["reached"][2]["value"]
    )
    assert len(last) == 3 and {row["number"] for row in last} == {row["number"] for row in before[:3]}
    best = max(last, key=lambda row: row["reached"][3]["value"])
    assert best is not before[0], "what was lucky falls back"
    assert before[0]["reached"][2]["value"] > best["reached"][3]["value"]
    file = hyperparams.read(winner)
    assert file.values["method.scale"].value == best["values"]["method.scale"]
    assert file.search["value"] == file.search["by_length"]["1"] == best["reached"][3]["value"]
    lengths = rungs.read(tmp_path)
    assert lengths.scores[lengths.shares[-1]]["proxy_nca"] == {1: pytest.approx(100 * file.search["value"])}


def _with_luck(trained, poll):
    """On the first rung of full length, low rates are lucky, whatever the scale."""
    scale, lucky = trained.trial.method["scale"], trained.trial.seed % search_space.SEEDS == 2
    trained.trial.method["scale"] = 3 + trained.trial.optimizer["lr"] if lucky else scale
    ended = poll(trained)
    trained.trial.method["scale"] = scale
    return ended


def test_a_rung_on_all_folds_leaves_the_others_where_they_are():
    """So a search can go on from records of one that lacked the rung."""
    points = {number: replace(confirmed(), number=number) for number in (1, 2)}
    for number, search in points.items():
        values, without = searches.sobol(search, 3), replace(refined(), number=number)
        trials = [search.trial(values, rung) for rung in range(4)]
        assert trials[:3] == [without.trial(values, rung) for rung in range(3)]
        assert trials[3].protocol["only"] == 4 and len({trial.seed for trial in trials}) == 4


def test_own_settings_that_learn_slowly_come_back(tmp_path, quick, monkeypatch):
    slow = methods.get("proxy_nca").options["scale"].default
    poll = Trained.poll

    def late(self):
        if self.trial.method["scale"] != slow:
            return poll(self)
        short = self.trial.epochs * self.trial.iterations < 80
        self.trial.method["scale"] = 9.9 if short else slow  # which scores low
        ended = poll(self)
        self.trial.method["scale"] = slow
        return ended

    monkeypatch.setattr(Trained, "poll", late)
    searches.tune(refined(), tmp_path, Machine(), quiet=True)
    own = tried(tmp_path)[0]
    assert [one["status"] for one in own["reached"]] == ["finished", "left out", "finished"]
    assert len([row for row in tried(tmp_path) if row["number"] >= 8]) == 3, "they count as one of the four"


def test_where_nothing_can_be_moved_nothing_is_added(tmp_path, quick):
    rungs = [search_space.HalvingRung(2, "1/2"), search_space.HalvingRung(1, refine=3)]
    config = {**CONFIG, "optimizer": {"lr": {"choose": [1e-3, 2e-3]}}, "method": {"name": "proxy_nca"}}
    searches.tune(wanted(rungs=rungs, config=config), tmp_path, Machine(), quiet=True)
    assert len(tried(tmp_path)) == 2


@pytest.mark.parametrize("workers", [2, 5])
def test_the_number_of_workers_changes_nothing(tmp_path, quick, workers):
    searches.tune(refined(), tmp_path / "one", Machine(), quiet=True)
    searches.tune(refined(), tmp_path / "many", Machine(seed=workers), workers=workers, quiet=True)
    assert tried(tmp_path / "one") == tried(tmp_path / "many")


def test_a_search_that_is_to_refine_goes_on_from_one_that_did_not(tmp_path, quick):
    searches.tune(wanted(), tmp_path, Machine(), quiet=True)
    machine = Machine()
    searches.tune(refined(), tmp_path, machine, quiet=True)
    searches.tune(refined(), tmp_path / "whole", Machine(), quiet=True)
    assert len(machine.started) == 4 and tried(tmp_path) == tried(tmp_path / "whole")


def test_a_stopped_search_goes_on_to_the_same_end(tmp_path, quick):
    searches.tune(refined(), tmp_path / "whole", Machine(), quiet=True)
    store, runs = tmp_path / "stopped", 0
    while True:
        runs += 1
        try:
            searches.tune(refined(), store, Machine(seed=runs, stop_after=3), workers=2, quiet=True)
            break
        except KeyboardInterrupt:
            continue
    assert runs >= 4 and tried(store) == tried(tmp_path / "whole")
    nothing = Machine(stop_after=0)
    searches.tune(refined(), store, nothing, quiet=True)
    assert not nothing.started, "what is finished is not run again"


def test_a_packed_search_is_known_to_be_done(tmp_path, quick):
    searches.tune(wanted(), tmp_path / "store", Machine(), quiet=True)
    records.pack(tmp_path / "store", tmp_path / "kept")
    nothing = Machine(stop_after=0)
    searches.tune(wanted(), tmp_path / "kept", nothing, quiet=True)
    assert tried(tmp_path / "kept") == tried(tmp_path / "store")


def test_a_search_goes_on_from_records_that_lack_a_later_key(tmp_path, quick):
    winner = searches.tune(wanted(), tmp_path, Machine(), quiet=True)
    before = winner.read_text()
    for path in tmp_path.glob("*/record.json"):
        record = Record.load(path)
        del record.config["trainer"]
        record.save(path.parent)
    nothing = Machine(stop_after=0)
    winner = searches.tune(wanted(), tmp_path, nothing, quiet=True)
    lines = [line for line in winner.read_text().splitlines() if "finished:" not in line]
    assert lines == [line for line in before.splitlines() if "finished:" not in line]


def test_failed_trials_do_not_go_on(tmp_path, quick):
    ranges = {"name": "proxy_nca", "scale": {"range": [10.5, 12.0]}}
    with pytest.raises(UserError, match="no trial of its rung 1 finished"):
        searches.tune(wanted(config={**CONFIG, "method": ranges}), tmp_path, Machine(), quiet=True)


def test_proposals_that_cannot_be_trained_are_left_out(tmp_path, quick):
    choices = {
        "sampler": {"choose": [{"name": "blocks", "per_class": 2}, {"name": "blocks", "per_class": 5}]}
    }
    searches.tune(wanted(config={**FILE["config"], **choices}), tmp_path, Machine(), quiet=True)
    rows = tried(tmp_path)
    assert len(rows) == 8 and {row["values"]["sampler"]["per_class"] for row in rows} == {2}
    never = {"sampler": {"choose": [{"name": "blocks", "per_class": 5}]}}
    with pytest.raises(
        UserError, match="none of the search's proposals can be trained; the last one: batch_size 12"
    ):
        searches.tune(wanted(config={**FILE["config"], **never}), tmp_path / "no", Machine(), quiet=True)


def test_data_with_options_that_it_needs_can_be_searched_on(tmp_path, quick):
    labels = np.repeat(np.arange(40), 3)
    np.savez(tmp_path / "some.npz", features=np.ones((120, 5)), labels=labels)
    data = {"name": "features", "path": str(tmp_path / "some.npz")}
    search = wanted(config={**FILE["config"], "data": data})
    winner = searches.tune(search, tmp_path / "store", Machine(), quiet=True)
    trial = config.trial({"method": "proxy_nca", "data": data, "hyperparams": str(winner), "search": 1})
    assert trial.backbone["name"] == "identity" and trial.epochs == 4


# --- for real ---------------------------------------------------------------------------------------------------------


def without_times(record: Record) -> str:
    content = json.loads(json.dumps([record.epochs, record.results]))
    for entry in [*content[0], content[1]["untrained"], *content[1]["judged"]]:
        for key in [key for key in entry if "seconds" in key]:
            del entry[key]
    return json.dumps(content, sort_keys=True)


@pytest.mark.slow
def test_one_process_for_many_trials_gives_the_numbers_of_fresh_ones(tmp_path, monkeypatch):
    """To the bit, whatever was trained in the process before: other methods, shapes, optimizers, ensembles."""
    monkeypatch.setattr(local.Local, "gpus", [])
    shared = {
        **CONFIG,
        "optimizer": {"lr": 1e-3},
        "protocol": {"name": "validation_only", "folds": 2, "only": 1},
    }
    trials = [
        config.trial({**shared, "iterations": 3, "epochs": 2, "seed": seed, **more})
        for seed, more in enumerate(
            [
                {"method": "proxy_nca", "sampler": {"name": "blocks", "per_class": 2}},
                {"method": "margin", "sampler": {"name": "blocks", "per_class": 3}, "embed_dim": 16},
                {"method": "dreml", "ensemble": {"members": 2}},
                {"method": "npairs", "optimizer": {"name": "sgd", "lr": 0.01}},
                {"method": "proxy_nca", "sampler": {"name": "blocks", "per_class": 2}},
            ]
        )
    ]
    runner.run(tmp_path / "one", trials, local.Local(), workers=1, quiet=True)
    for trial in trials:
        log = (tmp_path / "one" / trial.id / worker.LOG).read_text()
        assert "error" not in log.lower(), log
        subprocess.run(
            [sys.executable, "-m", "dmlplayground", "train", str(tmp_path / "one" / trial.id / "trial.json"), "--store",
             str(tmp_path / "fresh"), "--quiet"],
            check=True,
        )  # fmt: skip
        one, fresh = (records.find(tmp_path / store / trial.id) for store in ("one", "fresh"))
        assert without_times(one) == without_times(fresh)


@pytest.mark.slow
def test_a_search_that_is_killed_finds_the_same(file, tmp_path):
    path = file(methods=["proxy_nca", "margin"], config={**CONFIG, "sampler": {"name": "blocks", "per_class": 2}},
                images=240, rungs=[{"trials": 3, "length": "1/2"}, {"trials": 2, "folds": 2}])  # fmt: skip
    assert cli.main(["tune", str(path), "--store", str(tmp_path / "whole"), "--workers", "2"]) == 0
    command = [sys.executable, "-m", "dmlplayground", "tune", str(path), "--store", str(tmp_path / "killed")]
    for seconds in (4, 7):
        process = subprocess.Popen([*command, "--workers", "1"], stdout=subprocess.DEVNULL)
        time.sleep(seconds)
        process.kill()
        process.wait()
    subprocess.run([*command, "--workers", "2"], check=True, stdout=subprocess.DEVNULL)
    for name in ("1/proxy_nca", "1/margin"):
        assert tried(tmp_path / "whole" / name) == tried(tmp_path / "killed" / name)
        assert numbers(tmp_path / "whole" / name) == numbers(tmp_path / "killed" / name)
        assert not list((tmp_path / "whole" / name).glob("*/*.npz")), (
            "a search keeps no weights and no pictures"
        )


def test_the_validated_result_comes_from_the_same_training(tmp_path):
    given = {
        **CONFIG,
        "optimizer": {"lr": 1e-3},
        "method": "npairs",
        "iterations": 3,
        "epochs": 3,
        "protocol": "paper",
    }
    plain = training.train(given, tmp_path)
    told = training.train({**given, "protocol": {"name": "paper", "epoch": 2}}, tmp_path)
    assert set(plain.results) == {"untrained", "best", "last"} and plain.id != told.id
    assert told.results["beforehand"]["metrics"] == plain.epochs[2]["metrics"]
    assert told.results["last"]["metrics"] == plain.results["last"]["metrics"]
    for epoch, every in ((4, 1), (2, 3)):
        with pytest.raises(UserError, match=f"epoch {epoch} is not one of the 3 epochs, or is not evaluated"):
            config.trial(
                {**given, "protocol": {"name": "paper", "epoch": epoch}}, [f"evaluation.every={every}"]
            )


def test_settings_of_two_searches_are_two_trials(tmp_path):
    given = {"method": "npairs"}
    plain = config.trial(given)
    assert config.trial({**given, "search": 0}).id == plain.id == config.trial(plain.mapping()).id
    assert len({config.trial({**given, "search": number}).id for number in range(3)}) == 3
    for number in (1, 2):
        folder = tmp_path / str(number) / "npairs"
        folder.mkdir(parents=True)
        values = {"epochs": {"value": 10 * number, "source": "search"}}
        (folder / "best.yaml").write_text(yaml.safe_dump({"method": "npairs", "values": values}))
    found = [config.trial({**given, "hyperparams": str(tmp_path), "search": number}) for number in (1, 2)]
    assert [trial.epochs for trial in found] == [10, 20]
    with pytest.raises(UserError, match="holds no winner for npairs of search 3"):
        config.trial({**given, "hyperparams": str(tmp_path), "search": 3})
