"""What is printed fits the terminal: tables of every width, and prose."""

import pytest

from dmlplayground import cli
from dmlplayground.base import layout
from dmlplayground.reports import tables

ROWS = [
    ("name", "score", "what it is"),
    ("angular", "40.26", "a bound on the angle at the negative of a triplet"),
    ("npairs", "31.52", "one positive against all others"),
]
WHOLE = """\
name     score  what it is
-------  -----  -------------------------------------------------
angular  40.26  a bound on the angle at the negative of a triplet
npairs   31.52  one positive against all others"""
WRAPPED = """\
name     score  what it is
-------  -----  -------------------------
angular  40.26  a bound on the angle at
                the negative of a triplet
npairs   31.52  one positive against all
                others"""
APART = """\
name     score
-------  -----
angular  40.26
npairs   31.52

name     what it is
-------  ------------------------
angular  a bound on the angle at
         the negative of a
         triplet
npairs   one positive against all
         others"""


@pytest.mark.parametrize(
    ("columns", "shown"), [("", WHOLE), ("80", WHOLE), ("41", WRAPPED), ("33", APART)], ids=str
)
def test_a_table_wraps_its_last_column_or_is_shown_in_parts(monkeypatch, columns, shown):
    monkeypatch.setenv("COLUMNS", columns)
    assert layout.columns(ROWS, right={1}, rule=True) == shown


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize(
    "command", ["methods", "metrics", "hyperparams", "experiments", "samplers", "schedules"]
)
def test_lists_fit(monkeypatch, capsys, command, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert cli.main([command]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= columns


def test_a_report_s_table_keeps_every_figure(monkeypatch):
    heads = [tables.Column("method", numeric=False), *(tables.Column(f"R@{k}") for k in (1, 2, 4, 8))]
    rows = [tables.Row([name, 40.0, 51.5, 62.25, 99.0], bold={4}) for name in ("angular", "npairs")]
    table = tables.Table(
        "leaderboard",
        "Leaderboard",
        "glyphs",
        heads,
        rows,
        notes=["Percent, and some more words than would fit."],
    )
    monkeypatch.setenv("COLUMNS", "30")
    shown = tables.terminal(table)
    assert max(map(len, shown.splitlines())) <= 30
    assert [shown.count(figure) for figure in ("40.00", "51.50", "62.25", "99.00 *")] == [2, 2, 2, 2]


def test_prose_is_filled_and_formulas_stay(monkeypatch):
    text = "A sentence that is longer than the terminal.\n\n    L = sum of many things in one line\n\nShort."
    monkeypatch.setenv("COLUMNS", "24")
    assert layout.prose(text) == (
        "A sentence that is\nlonger than the\nterminal.\n\n    L = sum of many things in one line\n\nShort."
    )
    monkeypatch.delenv("COLUMNS")
    assert layout.prose(text) == text


def test_every_entry_of_a_list_begins_a_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    assert layout.prose("margin: how far apart they are.\nbeta: the boundary.") == (
        "margin: how far\n  apart they are.\nbeta: the boundary."
    )
