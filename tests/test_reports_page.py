"""The page: whole in one file, small, safe against what records say; where there is a browser, seen in it."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import asdict

import numpy as np
import pytest
import reports_fixture as fixture

from dmlplayground import reports
from dmlplayground.cli import run_summary
from dmlplayground.parts.data import Dataset
from dmlplayground.reports import embedding_pictures, trial_details
from dmlplayground.reports.embedding_pictures import Picture
from dmlplayground.trial.store import manifest, packed, snapshots

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--virtual-time-budget=3000",
)  # fmt: skip
browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)")


@pytest.fixture(scope="module", autouse=True)
def figures_once():
    """Not as PNG too, which takes its time and is not in the page."""
    draw = reports.figure_files.draw
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reports.figure_files, "draw", lambda figure, suffixes: draw(figure, [".svg"]))
        yield


@pytest.fixture(scope="module")
def pictured():
    """A data set to take samples of."""
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(20, dtype=np.int32), 20)
    images = random.integers(
        0, 256, (len(labels), 40, 40, 3), np.uint8
    )  # noise: nothing takes more room as JPEG
    return Dataset("made", "test", images, labels, tuple(f"class {i}" for i in range(20)))


def keep_samples(store, records, dataset):
    for record in records:
        if record.status == "finished":
            embeddings = np.random.default_rng(record.seed).normal(size=(len(dataset), 8))
            snapshots.save(store / record.id, record.id, snapshots.collect(embeddings, dataset))


@pytest.fixture(scope="module")
def page(tmp_path_factory, pictured):
    store = tmp_path_factory.mktemp("store")
    records = fixture.grid()
    keep_samples(store, records, pictured)
    return reports.write(store, records, title="A grid", about="Numbers by hand.")


def data_of(page):
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def test_it_needs_nothing_else(page):
    text = page.read_text(encoding="utf-8")
    outside = re.findall(r"""(?:src|href)=["']?(?!#)([^"'\s>]+)|@import|url\((?!data:|#|var)""", text)
    assert not outside
    assert "http://www.w3.org/2000/svg" in text and len(re.findall(r"https?://", text)) == 1


def test_the_first_screen_answers(page):
    text = page.read_text(encoding="utf-8")
    for question in (
        "Best method",
        "Is the lead more than noise?",
        "How does it compare with published numbers?",
        "What did it cost?",
    ):
        assert question in text
    assert "No: level with margin" in text
    assert "Of 32 trials, 3 have no result: 3 failed." in text


def test_every_trial_can_be_opened_with_its_configuration_curves_and_rerun(page):
    data = data_of(page)
    trials = {trial["id"]: (cell, trial) for cell in data["cells"] for trial in cell["trials"]}
    assert set(trials) == {record.id for record in fixture.grid()}
    cell, trial = trials["margin-glyphs-s2"]
    assert cell["config"]["method.name"] == "margin" and cell["config"]["optimizer.lr"] == 0.0001
    assert {"R@1", "NMI", "loss", "gradient_norm", "active_share"} <= set(trial["curves"])
    assert len(trial["curves"]["R@1"]["fold 0"]) == 9 and len(trial["curves"]["loss"]["fold 0"]) == 8
    assert trials["ranked_list-glyphs-s0"][1]["traceback"].startswith("Traceback")
    assert set(trials["margin-glyphs-validated-s0"][1]["curves"]["R@1"]) == {f"fold {i}" for i in range(4)}


def test_numbers_hold_their_seeds_on_hover(page):
    text = page.read_text(encoding="utf-8")
    values = [
        100 * r.results["best"]["metrics"]["R@1"]
        for r in fixture.grid()
        if r.id.startswith("npairs-glyphs-s")
    ]
    assert f"seed 0: {values[0]:.2f}, seed 1: {values[1]:.2f}" in text


def test_pictures_are_of_every_methods_best_setting(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("data:image/jpeg;base64,") == 6 + 2  # the methods with a result, of both protocols
    assert text.count('class="chart map"') == 6 + 2


def test_a_map_by_tsne_stands_beside_the_other(pictured):
    content = snapshots.collect(np.random.default_rng(0).normal(size=(len(pictured), 8)), pictured)
    (components,) = embedding_pictures.maps(Picture("npairs", 0, content))
    both = [*embedding_pictures.maps(Picture("npairs", 0, {**content, "tsne": content["map"][::-1]}))]
    assert both[0] == components and "t-SNE" in both[1]
    circles = [re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', one) for one in both]
    assert len(circles[0]) == len(circles[1]) == len(content["map"]) and circles[0] != circles[1]


def test_hostile_records_stay_text(tmp_path):
    evil = '</script><script>alert("x")</script><img src=x>'
    record = fixture.record("margin", 0, status="failed")
    record.error = f"Error: {evil}"
    record.config["method"]["name"] = evil
    text = reports.write(tmp_path, [record], title=evil, about=evil).read_text()
    assert "<img" not in text and "<script>alert" not in text


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "epochs"), [("paper", 25), ("validated", 20)])
def test_a_grid_of_three_hundred_trials_stays_small(tmp_path, pictured, protocol, epochs):
    methods = [f"method_{i}" for i in range(12)]
    sizes, seeds = (32, 64, 128, 256, 512), range(5)
    records = [
        fixture.record(m, s, 0.4, embed_dim=e, epochs=epochs, protocol__name=protocol)
        for m in methods
        for e in sizes
        for s in seeds
    ]
    assert len(records) == 300
    shown = snapshots.collect(np.random.default_rng(0).normal(size=(len(pictured), 8)), pictured)
    for record in records:  # whichever seed is shown, it has pictures
        snapshots.save(tmp_path / record.id, record.id, shown)
    page = reports.write(tmp_path, records)
    assert page.stat().st_size < 5e6
    assert page.read_text().count("data:image/jpeg;base64,") == 12


def test_curves_of_too_many_points_are_thinned_and_end_where_they_ended(tmp_path, monkeypatch):
    records = [fixture.record("margin", seed) for seed in range(2)]
    whole = data_of(reports.write(tmp_path, records))
    monkeypatch.setattr(trial_details, "POINTS", 50)
    thinned = data_of(reports.write(tmp_path, records))
    assert whole["step"] == 1 and thinned["step"] > 1
    (before,), (after,) = (
        [cell["trials"][0]["curves"]["R@1"]["fold 0"] for cell in data["cells"]] for data in (whole, thinned)
    )
    assert after == [*before[: -1 : thinned["step"]], before[-1]]
    assert size_of(thinned) <= 50 + 2 * len(curves_of(thinned)) and size_of(thinned) < size_of(whole)


def curves_of(data):
    trials = [trial for cell in data["cells"] for trial in cell["trials"]]
    return [points for trial in trials for folds in trial["curves"].values() for points in folds.values()]


def size_of(data):
    return sum(map(len, curves_of(data)))


def test_pictures_beyond_the_budget_are_left_out_and_named(page, monkeypatch, tmp_path, pictured):
    monkeypatch.setattr(embedding_pictures, "BUDGET", 100_000)
    records = [fixture.record(method, 0) for method in ("margin", "npairs", "angular")]
    keep_samples(tmp_path, records, pictured)
    text = reports.write(tmp_path, records).read_text()
    assert text.count("data:image/jpeg;base64,") < 3
    assert re.search(r"Pictures of .*(margin|npairs|angular).* are left out", text)


# --- in a browser -------------------------------------------------------------------------------------------


def chromium(tmp_path, *arguments):
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    done = subprocess.run(
        [CHROMIUM, *FLAGS, profile, *arguments], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


PROBE = """<iframe id=f style="border:0;width:{width}px;height:900px" src="page.html{hash}"></iframe>
<pre id=out></pre>
<script>
const errors = [];
f.contentWindow.addEventListener("error", (event) => errors.push(event.message));
f.addEventListener("load", () => setTimeout(() => {{
  const inside = f.contentDocument;
  const measure = {measure};
  const value = measure(inside, f.contentWindow);
  out.textContent = JSON.stringify({{ errors, width: inside.documentElement.scrollWidth, value }});
}}, 300));
</script>"""


def probe(page, tmp_path, measure, width=1280, address=""):
    """What the page says of itself at this width, by a script that looks into it through a frame."""
    shutil.copy(page, tmp_path / "page.html")
    (tmp_path / "probe.html").write_text(PROBE.format(width=width, measure=measure, hash=address))
    dom = chromium(tmp_path, "--allow-file-access-from-files", "--dump-dom", f"file://{tmp_path}/probe.html")
    found = json.loads(re.search(r'<pre id="out">(.*?)</pre>', dom, re.S)[1])
    assert found["errors"] == []
    return found


@browser
@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 800, 1400])
def test_it_fits_every_width_and_draws_every_figure(page, tmp_path, width):
    measure = """(d) => ({
      blank: [...d.querySelectorAll(".chart")]
        .filter((chart) => chart.offsetParent && !chart.querySelector("svg")).length,
      cut: [...d.querySelectorAll(".ranking")]
        .filter((table) => table.scrollWidth > table.parentElement.clientWidth).map((table) => table.id),
    })"""
    found = probe(page, tmp_path, measure, width)
    assert found["width"] <= width  # nothing sticks out sideways
    assert found["value"]["blank"] == 0
    assert not [table for table in found["value"]["cut"] if width < 640 or table.startswith("leaderboard")]


@browser
@pytest.mark.slow
def test_bars_are_as_long_as_their_numbers(page, tmp_path):
    measure = """(d) => [...d.querySelector(".chart.bars").querySelectorAll("use[data-tip]")]
      .map((end) => [Number(end.getAttribute("x")), Number(end.dataset.tip.match(/: ([\\d.]+)/)[1])])"""
    ends = probe(page, tmp_path, measure)["value"]
    (x0, first), *others = ends
    slopes = [(x - x0) / (value - first) for x, value in others]
    assert len(ends) == 6 and min(slopes) == pytest.approx(max(slopes), rel=0.02)


@browser
@pytest.mark.slow
def test_what_stands_at_a_point_is_said(page, tmp_path):
    measure = """(d, w) => {
      const chart = d.querySelectorAll(".chart.lines")[0], mark = chart.querySelector(".points-2 use");
      const box = mark.getBoundingClientRect();
      const at = { bubbles: true, clientX: box.x + box.width / 2 + 1, clientY: box.y + box.height / 2 + 1 };
      chart.querySelector("text").dispatchEvent(new w.MouseEvent("mousemove", at));
      const tip = d.getElementById("tip");
      return [tip.hidden, tip.textContent, chart.querySelectorAll(".faded").length, d.querySelectorAll(".chart title").length];
    }"""
    hidden, said, faded, titles = probe(page, tmp_path, measure)["value"]
    assert not hidden and said.startswith("epoch 0\n") and "5 seeds" in said
    assert faded >= 5 and titles == 0


@browser
@pytest.mark.slow
def test_tables_sort_by_value_and_keep_the_baseline_first(page, tmp_path):
    measure = """(d) => {
      const table = d.querySelector("table.ranking"), heads = [...table.tHead.rows[0].cells];
      const time = heads.findIndex((head) => head.textContent === "time");
      heads[time].querySelector("button").click();
      return [...table.tBodies[0].rows].map((row) => [row.cells[0].textContent, row.cells[time].dataset.key]);
    }"""
    rows = probe(page, tmp_path, measure)["value"]
    assert rows[0][0] == "untrained"
    times = [float(key) for _, key in rows[1:] if key]
    assert times == sorted(times, reverse=True) and len(times) == 6
    assert rows[-1][1] == ""  # without a result: at the end


@browser
@pytest.mark.slow
def test_a_trial_opens_by_its_address_and_by_a_click(page, tmp_path):
    by_address = probe(
        page, tmp_path, "(d) => d.querySelector('dialog').innerText", address="#margin-glyphs-s1"
    )["value"]
    assert (
        "seed 1" in by_address
        and "dmlplayground train" in by_address
        and "optimizer.lr" not in by_address.split("all ")[0]
    )
    clicked = "(d, w) => { d.querySelector('[data-cell]').click(); return w.location.hash; }"
    assert probe(page, tmp_path, clicked)["value"] == "#npairs-glyphs-s0"


@browser
@pytest.mark.slow
def test_the_filter_narrows_the_list_of_trials(page, tmp_path):
    measure = """(d) => {
      const field = d.getElementById("filter");
      field.value = "ranked failed";
      field.dispatchEvent(new Event("input"));
      return [...d.querySelectorAll("#trials tbody tr")].filter((row) => !row.hidden).length;
    }"""
    assert probe(page, tmp_path, measure)["value"] == 2


@browser
@pytest.mark.slow
def test_it_prints(page, tmp_path):
    target = tmp_path / "page.pdf"
    chromium(tmp_path, f"--print-to-pdf={target}", "--no-pdf-header-footer", f"file://{page}")
    content = target.read_bytes()
    assert (
        content.startswith(b"%PDF")
        and 2 <= content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") <= 12
    )


MADE_NEWER = {
    "nothing": lambda store, record: None,
    "a record": lambda store, record: record.save(store / record.id),
    "packed records": lambda store, record: packed.write(store, [asdict(fixture.record(seed=1))]),
    "the manifest": lambda store, record: manifest.write(store, "Small", "", "", {record.id: record.config}),
}


@pytest.mark.parametrize("newer", MADE_NEWER)
def test_a_finished_sweep_makes_its_report_anew_only_if_something_is_newer(tmp_path, newer, capsys):
    record = fixture.record()
    record.save(tmp_path / record.id)
    run_summary.report(tmp_path, anew=False)  # there is none yet
    page = tmp_path / "report" / "index.html"
    for path, when in ((tmp_path / record.id / "record.json", 1000), (page, 2000)):
        os.utime(path, (when, when))
    capsys.readouterr()
    MADE_NEWER[newer](tmp_path, record)
    run_summary.report(tmp_path, anew=False)
    said, made_anew = capsys.readouterr().out, page.stat().st_mtime > 2000
    assert made_anew == ("made when" not in said) == ("Leaderboard" in said) == (newer != "nothing")
