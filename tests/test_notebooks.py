"""The notebooks: small, with outputs, and still true when they are run again."""

import json
import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))


def cells(name):
    content = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


def told(found, exactly):
    """What a cell gave, line by line. Numbers, and the order of rows, may differ on another machine unless they are read off
    files; so may whether lines that were printed one after the other come as one output."""
    given = []
    for cell in found:
        texts = ("".join(one.get("text") or one["data"]["text/plain"]) for one in cell["outputs"])
        lines = [line for text in texts for line in text.splitlines()]
        given.append(lines if exactly else sorted(re.sub(r"[\d.*]+", "#", line) for line in lines))
    return given


def test_there_are_at_most_three_of_them():
    assert 1 <= len(NOTEBOOKS) <= 3


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_small_and_was_run_from_its_beginning(name):
    assert (FOLDER / name).stat().st_size < 20_000
    assert [cell["execution_count"] for cell in cells(name)] == list(range(1, len(cells(name)) + 1))
    assert any(cell["outputs"] for cell in cells(name))
    assert not any(output["output_type"] == "error" for cell in cells(name) for output in cell["outputs"])


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_says_what_it_said(name):
    """If not, ``python scripts/notebooks.py`` runs it anew."""
    for needed in ("nbclient", "nbformat", "ipykernel", "pandas"):
        pytest.importorskip(needed)
    script = runpy.run_path(str(FOLDER.parent / "scripts" / "notebooks.py"))
    ran = [cell for cell in script["run"](FOLDER / name).cells if cell.cell_type == "code"]
    of_files = name == "records.ipynb"
    assert told(ran, exactly=of_files) == told(cells(name), exactly=of_files)
