"""Tables: what stands in them, against arithmetic done here from the records' JSON."""

import reports_fixture as fixture

from dmlplayground import reports


def test_the_untrained_network_comes_first_and_then_the_best():
    table = reports.leaderboard(fixture.grid())[0]
    assert [row.values[0] for row in table.rows][:3] == ["untrained", "npairs", "margin"]


def test_the_report_is_written_from_records_alone(tmp_path):
    index = reports.write(tmp_path, fixture.grid(), title="A grid")
    page = index.read_text(encoding="utf-8")
    assert index == tmp_path / "report" / "index.html"
    assert "A grid" in page and "npairs" in page
    assert (tmp_path / "report" / "leaderboard-glyphs-paper-protocol.csv").exists()
