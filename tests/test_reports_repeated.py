"""Reports of stores with repeated searches and divisions: which trials are repetitions, and what is shown of them."""

import re
from fractions import Fraction

import arena_fixture as fixture
import pytest
import reports_fixture

from dmlplayground import reports
from dmlplayground.base.errors import UserError
from dmlplayground.reports import repeated, rungs
from dmlplayground.reports.grouping import arenas
from dmlplayground.reports.tables import text

LEVELS = {"margin": 70, "npairs": 60, "triplet": 45}


def only(records):
    (found,) = repeated.of_arenas(arenas(records))
    return found


def test_divisions_and_searches_of_a_method_are_one_row():
    found = only(fixture.finals(LEVELS))
    assert list(found.runs) == list(LEVELS)
    assert found.title == "frozen, paper protocol"
    compared = found.compared()
    assert (len(compared.divisions), compared.searches, compared.seeds) == (3, 2, 2)
    assert found.results[-2:] == ["best", "last"]


def test_division_is_any_option_of_that_name_or_a_seed_of_the_data():
    assert repeated.division({"name": "frozen", "of": {"name": "grocery", "division": 2}}) == (2,)
    assert repeated.division({"name": "glyphs", "seed": 1}) == (1,)
    assert repeated.division({"name": "sop", "division": "official"}) == ()
    assert repeated.undivided({"name": "x", "division": 3, "of": {"seed": 1, "size": 2}}) == {
        "name": "x",
        "of": {"size": 2},
    }


def test_untouched_features_have_a_row_above_the_head():
    records = fixture.finals(LEVELS)
    for record in records:
        record.results["untouched"] = {"metrics": {"R@1": 0.62}, "measured_on": "test"}
    rows = repeated.scores(only(records)).rows
    assert [row.values[0] for row in rows[:2]] == ["untouched features", "untrained head"]
    assert rows[0].values[1].value == pytest.approx(62.0)


def test_without_repetitions_a_report_is_as_before():
    assert repeated.of_arenas(arenas(reports_fixture.grid())) == []


def test_two_settings_of_one_search_are_two_rows():
    records = fixture.finals(LEVELS)
    for one in fixture.finals({"margin": 50}, seed=1):
        one.config["embed_dim"] = 32
        one.id += "-small"
        records.append(one)
    assert set(only(records).runs) == {"margin, 64", "npairs", "triplet", "margin, 32"}
    for one in records:
        one.config["embed_dim"] = 64
        one.config["head"]["bias"] = not one.id.endswith("-small")
    assert {name.partition(",")[0] for name in only(records).runs} == set(LEVELS)
    assert len(only(records).runs) == 4 or len([name for name in only(records).runs if "margin" in name]) > 1


def test_the_table_has_the_means_and_what_was_compared():
    found = only(fixture.finals(LEVELS, noise="seeds"))
    table = repeated.scores(found)
    assert [row.values[0] for row in table.rows] == ["untrained", *LEVELS]
    assert [column.name for column in table.columns[1:-3]] == [f"R@1 {which}" for which in found.results]
    compared = found.compared()
    for row in table.rows[1:]:
        low, high = compared.interval(row.values[0])
        value = row.values[1]
        assert (value.value, value.half) == pytest.approx((compared.mean(row.values[0]), (high - low) / 2))
    assert [bool(row.bold) for row in table.rows] == [False, True, False, False]
    assert table.rows[2].values[-3] > 0.9 and table.rows[2].values[-1] in ("0.001", "< 0.001")
    assert text(table.rows[0].values[1]) == "40.00 ± 0.00"


def test_equal_methods_are_all_bold():
    found = only(fixture.finals(dict.fromkeys(LEVELS, 60.0), noise="searches", seed=3))
    assert sum(bool(row.bold) for row in repeated.scores(found).rows) == 3


def test_the_noise_is_that_of_the_comparison():
    found = only(fixture.finals(LEVELS, noise="searches"))
    together = found.compared().components()
    table = repeated.noise(found)
    assert table.columns[0].name == "method" and len(table.rows) == 4
    last = table.rows[-1].values
    assert last[0] == "all together" and last[5].startswith(f"{together['search'].value:.2f} (")
    assert sum(int(share.rstrip("%")) for share in last[2::2]) == pytest.approx(100, abs=2)


def test_chances_of_pairs_add_up_to_one():
    rows = repeated.wins(only(fixture.finals(LEVELS))).rows
    for i in range(3):
        assert rows[i].values[1 + i] is None
        for j in range(i):
            assert rows[i].values[1 + j] + rows[j].values[1 + i] == pytest.approx(1)


def test_what_is_incomplete_is_named():
    records = [one for one in fixture.finals(LEVELS) if one.id not in ("npairs-d1-r2-s0", "npairs-d1-r2-s1")]
    notes = repeated.scores(only(records)).notes
    assert "Not complete, so not in this table: npairs." in notes


def test_networks_that_were_not_trained_have_rows_of_their_own():
    records = fixture.finals(LEVELS)
    for one in fixture.finals({"margin": 52}, noise="seeds", searches=1, seeds=1):
        one.config.update(epochs=0, search=0)
        one.config["head"]["reduction"] = "pca"
        one.id += "-features"
        records.append(one)
    rows = repeated.scores(only(records)).rows
    assert [row.values[0] for row in rows[:3]] == ["untrained", "no training, pca head", "margin"]
    assert text(rows[1].values[1]).startswith("5") and rows[1].kind == "baseline"


def test_optimism_is_the_gap_of_the_same_training():
    found = only(fixture.finals(LEVELS, fall=3.0)).gained("best", "last")
    assert [found.mean(name) for name in LEVELS] == pytest.approx([3, 3, 3])


def test_the_page_shows_it(tmp_path):
    fixture.keep(tmp_path, fixture.finals(LEVELS))
    fixture.search(tmp_path / "search", {name: {"1/8": 0.2, "1": 0.3} for name in LEVELS})
    page = reports.report(tmp_path).read_text()
    assert page.index("Over divisions and searches") < page.index("Leaderboard")
    for words in (
        "Where the noise comes from",
        "Which is better next time",
        "Order by length: MAP@R",
        'aria-label="R@1 over divisions and searches"',
    ):
        assert words in page
    written = {path.name for path in (tmp_path / "report").iterdir()}
    assert {"repeated-frozen-paper-protocol.csv", "noise-frozen-paper-protocol.md"} <= written
    assert any(re.fullmatch(r"repeated-.*\.svg", name) for name in written)


# --- length ----------------------------------------------------------------------------------------------------------

SHORT = {"margin": {"1/8": 0.1, "1/3": 0.25, "1": 0.4}, "npairs": {"1/8": 0.2, "1/3": 0.25, "1": 0.3}}
SHORT["triplet"] = {"1/8": 0.3, "1/3": 0.2, "1": 0.2}


def test_the_best_of_every_rung_counts(tmp_path):
    fixture.search(tmp_path, SHORT, 1)
    fixture.search(tmp_path, SHORT, 2)
    found = rungs.read(tmp_path)
    assert found.shares == [Fraction(1, 8), Fraction(1, 3), Fraction(1)]
    assert found.metric == "MAP@R"
    assert found.compared(Fraction(1)).methods == ["margin", "npairs", "triplet"]
    assert found.compared(Fraction(1, 8)).mean("triplet") == pytest.approx(30)
    table = rungs.table(found, "here")
    assert [column.name for column in table.columns] == [
        "method",
        "1/8 of the length",
        "1/3 of the length",
        "the full length",
    ]
    assert table.rows[-1].values == ["tau with the last", -1, pytest.approx(0.816, abs=0.01), 1]


def test_searches_are_averaged(tmp_path):
    fixture.search(tmp_path, SHORT, 1)
    fixture.search(
        tmp_path,
        {"margin": {"1/8": 0.3, "1/3": 0.25, "1": 0.5}, **{key: SHORT[key] for key in ("npairs", "triplet")}},
        2,
    )
    found = rungs.read(tmp_path)
    assert found.scores[Fraction(1)]["margin"] == pytest.approx({1: 40, 2: 50})
    assert found.compared(Fraction(1, 8)).mean("margin") == pytest.approx(20)


def test_the_best_of_a_rung_is_the_lowest_where_lower_is_better(tmp_path):
    fixture.search(tmp_path, SHORT, 1)
    for file in tmp_path.glob("1/*/search.json"):
        file.write_text(file.read_text().replace("MAP@R", "density_intra"))
    found = rungs.read(tmp_path)
    assert found.scores[Fraction(1, 8)]["margin"] == pytest.approx({1: 0.01})
    assert found.compared(Fraction(1)).methods == ["triplet", "npairs", "margin"]


def test_a_folder_of_searches_has_a_report(tmp_path):
    fixture.search(tmp_path / "search", SHORT)
    assert "Order by length" in reports.report(tmp_path / "search").read_text()
    (tmp_path / "nothing").mkdir()
    with pytest.raises(UserError, match="holds no records"):
        reports.report(tmp_path / "nothing")


def test_a_damaged_search_is_one_line(tmp_path):
    fixture.search(tmp_path, SHORT)
    (tmp_path / "1" / "margin" / "search.json").write_text("[]")
    with pytest.raises(UserError, match="is not the record of a search"):
        rungs.read(tmp_path)
