"""The ratios that the benchmarks measured, read off the files that they leave in ``benchmarks/results``."""

import json
from pathlib import Path
from typing import Any

from markdown_text import inline, table

RESULTS = Path(__file__).resolve().parent.parent / "benchmarks" / "results"


def ratios() -> str:
    """A table for each benchmark that was run."""
    found = [_section(path.stem, json.loads(path.read_text())) for path in sorted(RESULTS.glob("*.json"))]
    return (
        "\n\n".join(found) or "No figures are kept with the source at present; run a benchmark to see them."
    )


def _section(name: str, found: dict[str, Any]) -> str:
    rows = [
        (
            inline(row["case"]),
            _with(row["ours"], row),
            _with(row["theirs"], row),
            inline(row["peer"]),
            _ratio(row),
        )
        for row in found["rows"]
    ]
    heads = ("case", "ours", "the other's", "the other", "ours / the other's")
    return f"### {name}\n\n{inline(found['about'])} ({found['when']})\n\n{table(heads, rows)}"


def _with(value: float | None, row: dict[str, Any]) -> str:
    return "" if value is None else f"{value:.3g} {row['unit']}"


def _ratio(row: dict[str, Any]) -> str:
    return f"{row['ours'] / row['theirs']:.2f}" if row["theirs"] else ""
