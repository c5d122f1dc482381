"""Reports: records in; tables, figures and one page out. Everything here is regenerated from the records alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Optional

from .. import files, records
from ..errors import UserError
from ..records import Record
from . import drawing, figures, glance, page
from .cells import arenas
from .leaderboard import arena_table, leaderboard, slug
from .tables import FORMS, Table, terminal

__all__ = ["leaderboard", "report", "terminal", "write"]

EXPERIMENT, FOLDER = "experiment.json", "report"


def report(path: str | Path) -> Path:
    """Regenerate the report of a store (or of one record) from its records; returns the page."""
    path = Path(path)
    found = records.load_store(path)
    folder = path.parent if path.is_file() else path
    if not found and not (folder / EXPERIMENT).exists():
        raise UserError(f"{path} holds no records of trials.")
    return write(folder, found)


def write(
    store: str | Path,
    found: Iterable[Record],
    expected: Optional[Iterable[Mapping[str, Any]]] = None,
    title: Optional[str] = None,
    about: Optional[str] = None,
) -> Path:
    """Write tables, figures and the page of these records into the store's ``report`` folder; returns the page.

    ``expected`` are the trials that were planned, each with its ``id`` and ``config``: those without a record are shown
    as missing. What is not given is read from the store's ``experiment.json``, where a sweep has left one.
    """
    store = Path(store)
    plan = files.read_json(store / EXPERIMENT) if (store / EXPERIMENT).exists() else {}
    expected = list(plan.get("trials", []) if expected is None else expected)
    folder = store / FOLDER
    sections = []
    for arena in arenas(found, expected):
        section = page.Section(arena, glance.answers(arena), [arena_table(arena)], figures.of_arena(arena))
        _write_tables(folder, section.tables)
        _write_figures(folder, section.figures, slug(arena.title))
        sections.append(section)
    content = page.Page(
        title or plan.get("title") or store.resolve().name,
        about or plan.get("about") or "",
        str(store),
        sections,
    )
    index = folder / "index.html"
    with files.replacing(index) as stream:
        stream.write(page.render(content))
    return index


def _write_tables(folder: Path, tables: Iterable[Table]) -> None:
    for table in tables:
        for suffix, form in FORMS.items():
            with files.replacing(folder / f"{table.name}{suffix}") as stream:
                stream.write(form(table))


def _write_figures(folder: Path, drawn: Iterable[figures.Figure], arena: str) -> None:
    for figure in drawn:
        for suffix, content in drawing.draw(figure).items():
            with files.replacing(folder / f"{figure.name}-{arena}{suffix}", "wb") as stream:
                stream.write(content)
