"""The pages that people read, and what they show of commands and code."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = {path.name: path.read_text(encoding="utf-8") for path in FILES if path.exists()}


def blocks(language: str, text: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.S | re.M)


def commands(text: str) -> list[str]:
    """Every command line of a page: in blocks, and in text."""
    lines = [line for block in blocks("sh", text) for line in block.splitlines()]
    lines += re.findall(
        r"`(dmlplayground [^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M).replace("\n", " ")
    )
    return [line for line in dict.fromkeys(lines) if line.startswith("dmlplayground ")]
