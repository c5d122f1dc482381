"""The page of the Reality Check's argument: its numbers are those of the study's own examples, and the page is up to date."""

import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
sys.path.insert(0, str(DOCS / "makers"))

import argument  # noqa: E402


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (2.0, (100, 100, 98, 81.36, 76.03)),
        (2.2, (100, 100, 100, 86.14, 82.64)),
        (2.5, (100, 100, 100, 91.59, 89.93)),
        (4.0, (100, 100, 100, 100, 100)),
    ],
)
def test_scores_of_the_spaces(gap, expected):
    found = argument.scores(*argument.space(gap))
    assert tuple(found.values()) == pytest.approx(expected, abs=0.006)


def test_what_one_result_is_worth():
    rows = [row.values[1:] for row in argument.retrieved().rows]
    assert rows == [
        pytest.approx(row) for row in ([100, 10, 10], [100, 20, 12], [100, 20, 20], [100, 100, 100])
    ]


def test_the_oldest_loss_is_level_with_the_best_on_birds():
    """Table 4: MAP@R 26.53 of the contrastive loss, 26.70 of the best."""
    spread = argument.Spread("cub200", "MAP@R", argument.rows("cub200"))
    assert (spread.best.label, spread.best.year) == ("CosFace", 2018)
    assert spread.gain == pytest.approx(0.17)
    assert [row.label for row in spread.level] == ["Contrastive", "ArcFace", "MS+Miner", "SoftTriple"]


def test_years_are_those_of_the_study():
    """Its table 7."""
    years = {2006: {"Contrastive", "Triplet"}, 2016: {"NT-Xent"}, 2018: {"CosFace"}}
    years[2017] = {"ProxyNCA", "Margin", "Margin / class", "N. Softmax"}
    found = argument.rows("sop")
    for year, labels in years.items():
        assert {row.label for row in found if row.year == year} == labels
    assert {row.year for row in found} == {2006, 2016, 2017, 2018, 2019}


def test_the_page_is_up_to_date(tmp_path):
    argument.write(tmp_path)
    assert (tmp_path / argument.PAGE).read_text() == (DOCS / argument.PAGE).read_text()
    for name in (argument.SPACES, argument.YEARS):
        assert (tmp_path / name).read_bytes()[:5] == (DOCS / name).read_bytes()[:5] == b"<?xml"
        assert f"]({name})" in (DOCS / argument.PAGE).read_text()
