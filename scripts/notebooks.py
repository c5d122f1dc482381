"""Runs the notebooks and keeps what they give: python scripts/notebooks.py (extra "notebooks").

Do so when a notebook, or what it shows, has changed; records.ipynb shows the quick start's records.
"""

from pathlib import Path
from typing import Any

import nbclient
import nbformat

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"


def run(path: Path) -> Any:
    """The notebook with its outputs as text alone, which say the same as HTML in less room."""
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, record_timing=False, resources={"metadata": {"path": str(path.parent)}}
    ).execute()
    notebook.metadata.language_info = {"name": "python"}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("text/html", None)
    return notebook


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(run(path), path)
        print(path)
