"""The README: its table and figure are those of the records kept beside it, and it is a front page."""

import gzip
import importlib.util
import json
import re
import statistics
from collections import defaultdict
from pathlib import Path

import pytest
import reports_fixture as fixture
from docs_fixture import blocks

from dmlplayground import reports
from dmlplayground.reports import optimism
from dmlplayground.reports.grouping import arenas
from dmlplayground.studies import published
from dmlplayground.sweeps import grid
from dmlplayground.trial.store import records

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
KEPT = sorted((ROOT / "experiments" / "results" / "quickstart").glob("*/record.json"))


@pytest.fixture(scope="module")
def update():
    spec = importlib.util.spec_from_file_location("update", ROOT / "experiments" / "results" / "update.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- results ------------------------------------------------------------------------------------------------


def every_record():
    packed = ROOT / "experiments" / "results" / "quickstart" / "records.jsonl.gz"
    if packed.exists():
        return [json.loads(line) for line in gzip.decompress(packed.read_bytes()).splitlines()]
    return [json.loads(path.read_text(encoding="utf-8")) for path in KEPT]


def kept_values(which, metric):
    """method -> percent of each seed, read without any of the package."""
    values = defaultdict(list)
    for record in every_record():
        values[record["config"]["method"]["name"]].append(100 * record["results"][which]["metrics"][metric])
    return values


def readme_rows():
    """method -> heading -> cell"""
    table = README[README.index("\n| method |") :].splitlines()[1:]
    heads, _, *rows = [
        [one.strip(" *") for one in line.strip("|").split("|")] for line in table if line[:1] == "|"
    ]
    return {cells[0]: dict(zip(heads, cells)) for cells in rows if len(cells) == len(heads)}


def test_the_table_and_the_figure_are_of_every_method():
    chosen = {trial.method["name"] for trial in grid.load("quickstart")[0].trials()}
    assert set(readme_rows()) == {"untrained", *chosen}
    assert set(kept_values("best", "R@1")) == chosen


@pytest.mark.parametrize(("which", "metric"), [("best", "R@1"), ("last", "R@1"), ("last", "NMI")])
def test_the_table_holds_the_means_and_spreads_of_the_records(which, metric):
    rows = readme_rows()
    for method, values in kept_values(which, metric).items():
        expected = f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}"
        assert rows[method][f"{metric} {which}"] == expected and rows[method]["seeds"] == str(len(values))


def test_the_table_is_written_by_its_command(update, monkeypatch):
    monkeypatch.setattr(
        published, "quotes", lambda: ()
    )  # of a study that somebody adds, for these characters
    assert update.with_table(README, records.load_store(update.KEPT)) == README


def test_the_figure_holds_the_numbers_of_the_records(update):
    found = records.load_store(update.KEPT)
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", update.FIGURE.read_text(encoding="utf-8"))
    for method, values in kept_values("best", "R@1").items():
        assert method in texts and f"{statistics.mean(values):.1f}" in texts
    drawn = re.findall(r"<text[^>]*>([^<]+)</text>", update.figure(found).decode())
    assert drawn == texts


def test_what_is_kept_tells_nothing_of_where_it_was_made():
    def strings(content):
        if isinstance(content, dict):
            content = [*content, *content.values()]
        if isinstance(content, list):
            return [text for one in content for text in strings(one)]
        return [content] if isinstance(content, str) else []

    for record in every_record():
        assert record["machine"]["system"].isalpha()
        assert not [text for text in strings(record) if re.search(r"(^|[\s'\"=])(/|~|[A-Z]:\\)\w", text)]


def test_the_reports_of_kept_records_are_those_of_the_whole_ones(update, tmp_path, monkeypatch):
    monkeypatch.setattr(reports.figure_files, "draw", lambda figure, _: {".svg": b"<svg></svg>"})
    for seed in range(2):
        for method in ("margin", "npairs"):
            record = fixture.record(method, seed)
            record.machine["system"] = "Linux-6.1.0-of-somebody-x86_64"
            record.save(tmp_path / "whole" / "store" / record.id)
    update.keep(tmp_path / "whole" / "store", tmp_path / "kept" / "store")
    pages = []
    for side in ("whole", "kept"):
        monkeypatch.chdir(tmp_path / side)
        pages.append(reports.report("store").read_text())
    assert "of-somebody" in pages[0] and "of-somebody" not in pages[1]
    assert pages[0].replace("Linux-6.1.0-of-somebody-x86_64", "Linux") == pages[1]


def test_a_store_with_failures_is_not_kept(update, tmp_path):
    record = fixture.record("margin", 0, status="failed")
    record.save(tmp_path / "a" / record.id)
    with pytest.raises(SystemExit, match=f"{record.id}: not finished"):
        update.keep(tmp_path / "a", tmp_path / "kept")


# --- both protocols -----------------------------------------------------------------------------------------


def test_the_grid_of_both_protocols_gives_pairs_that_the_report_compares(tmp_path):
    text = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    (block,) = [
        block for block in re.findall(r"```yaml\n(.*?)```", text, re.S) if "protocol: [paper, " in block
    ]
    (tmp_path / "both.yaml").write_text(block)
    trials = grid.load(tmp_path / "both.yaml")[0].trials()
    assert len(trials) == 3 * 2 * 3
    found = arenas(finished(trial) for trial in trials)
    assert [arena.title for arena in found] == ["glyphs, paper protocol", "glyphs, validated protocol"]
    assert all(one.validated.n == one.reported.n == 3 for one in optimism.of_arena(found[0], found))


def test_the_other_half_of_an_experiment_pairs_with_the_first():
    experiment, _ = grid.load("quickstart")
    trials = [*experiment.trials(), *experiment.trials(overrides=["protocol=validated"])]
    found = arenas(finished(trial) for trial in trials)
    pairs = optimism.of_arena(found[0], found)
    chosen = {trial.method["name"] for trial in trials}
    assert len(pairs) == len(chosen) and all(one.validated for one in pairs)


def finished(trial):
    """A record of this trial with numbers of the fixture's."""
    record = fixture.record(trial.method["name"], trial.seed, protocol__name=trial.protocol["name"])
    record.config = trial.mapping()
    return record


# --- commands -----------------------------------------------------------------------------------------------


def test_the_first_two_blocks_are_the_two_commands():
    first, second = blocks("sh", README)[:2]
    assert first == "sh experiments/quickstart.sh\n" and second == "sh tests/run.sh\n"


def test_it_is_a_front_page():
    assert len(README.splitlines()) <= 150
