"""The findings: made arenas with known truth give the sentences that are true of them, and no others."""

import json
import re
import subprocess
import sys
from pathlib import Path

import arena_fixture as fixture
import pytest

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "experiments" / "results" / "arenas"
sys.path.insert(0, str(ROOT / "docs" / "makers"))

import findings  # noqa: E402

from dmlplayground import hyperparams, methods  # noqa: E402
from dmlplayground.reports.variance import Comparison  # noqa: E402
from dmlplayground.sweeps import grid  # noqa: E402

REAL = {"margin": 80, "npairs": 65, "proxy_nca": 50, "triplet": 35}
LEVEL = dict.fromkeys(REAL, 60.0)


@pytest.fixture(autouse=True)
def no_planned_arenas(monkeypatch, tmp_path):
    monkeypatch.setattr(findings, "EXPERIMENTS", tmp_path / "nothing")


def page(results):
    return findings.text(findings.made(findings.read(results)))


def arena(results, name, levels, **how):
    fixture.keep(results / name / "finals", fixture.finals(levels, **how))
    return results


def section(text, title):
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0]


def sentences(text):
    """Without tables, figures and what is folded."""
    text = re.sub(r"<details.*?</details>", "", text, flags=re.S)
    return "\n".join(line for line in text.splitlines() if not line.startswith(("|", "![")))


# --- who leads -------------------------------------------------------------------------------------------------------


def test_a_real_order_is_said(tmp_path):
    text = page(arena(tmp_path, "icons", REAL, noise="seeds"))
    short = section(text, "In short")
    assert re.search(
        r"\*\*icons\*\*: by R@1 \(\w+\), \*\*margin\*\* leads with \d\d\.\d \(.*?\)\. Of the 3 others, 3 are behind",
        short,
    )
    assert "Of 6 pairs, 6 are told apart." in section(text, "Arena icons")


@pytest.mark.parametrize("seed", range(4))
def test_of_equal_methods_no_winner_is_named(tmp_path, seed):
    text = page(arena(tmp_path, "icons", LEVEL, noise="searches", seed=seed))
    assert "no two of 4 methods can be told apart" in section(text, "In short")
    said = sentences(text)
    assert "**margin**" not in said and " leads" not in said
    for method in REAL:
        assert method not in said.replace(f"below {method}", ""), method


def test_leaders_that_cannot_be_told_apart_are_named_together(tmp_path):
    text = page(arena(tmp_path, "icons", {**REAL, "npairs": 80.0}, noise="seeds", seed=2))
    assert re.search(
        r"(margin|npairs) has the highest mean, 8.*?, and (margin|npairs) cannot be told apart from it.",
        section(text, "In short"),
    )
    assert "Of the 2 others, 2 are behind it beyond the noise." in text


def test_methods_no_better_than_the_untrained_network_are_named(tmp_path):
    text = page(arena(tmp_path, "icons", REAL, noise="seeds"))
    assert "Not above the row `untrained` beyond the noise: triplet." in text
    assert "All are above the row" in page(
        arena(tmp_path / "other", "icons", {"margin": 80, "npairs": 70}, noise="seeds")
    )


# --- optimism, length, noise -----------------------------------------------------------------------------------------


def test_optimism_is_the_gap_that_was_made(tmp_path):
    text = page(arena(tmp_path, "icons", REAL, noise="seeds", fall=4.0))
    assert (
        "best is 4.00 points above last on average over methods (4.00 to 4.00), beyond the noise for 4 of 4."
        in text
    )
    level = page(arena(tmp_path / "other", "icons", REAL, noise="seeds", fall=0.0))
    assert "best is 0.00 points above last" in level and "beyond the noise for 0 of 4" in level


@pytest.mark.parametrize(("searched", "said"), [(75, True), (97, False), (100, False)])
def test_searches_on_fewer_classes_are_said_where_epochs_are_compared(tmp_path, searched, said):
    arena(tmp_path, "icons", REAL)
    one = fixture.record("margin", (1, 1, 1), 50.0)
    one.data["train"] = f"glyphs (train): 900 images of {searched} classes"
    store = tmp_path / "icons" / "search" / "1" / "margin"
    fixture.keep(store, [one])
    (store / "experiment.json").write_text(json.dumps({"title": "A search", "trials": [], "search": True}))
    words = f"The searches trained on {searched} classes, these trainings on 100."
    assert (words in page(tmp_path)) == said


def test_a_short_training_with_another_order_is_said(tmp_path):
    arena(tmp_path, "icons", REAL)
    for number in (1, 2):
        by_length = {
            name: {"1/8": (100 - level) / 200 + number / 1000, "1": level / 200 + number / 1000}
            for name, level in REAL.items()
        }
        fixture.search(tmp_path / "icons" / "search", by_length, number)
    text = section(page(tmp_path), "Arena icons")
    assert (
        "The orders after 1/8 of the length and after all of it, by validation scores, have a tau of −1.00"
        in text
    )
    assert "triplet above margin" in text and "findings-icons-length.svg" in text


def test_winners_at_the_end_of_a_range_are_marked(tmp_path):
    arena(tmp_path, "icons", REAL)
    at_ends = {("margin", 1): {"method.margin": "high"}, ("margin", 2): {"method.margin": "high"},
               ("npairs", 2): {"optimizer.lr": "low"}, ("triplet", 1): {}}  # fmt: skip
    for (method, number), ends in at_ends.items():
        folder = tmp_path / "icons" / "search" / str(number) / method
        folder.mkdir(parents=True)
        search = {"number": number, **({"edges": ends} if ends else {})}
        content = {"method": method, "source": "search", "note": "", "values": {}, "search": search}
        (folder / "best.yaml").write_text(json.dumps(content))
    text = section(page(tmp_path), "Arena icons")
    assert "| margin † |" in text and "| npairs † |" in text and "| triplet |" in text
    assert "All searches at the same end: margin (method.margin, high)." in text


def test_the_share_of_the_search_is_that_of_the_comparison(tmp_path):
    text = page(arena(tmp_path, "icons", REAL, noise="searches"))
    (share,) = re.findall(r"; search (\d+)% \(", section(text, "Arena icons"))
    assert int(share) > 25


def test_the_noise_of_a_score_stands_beside_the_lead(tmp_path):
    text = section(page(arena(tmp_path, "icons", REAL, noise="seeds")), "In short")
    (noise, ahead) = map(float, re.search(r"in points: icons (\d+\.\d\d) and (\d+\.\d\d)\.", text).groups())
    assert 0.5 < noise < 10 and 25 < ahead < 35  # 80 against 50, the third of four


def test_tables_of_all_pairs_stand_beside_the_page(tmp_path):
    made = findings.made(findings.read(arena(tmp_path, "icons", REAL)))
    text = findings.text(made)
    assert "Which is better next time: [as CSV](findings-wins-icons.csv)" in text
    assert len(made.sheets["findings-wins-icons.csv"].rows) == 4 and "| margin | – |" not in text


# --- between arenas --------------------------------------------------------------------------------------------------


def test_where_there_is_one_seed_its_noise_is_said_to_be_elsewhere(tmp_path):
    said = "There is one seed for each division and search"
    text = page(arena(tmp_path, "icons", REAL, seeds=1))
    assert "a seed for each" in text and text.count(said) == 2  # above the table, and under it
    assert said not in page(arena(tmp_path / "two", "icons", REAL, seeds=2))


def test_what_holds_in_all_arenas_is_said_and_nothing_else(tmp_path):
    arena(tmp_path, "icons", REAL, noise="seeds")
    arena(
        tmp_path,
        "photos",
        {"margin": 80, "npairs": 35, "proxy_nca": 50, "triplet": 65},
        noise="seeds",
        seed=1,
    )
    text = section(page(tmp_path), "Between arenas")
    assert "margin above npairs, margin above proxy_nca and margin above triplet." in text
    assert "of 6 pairs of methods that all 2 arenas have, 3 are told apart" in text.lower()
    assert "3 pairs stand in opposite order in two arenas, beyond the noise of both." in text
    assert "npairs is above triplet in icons, and below it in photos." in text
    assert "Of the 4 methods that all 2 arenas have, no arena tells apart from its first: margin." in section(
        page(tmp_path), "In short"
    )
    assert "| icons | photos | 4 | 0.00 |" in text


def test_one_small_arena_does_not_hide_what_holds_in_the_others(tmp_path):
    for seed, name in enumerate(("icons", "photos")):
        arena(tmp_path, name, REAL, noise="seeds", seed=seed)
    arena(tmp_path, "small", {"margin": 80, "npairs": 60}, noise="seeds", seed=3)
    text = section(page(tmp_path), "In short")
    assert (
        "of 6 pairs of methods that at least 2 of the 3 arenas have, 6 are told apart in the same order"
        in text
    )
    assert (
        "Of the 4 methods that at least 2 of the 3 arenas have, no arena tells apart from its first: margin."
        in text
    )
    arena(tmp_path, "turned", {"margin": 60, "npairs": 80}, noise="seeds", seed=4)
    text = section(page(tmp_path), "In short")
    assert "of 1 pair of methods that at least 3 of the 4 arenas have, 0 are told apart" in text


# --- what is not there -----------------------------------------------------------------------------------------------


def test_without_records_the_page_says_so(tmp_path, monkeypatch):
    (tmp_path / "plans" / "icons").mkdir(parents=True)
    monkeypatch.setattr(findings, "EXPERIMENTS", tmp_path / "plans")
    text = page(tmp_path / "results")
    assert "No arena has two methods that were repeated" in text and "* **icons**: no records yet." in text
    assert "No arena that can be compared has measured them yet." in text


def test_what_is_not_complete_is_named(tmp_path):
    records = fixture.finals(REAL, noise="seeds")
    kept = [one for one in records if not (one.id.startswith("npairs") and "-r2-" in one.id)]
    store = fixture.keep(tmp_path / "icons" / "finals", kept)
    trials = [{"id": one.id, "config": one.config} for one in records]
    (store / "experiment.json").write_text(
        json.dumps({"title": "", "about": "", "file": "", "trials": trials})
    )
    text = page(tmp_path)
    assert (
        "not complete: 6 trials of its finals without a result; not repeated as often as the others, so left out: npairs."
        in text
    )
    assert "of 3 methods" in text or "Of the 2 others" in text
    assert not findings.data(findings.read(tmp_path))["icons"]["complete"]


def test_one_method_is_no_comparison(tmp_path):
    arena(tmp_path, "icons", {"margin": 60})
    text = page(tmp_path)
    assert "fewer than two methods are repeated" in text and "## Arena icons" not in text
    fixture.keep(tmp_path / "single" / "finals", [fixture.record("npairs", (1, 1, 0), 50)])
    assert "* **single**: not complete: fewer than two methods are repeated." in page(tmp_path)


# --- files -----------------------------------------------------------------------------------------------------------


def test_files_are_written_and_old_ones_go(tmp_path):
    arena(tmp_path / "results", "icons", REAL, noise="seeds")
    out = tmp_path / "docs"
    out.mkdir()
    (out / "findings-old.svg").write_text("")
    findings.write(tmp_path / "results", out)
    text = (out / findings.PAGE).read_text()
    assert not (out / "findings-old.svg").exists()
    for name in re.findall(r"\]\((findings[\w-]*\.\w+)\)", text):
        assert (out / name).stat().st_size > 0, name
    told = json.loads((out / findings.DATA).read_text())["icons"]
    assert told["best"] == ["margin"] and told["kind"] == "features" and told["complete"]
    records = fixture.finals(REAL, noise="seeds")
    assert len(told["methods"]) == 4 and len(records) == 48
    first = {name: (out / name).read_bytes() for name in ("findings.md", "findings-icons.svg")}
    findings.write(tmp_path / "results", out)
    assert first == {name: (out / name).read_bytes() for name in first}


def test_a_wrong_folder_is_one_line(tmp_path):
    for words in (["nowhere"], []):
        command = [sys.executable, str(ROOT / "docs" / "makers" / "findings.py"), *words]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1


def test_false_winners_are_rare(tmp_path):
    """Of equal methods, in how many arenas the sentence would name a winner."""
    named = 0
    for seed in range(25):
        found = findings.Arena("icons", fixture.finals(LEVEL, noise="searches", seed=seed))
        assert isinstance(found.compared, Comparison)
        named += "mean" in findings.verdict(found).replace(
            "the one with the highest mean", ""
        ) or "lead" in findings.verdict(found)
    assert named <= 4


@pytest.mark.slow
def test_the_page_is_up_to_date(monkeypatch, tmp_path):
    monkeypatch.undo()
    findings.write(KEPT, tmp_path)
    for path in tmp_path.iterdir():
        kept = ROOT / "docs" / path.name
        assert kept.exists() and (path.suffix == ".svg" or kept.read_bytes() == path.read_bytes()), path.name


def test_a_place_that_other_records_contradict_is_said_to_be_so(tmp_path):
    folder = arena(tmp_path / "arenas", "icons", {"margin": 60, "npairs": 60}, noise="seeds", divisions=1)
    older = list(fixture.finals({"margin": 75}, noise="seeds", divisions=1, searches=1))
    for one in older:
        one.config["search"], one.config["optimizer"]["lr"] = 0, 0.02
    fixture.keep(tmp_path / "older", older)
    text = findings.text(findings.made(findings.read(folder), tmp_path))
    assert re.search(
        r"score more beyond the noise: margin by 1\d\.\d points \(`older`\)\.", section(text, "Arena icons")
    )
    assert "beyond the noise: margin by" not in findings.text(findings.made(findings.read(folder)))


# --- settings by search and by hand ------------------------------------------------------------------------------------


def test_what_a_person_picked_is_no_winner_of_a_search():
    """The recipe ``equal`` has winners of searches; the file sets each option that they set."""
    experiment = grid.load(ROOT / "experiments" / "by_hand" / "picked.yaml")[0]
    shared = hyperparams.read(ROOT / "hyperparams" / "equal" / "common.yaml").values
    for trial in experiment.trials():
        name = trial.method["name"]
        record, picked = methods.get(name), experiment.methods[name]
        expected = {key: option.default for key, option in record.options.items()}
        assert trial.method == {"name": name, **expected, **picked.get("method", {})}, name
        own = record.head.get("normalize", True)
        assert trial.head.normalize == picked.get("head", {}).get("normalize", own), name
        rate = picked.get("optimizer", {}).get("lr", experiment.base["optimizer"]["lr"])
        assert trial.optimizer["lr"] == float(rate), name
        weights = shared["groups.loss.lr"].value
        loss = picked.get("groups", {}).get("loss", {}).get("lr", weights)
        assert trial.groups.loss.get("lr", weights) == float(loss), name


def by_hand(folder, **methods):
    """The stores of ``experiments/by_hand``: of every method what was picked and what was found, in percent."""
    protocol = {"name": "validation_only", "folds": 3, "criterion": "MAP@R"}
    for place, store in enumerate(("picked", "found")):
        for method, scores in methods.items():
            for seed in (1001, 1002):
                one = fixture.record(method, (1, 1, seed), 0.0)
                one.config["protocol"] = protocol
                one.id = f"{method}-{seed}"
                value = (scores[place] + seed % 2) / 100
                one.results = {"judged": [{"metrics": {"MAP@R": value}, "weights": []}] * 3}
                fixture.keep(folder / store, [one])
    return folder


def test_what_a_search_finds_stands_beside_what_a_person_picks(tmp_path):
    folder = by_hand(tmp_path / "by_hand", margin=(40, 45), npairs=(30, 20), triplet=(30, 29.9))
    text = findings.text(findings.made([], folder.parent))
    said = section(text, "What a search finds, and what a person picks")
    assert "score at least as high for 1 of 3 methods" in said
    assert "more than twice the error of such a gap (1.4 points) for 1." in said
    assert "| margin | 40.50 | 45.50 | +5.00 |" in said and "| npairs | 30.50 | 20.50 | −10.00 |" in said
    assert "MAP@R on validation classes" in said


def test_without_both_stores_nothing_is_said_of_picked_settings(tmp_path):
    (tmp_path / "by_hand" / "picked").mkdir(parents=True)
    assert "a person picks" not in findings.text(findings.made([], tmp_path))


# --- networks ----------------------------------------------------------------------------------------------------------


def test_networks_stand_side_by_side(tmp_path):
    levels = {"resnet50_v1": (90, 88), "efficientnet_lite0": (80, 84), "conv4": (40, 39)}
    records = []
    for network, scores in levels.items():
        for method, mean in zip(("margin", "npairs"), scores):
            for seed, noise in enumerate((-1, 1)):
                one = fixture.record(method, (1, 1, seed), mean + noise)
                one.id = f"{network}-{one.id}"
                if network == "conv4":
                    one.config["backbone"] = {"name": network, "pretrained": "none"}
                    one.config["data"] = {"name": "grocery", "division": 1}
                else:
                    one.config["data"] = {**one.config["data"], "name": "frozen", "backbone": network}
                    one.results["untouched"] = {"epoch": 0, "metrics": {"R@1": 0.7}}
                records.append(one)
    fixture.keep(tmp_path / "backbones_grocery", records)
    said = section(findings.text(findings.made([], tmp_path)), "How much the network is")
    assert "A method's best and worst network are 49.0 to 50.0 points apart" in said
    assert "a network's best and worst method 1.0 to 4.0 points." in said
    lines = [line for line in said.splitlines() if line.startswith("| ")][2:]
    assert [line.split(" |")[0] for line in lines] == [
        "| resnet50_v1, frozen", "| efficientnet_lite0, frozen", "| conv4, from scratch"
    ]  # fmt: skip
    assert lines[0] == "| resnet50_v1, frozen | 70.00 | 90.00 | 88.00 |"
    assert lines[2] == "| conv4, from scratch | – | 40.00 | 39.00 |"
