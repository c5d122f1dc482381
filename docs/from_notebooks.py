"""Notebooks as pages: their text, their code and what the code printed, read off the files as they are committed."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"


def pages() -> dict[str, str]:
    """Path of each page -> its Markdown."""
    return {f"notebooks/{path.stem}.md": page(path) for path in sorted(FOLDER.glob("*.ipynb"))}


def page(path: Path) -> str:
    content = json.loads(path.read_text(encoding="utf-8"))
    first, *rest = map(_cell, content["cells"])
    note = f"This page is the notebook `notebooks/{path.name}` of the source, with its outputs."
    return "\n\n".join([first, note, *rest]).replace("](../docs/", "](../") + "\n"


def _cell(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    return "\n\n".join([f"```python\n{source}\n```", *filter(None, map(_output, cell["outputs"]))])


def _output(output: dict[str, Any]) -> str:
    """What a cell printed or gave, as text."""
    text = "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""
