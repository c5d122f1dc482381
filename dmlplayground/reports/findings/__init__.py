"""The findings: what the equal comparison says, as a page with figures, from its records alone.

``python -m dmlplayground.reports.findings experiments/results/equal docs`` writes them. Every store may be missing or
incomplete: then its section says so.
"""

from __future__ import annotations

from pathlib import Path

from ...base import files
from . import (
    agreement,
    closing,
    conditions,
    networks,
    opening,
    optimism_by_protocol,
    prediction,
    protocol_order,
    ranking_by_network,
    spending,
    summary,
    tuning,
)
from .sections import Section
from .sources import Sources, read

__all__ = ["PAGE", "made", "page", "write"]

PAGE = "findings.md"

SECTIONS = (
    opening.section,
    summary.section,
    conditions.section,
    tuning.section,
    ranking_by_network.section,
    protocol_order.section,
    optimism_by_protocol.section,
    agreement.section,
    prediction.section,
    networks.section,
    spending.section,
    closing.section,
)


def made(sources: Sources) -> dict[str, bytes]:
    """The page and its figures, by the names of their files."""
    sections = [section(sources) for section in SECTIONS]
    figures = {name: draw() for section in sections for name, draw in section.figures.items()}
    return {PAGE: _joined(sections).encode(), **figures}


def page(sources: Sources) -> str:
    """The page alone."""
    return _joined([section(sources) for section in SECTIONS])


def _joined(sections: list[Section]) -> str:
    return "\n\n".join(block.strip() for section in sections for block in section.blocks) + "\n"


def write(results: str | Path, folder: str | Path) -> None:
    """The page and its figures from the records below ``results``, into a folder."""
    for name, data in made(read(Path(results))).items():
        with files.replacing(Path(folder) / name, "wb") as stream:
            stream.write(data)
