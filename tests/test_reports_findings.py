"""The findings: their numbers against independent ones, their sentences against their numbers, and stores that are missing."""

from __future__ import annotations

import itertools
import json
import math
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import findings_fixture as fixture
import numpy as np
import pytest
from scipy import stats

from dmlplayground.reports import findings
from dmlplayground.reports.findings import agreement, diagram, kendall, sources
from dmlplayground.reports.findings.ranking import Ranking, crossings, reversed_pairs
from dmlplayground.reports.statistics import Summary

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "experiments" / "results" / "equal"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return fixture.results(tmp_path_factory.mktemp("equal"))


@pytest.fixture(scope="module")
def content(results):
    return findings.made(sources.read(results))


@pytest.fixture(scope="module")
def page(content):
    return content[findings.PAGE].decode()


def section(page, title):
    return page.partition(f"## {title}\n")[2].partition("\n## ")[0]


def table(text, first):
    """The rows of the table whose head begins with these words."""
    lines = text[text.index(f"| {first}") :].split("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return cells[0], cells[2:]


# --- the statistics -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_tau_is_that_of_scipy(seed):
    a, b = np.random.default_rng(seed).integers(8, size=(2, 12))  # with ties
    assert float(kendall.taus(a, b)) == pytest.approx(stats.kendalltau(a, b).statistic)


def test_tau_of_no_order_is_no_number():
    assert math.isnan(kendall.taus([1, 1, 1], [1, 2, 3]))
    same = {name: Summary({0: 1.0, 1: 1.0}) for name in "abc"}
    assert kendall.Agreement.of(same, same).tau is None


def test_the_standard_error_is_that_of_all_draws():
    """Two seeds of four methods: 4 ** 4 draws, each as likely."""
    random = np.random.default_rng(3)
    a, b = random.normal(size=(2, 4, 2)) + np.arange(4)[:, None] * 0.5
    draws = [(0, 0), (0, 1), (1, 0), (1, 1)]
    every = [
        stats.kendalltau(
            *([side[method][list(draw)].mean() for method, draw in enumerate(drawn)] for side in (a, b))
        )
        for drawn in itertools.product(draws, repeat=4)
    ]
    found = kendall.Agreement.of(
        *({str(i): Summary(dict(enumerate(row))) for i, row in enumerate(side)} for side in (a, b))
    )
    low, high = found.interval
    error = float(np.std([one.statistic for one in every]))
    assert found.tau == pytest.approx(stats.kendalltau(a.mean(axis=1), b.mean(axis=1)).statistic)
    ends = max(-1, found.tau - 1.96 * error), min(1, found.tau + 1.96 * error)
    assert (low, high) == pytest.approx(ends, abs=0.05)
    assert found.interval == kendall.Agreement(found.methods, found.pairs).interval  # the same page each time


def test_the_same_seeds_twice_agree_entirely():
    scores = {str(i): Summary({seed: i + 0.1 * seed for seed in range(5)}) for i in range(5)}
    found = kendall.Agreement.of(scores, scores)
    assert (found.tau, found.interval) == (1, (1, 1))
    assert kendall.with_itself(scores) == [1] * 10


def ranked(seed, seeds=5, methods=8, unequal=False):
    random = np.random.default_rng(seed)
    counts = random.integers(2, seeds + 1, size=methods) if unequal else [seeds] * methods
    means = random.normal(0, 2, size=methods)
    return Ranking.of(
        {
            f"m{i}": Summary(dict(enumerate(random.normal(mean, 1, size=count))))
            for i, (mean, count) in enumerate(zip(means, counts))
        }
    )


@pytest.mark.parametrize("seed", range(3))
def test_pairs_told_apart_are_those_of_a_computation_by_hand(seed):
    found = ranked(seed)
    values = [list(score.values.values()) for score in found.scores.values()]
    variance = statistics.mean(statistics.variance(one) for one in values)
    chances = {}
    for i, j in itertools.combinations(range(8), 2):
        gap = statistics.mean(values[i]) - statistics.mean(values[j])
        chances[i, j] = 2 * stats.t.sf(abs(gap) / math.sqrt(variance * 2 / 5), 8 * 4)
    expected = set()
    for rank, pair in enumerate(sorted(chances, key=chances.get)):
        if chances[pair] * (28 - rank) >= 0.05:  # Holm: this one and all after it
            break
        expected.add(frozenset(f"{found.names[place]}" for place in pair))
    assert found.apart == expected
    assert 0 < len(expected) < 28


@pytest.mark.parametrize("unequal", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_no_bar_joins_a_pair_that_is_told_apart(seed, unequal):
    found = ranked(seed, unequal=unequal)
    joined = {
        frozenset((found.names[a], found.names[b]))
        for first, last in found.groups
        for a, b in itertools.combinations(range(first, last + 1), 2)
    }
    assert not joined & found.apart
    pairs = {frozenset(pair) for pair in found.pairs}
    neighbours = {frozenset(pair) for pair in zip(found.names, found.names[1:])}
    assert joined >= neighbours - found.apart
    if not unequal:  # equally many seeds: the gap of means alone decides, so every level pair has its bar
        assert joined == pairs - found.apart


def test_bars_side_by_side_do_not_meet():
    groups = [(0, 3), (1, 5), (4, 6), (5, 9), (7, 8)]
    found = list(zip(groups, diagram.lanes(groups)))
    for ((first, last), lane), ((other, end), beside) in itertools.combinations(found, 2):
        assert lane != beside or last < other or end < first


def test_single_runs_have_no_place():
    assert Ranking.of({"a": Summary({0: 1.0}), "b": Summary({0: 1.0, 1: 2.0})}).names == ["b"]


def test_a_reversal_is_told_only_beyond_the_noise():
    def of(*means, noise=0.1):
        values = (-noise, 0.0, noise)
        return Ranking.of(
            {name: Summary({s: m + v for s, v in enumerate(values)}) for name, m in zip("abc", means)}
        )

    assert reversed_pairs(of(3, 2, 1), of(1, 2, 3)) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert reversed_pairs(of(3, 2, 1), of(1, 2, 3, noise=10)) == []
    assert reversed_pairs(of(3, 2, 1), of(3, 2, 1)) == []
    assert crossings(["a", "b", "c"], ["c", "a", "d", "b"]) == [("a", "c"), ("b", "c")]


# --- the page -----------------------------------------------------------------------------------------------


def scores(store, method, metric, which):
    """In percent by seed, from the files alone."""
    found = {}
    for path in store.glob("*/record.json"):
        record = json.loads(path.read_text())
        if record["config"]["method"]["name"] == method and which in record["results"]:
            entry = record["results"][which]
            values = [one["metrics"][metric] for one in (entry if isinstance(entry, list) else [entry])]
            found[record["config"]["seed"]] = 100 * statistics.mean(values)
    return [found[seed] for seed in sorted(found)]


@pytest.mark.parametrize(
    ("store", "title"), [("glyphs", "conv4"), ("glyphs_pretrained", "efficientnet_lite0 (imagenet weights)")]
)
def test_every_number_of_the_ranking_is_that_of_the_records(results, page, store, title):
    text = section(page, "The ranking on each network").partition(f"### On {title}\n")[2]
    head, rows = table(text, "method | seeds")
    assert head[2::2] == ["MAP@R best", "MAP@R last", "R@1 best", "R@1 last"]
    assert {row[0] for row in rows} == set(fixture.LEVELS)
    for row in rows:
        assert row[1] == "3"
        for place, column in enumerate(head[2::2]):
            values = scores(results / store, row[0], *column.split())
            mean, spread = statistics.mean(values), statistics.stdev(values)
            low, high = stats.t.interval(0.95, 2, mean, spread / math.sqrt(3))
            assert row[2 + 2 * place].strip("*") == f"{mean:.2f} ± {spread:.2f}"
            assert row[3 + 2 * place] == f"{low:.2f} to {high:.2f}"
    means = [float(row[2].strip("*").split()[0]) for row in rows]
    assert means == sorted(means, reverse=True)


def test_the_sentence_on_the_best_is_that_of_the_numbers(results, page):
    found = sources.read(results).networks[0]
    ranking = Ranking.of(found.scores("best", "MAP@R"))
    text = section(page, "The ranking on each network")
    assert f"**{ranking.best}**" in text
    assert len(ranking.level) == 1
    assert f"1 of the 3 other methods cannot be told apart from it: {ranking.level[0]}." in text
    assert f"Of 6 pairs of methods, {len(ranking.apart)} are told apart." in text


def test_tau_on_the_page_is_that_of_scipy(results, page):
    _, rows = table(
        section(page, "How the order changes with the protocol and the network"), "score | between"
    )
    assert len(rows) == 2 * 6 + 2
    (row,) = (row for row in rows if row[:2] == ["MAP@R", "best and separate on conv4"])
    sides = (
        [statistics.mean(scores(results / "glyphs", method, "MAP@R", which)) for method in fixture.LEVELS]
        for which in ("best", "separate")
    )
    assert row[2:4] == ["4", f"{stats.kendalltau(*sides).statistic:.2f}"]


def test_optimism_is_the_mean_of_the_gaps(results, page):
    head, rows = table(section(page, "How much optimism each protocol adds"), "method | MAP@R best − last")
    assert head[1:] == [
        f"{metric} best − {which}" for metric in ("MAP@R", "R@1") for which in ("last", "joined", "separate")
    ]
    by_seed = []
    for row in rows[:-1]:
        best, other = (
            np.array(scores(results / "glyphs", row[0], "R@1", which)) for which in ("best", "separate")
        )
        gaps = best - other
        by_seed.append(gaps)
        assert row[6].split()[0] == f"{gaps.mean():+.2f}".replace("-", "−")
    means = np.mean(by_seed, axis=0)
    low, high = stats.t.interval(0.95, 2, means.mean(), means.std(ddof=1) / math.sqrt(3))
    assert rows[-1][6] == f"{means.mean():+.2f} ({low:.2f} to {high:.2f})".replace("-", "−")


def test_the_networks_stand_side_by_side(results, page):
    text = section(page, "The networks compared")
    head, rows = table(text, "network | images of")
    assert set(head[2:]) == set(list(fixture.LEVELS)[:3])
    assert [row[0].split()[0] for row in rows] == [backbone["name"] for backbone in fixture.NETWORKS]
    for row in rows:
        for method, cell in zip(head[2:], row[2:]):
            ids = f"{method}-*-{row[0].split()[0]}"
            values = [
                100 * json.loads(path.read_text())["results"]["best"]["metrics"]["MAP@R"]
                for path in (results / "backbones_glyphs").glob(f"{ids}/record.json")
            ]
            assert len(values) == 3
            assert cell == f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}"
    assert "No pair that two networks both tell apart is in opposite order on them." in text


def test_what_stands_in_short_stands_below_too(results, page):
    short, rest = section(page, "In short"), page.partition("## Conditions")[2]
    found = sources.read(results).networks[0]
    leading = found.ranking("best", "MAP@R")
    assert (
        f"On conv4 **{leading.best}** has the highest mean MAP@R (best); {len(leading.level)} of the 3 other methods"
        in short
    )
    for metric, which in itertools.product(("MAP@R", "R@1"), ("last", "joined", "separate")):
        (gap,) = re.findall(rf"On conv4, on average.*?{metric} best − {which} ([+−].*?\))", short)
        assert f"{metric}, best − {which}: {gap} points on average" in rest


def test_what_was_not_equal_is_named(results, tmp_path):
    shutil.copytree(results / "glyphs", tmp_path / "glyphs")
    fixture.keep(tmp_path / "glyphs", fixture.compared({"dreml": 0.4}, embed_dim=32, seeds=2))
    fixture.keep(
        tmp_path / "glyphs", fixture.compared({"angular": 0.4}, embed_dim=16, ensemble__members=4, seeds=3)
    )
    text = findings.page(sources.read(tmp_path))
    assert "Of 10 conditions, 8 are the same for all 6 methods." in text
    assert "| size of the embedding, of all members together | 64 | dreml: 32 |" in text
    assert "| members of the ensemble | 1 | angular: 4 |" in text
    assert "Methods with fewer than 3 seeds: dreml (2)." in text


def test_trials_are_counted_in_the_searches(page):
    text = section(page, "Tuning")
    assert (
        "4 methods had 3 trials each (`search/tune_glyphs`). All of these trials were judged by validation classes"
        in text
    )
    assert "The trials below have the values that won (4 methods checked)." in text
    assert "The comparison has seeds that no search saw (theirs: 100)." in text
    on_lite0 = text.partition("### For efficientnet_lite0")[2]
    assert re.search(
        r"\. (\w+, ){2}\w+ and \w+ were compared with other values than those that won\.", on_lite0
    )
    _, rows = table(text, "method | trials")
    assert rows[0] == ["margin", "3", "2 complete, 1 pruned", "`optimizer.lr` 0.003", "12.00"]


def test_a_search_of_another_length_is_named(results, tmp_path):
    for name in ("glyphs", "search/tune_glyphs"):
        shutil.copytree(results / name, tmp_path / name)
    shutil.rmtree(tmp_path / "search" / "tune_glyphs" / "margin")
    fixture.search(tmp_path / "search" / "tune_glyphs", "margin", (0.001, 0.003, 0.01, 0.1))
    shutil.rmtree(tmp_path / "search" / "tune_glyphs" / "triplet")
    text = findings.page(sources.read(tmp_path))
    assert "2 methods had 3 trials each (`search/tune_glyphs`). Others had more or fewer: margin (4)." in text
    assert "There is no search for triplet." in text


def test_rho_is_that_of_the_last_epoch(results, page):
    """It is measured there alone; the best epoch may be another."""
    found = sources.read(results).networks[0]
    for cell in found.cells:
        for record in cell.records:
            record.results["best"].pop("training")
    text = findings.prediction.section(sources.Sources([found], [], {}, [])).blocks
    (about,) = (
        block
        for block in text
        if "rho_spectrum@2 of training images" in block and "![" not in block and "|" not in block
    )
    assert about in page


def test_images_and_hours_of_all_stores_are_counted(results, page):
    records = [json.loads(path.read_text()) for path in results.rglob("record.json")]
    hours = sum(entry.get("processor_seconds", 0) for one in records for entry in one["epochs"]) / 3600
    text = section(page, "What it cost")
    assert f"{len(records):,} trials in all" in text and f"{hours:.1f} hours of processor time" in text
    _, rows = table(text, "store | trials")
    assert sum(int(row[1]) for row in rows) == len(records)


def test_every_figure_is_on_the_page(content, page):
    assert set(re.findall(r"\]\((findings[\w-]*\.svg)\)", page)) == set(content) - {findings.PAGE}
    assert all(data.startswith(b"<?xml") for name, data in content.items() if name != findings.PAGE)


def test_the_same_records_give_the_same_files(results, content, page):
    assert findings.page(sources.read(results)) == page
    drawn = findings.ranking_by_network.section(sources.read(results)).figures
    assert drawn["findings-glyphs-map-r.svg"]() == content["findings-glyphs-map-r.svg"]


STORES = (
    "glyphs",
    "glyphs_pretrained",
    "backbones_glyphs",
    "search/tune_glyphs",
    "search/tune_glyphs_pretrained",
)


@pytest.mark.parametrize("kept", [(), *((store,) for store in STORES), STORES[1:]], ids=str)
def test_what_is_missing_is_said(results, tmp_path, kept):
    for store in kept:
        (tmp_path / store).parent.mkdir(exist_ok=True)
        (tmp_path / store).symlink_to(results / store)
    text = findings.page(sources.read(tmp_path))
    assert text.count("\n## ") == 13
    for store in STORES:
        if store not in kept:
            assert f"`{store}`" in section(text, "What glyphs cannot tell about photographs")
    if "glyphs" not in kept and "glyphs_pretrained" not in kept:
        assert "There are no records of methods compared under equal conditions yet." in text
    if "backbones_glyphs" not in kept:
        assert "There are no records of the same methods on several networks yet." in text


def test_few_records_are_enough(tmp_path):
    fixture.keep(tmp_path / "glyphs", [fixture.record("margin", 0, 0.4)])
    text = findings.page(sources.read(tmp_path))
    assert "Fewer than two methods have several seeds, so nothing can be told apart yet." in text
    fixture.keep(tmp_path / "glyphs", [fixture.record("npairs", seed, 0.3) for seed in range(2)])
    fixture.keep(tmp_path / "glyphs", [fixture.record("margin", 1, 0.4)])
    text = findings.page(sources.read(tmp_path))
    assert "Of 1 pair of methods" in text


def test_a_wrong_folder_is_told_in_one_line(tmp_path):
    for words in (["nowhere", str(tmp_path)], []):
        command = [sys.executable, "-m", "dmlplayground.reports.findings", *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 2
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1


# --- the published tables -----------------------------------------------------------------------------------


def test_the_studies_tables_are_compared_where_they_overlap():
    found = {
        (one.data, *(side.split(",")[0] for side in one.sides)): one for one in agreement.between_studies()
    }
    one = found["cars196", "fehervari2019", "musgrave2020"]
    assert one.methods == ["margin", "proxy_nca", "proxy_softmax"]
    assert one.values == ([70.38, 71.9, 76.98], [81.16, 83.56, 83.16])  # margin per class is lower: 80.04
    assert one.tau == pytest.approx(1 / 3)
    other = found["sop", "fehervari2019", "roth2020"]
    assert other.values == ([61.24, 67.63, 68.97, 74.3], [75.86, 78.43, 73.22, 76.92])
    assert "batch_size" in other.differing and "protocol paper / per_metric" in other.differing


# --- what is kept -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_page_is_up_to_date():
    made = findings.page(sources.read(KEPT))
    assert (ROOT / "docs" / findings.PAGE).read_text(encoding="utf-8") == made
    for name in re.findall(r"\]\((findings[\w-]*\.svg)\)", made):
        assert (ROOT / "docs" / name).read_bytes()[:5] == b"<?xml", name
