"""The README: its table and figure are those of the records kept beside it, and what it shows of code runs."""

import importlib.util
import json
import re
import shlex
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
import reports_fixture as fixture

import dmlplayground as dml
from dmlplayground import cli, config, reports
from dmlplayground.errors import UserError
from dmlplayground.reports import optimism, tables
from dmlplayground.reports.cells import arenas
from dmlplayground.store import records
from dmlplayground.sweeps import grid

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
KEPT = sorted((ROOT / "experiments" / "results" / "quickstart").glob("*/record.json"))


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.S | re.M)


@pytest.fixture(scope="module")
def update():
    spec = importlib.util.spec_from_file_location("update", ROOT / "experiments" / "results" / "update.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- results ------------------------------------------------------------------------------------------------


def kept_values(which, metric):
    """method -> percent of each seed, read without any of the package."""
    values = defaultdict(list)
    for path in KEPT:
        record = json.loads(path.read_text(encoding="utf-8"))
        values[record["config"]["method"]["name"]].append(100 * record["results"][which]["metrics"][metric])
    return values


def readme_rows():
    lines = [line for line in README.splitlines() if line.startswith("| ") and "±" in line]
    return {
        cells[0]: cells[1:]
        for cells in ([one.strip(" *") for one in line.strip("|").split("|")] for line in lines)
    }


def test_the_table_and_the_figure_are_of_every_method():
    chosen = {trial.method["name"] for trial in grid.load("quickstart")[0].trials()}
    assert set(readme_rows()) == {"untrained", *chosen}
    assert set(kept_values("best", "R@1")) == chosen


@pytest.mark.parametrize(
    ("column", "which", "metric"), [(3, "best", "R@1"), (4, "last", "R@1"), (6, "last", "NMI")]
)
def test_the_table_holds_the_means_and_spreads_of_the_records(column, which, metric):
    rows = readme_rows()
    for method, values in kept_values(which, metric).items():
        expected = f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}"
        assert rows[method][column] == expected and rows[method][2] == str(len(values))


def test_the_table_is_written_by_its_command(update):
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

    for path in KEPT:
        record = json.loads(path.read_text(encoding="utf-8"))
        assert record["machine"]["system"].isalpha()
        assert not [text for text in strings(record) if re.search(r"(^|[\s'\"=])(/|~|[A-Z]:\\)\w", text)]


def test_the_reports_of_kept_records_are_those_of_the_whole_ones(update, tmp_path, monkeypatch):
    monkeypatch.setattr(reports.drawing, "draw", lambda figure: {})
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
    fixture.record("margin", 0, status="failed").save(tmp_path / "a" / "b")
    with pytest.raises(SystemExit, match="nothing finished"):
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
    assert all(one.separate.n == one.best.n == 3 for one in optimism.of_arena(found[0], found))


def test_the_other_half_of_an_experiment_pairs_with_the_first():
    experiment, _ = grid.load("quickstart")
    trials = [*experiment.trials(), *experiment.trials(overrides=["protocol=validated"])]
    found = arenas(finished(trial) for trial in trials)
    pairs = optimism.of_arena(found[0], found)
    chosen = {trial.method["name"] for trial in trials}
    assert len(pairs) == len(chosen) and all(one.separate for one in pairs)


def finished(trial):
    """A record of this trial with numbers of the fixture's."""
    record = fixture.record(trial.method["name"], trial.seed, protocol__name=trial.protocol["name"])
    record.config = trial.mapping()
    return record


# --- commands and code --------------------------------------------------------------------------------------


def commands():
    """Every command line of the page: in blocks, and in text."""
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    lines += re.findall(r"`(dmlplayground [^`]+)`", README.replace("\n", " "))
    return sorted({line for line in lines if line.startswith("dmlplayground ")})


@pytest.mark.parametrize("line", commands())
def test_every_command_is_one(line):
    words = shlex.split(line, comments=True)[1:]
    arguments = cli._parser(cli._commands()).parse_args(cli._completed(words, cli._commands()))
    if words[0] == "sweep":
        experiment, _ = grid.load(arguments.file)
        trials = len(experiment.trials(arguments.where, arguments.set))
        named = re.search(rf"`{re.escape(line)}` \| (\d+)", README)
        assert named is None or int(named[1]) == trials


def options():
    return re.findall(r"\(`([\w.]+=\w+)`", README)


@pytest.mark.parametrize("option", options())
def test_every_option_for_what_the_released_code_did_is_one(option):
    def accepted(method):
        try:
            data = "sop" if option.startswith("data.") else "glyphs"
            return config.trial({"method": method, "data": data}, [option])
        except UserError:
            return None

    assert any(map(accepted, dml.methods.names())) and len(options()) == 6


def test_the_first_two_blocks_are_the_two_commands():
    first, second = blocks("sh")[:2]
    assert "experiments/quickstart.sh" in first and "tests/run.sh" in second


def test_the_names_for_python_do_what_the_page_says(monkeypatch):
    (block,) = [block for block in blocks("python") if block.startswith("import dmlplayground")]
    monkeypatch.setattr(
        dml, "train", config.trial
    )  # reads the configuration as training would, and stops there
    monkeypatch.setattr(dml, "sweep", lambda path, workers: grid.load(ROOT / path)[0].trials())
    names: dict = {}
    exec(block, names)
    assert names["value"].shape == (1,) and {"R@1", "R@8", "NMI"} <= set(names["scores"])
    assert names["record"].embed_dim == 64 and len(names["records"]) == len(KEPT)


USE_THEM = """
import sys
import dmlplayground as dml, dmlplayground.backbones.zoo, dmlplayground.data.sets, dmlplayground.methods
for package in (dml.methods, dml.data.sets, dml.backbones.zoo):
    package.__path__.append(sys.argv[1] + "/" + package.__name__.replace(".", "/"))
words = sys.argv[2].split()
from dmlplayground import cli
sys.exit(cli.main([*words[1:], "--quiet", "--store", sys.argv[1] + "/runs", "--set", "epochs=3"]))
"""


def test_a_method_a_data_set_and_a_backbone_are_a_file_each(tmp_path):
    added = [block for block in blocks("python") if block.startswith("# dmlplayground/")]
    for block in added:
        path = tmp_path / block.split("\n")[0].removeprefix("# ")
        path.parent.mkdir(parents=True)
        path.write_text(block)
    assert len(added) == 3
    (line,) = [line for line in commands() if line.startswith("dmlplayground train stand_out")]
    done = subprocess.run(
        [sys.executable, "-c", USE_THEM, str(tmp_path), line], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = records.load_store(tmp_path / "runs")
    assert record.status == "finished"
    for metric in ("R@1", "MAP@R"):  # it learns something that holds for classes it has not seen
        before, after = (record.results[which]["metrics"][metric] for which in ("untrained", "last"))
        assert after > before + 0.02, (metric, before, after)
    assert record.data["test"].startswith("stripes (test): 600 images of 40 classes")
    table = tables.markdown(reports.leaderboard([record])[0])
    assert "stand_out" in table and "stripes, paper protocol" in table
