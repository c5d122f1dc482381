"""Reports: tables, figures and one page, made from records alone."""

import shlex
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..base import files, layout
from ..base.errors import UserError
from ..trial.store import manifest, records
from ..trial.store.manifest import Manifest
from ..trial.store.records import Record
from . import answers, cost, figure_files, figures, optimism, page, repeated, rungs, transfer, usable_records
from .compare import FOLDER, compare, keep
from .embedding_pictures import LEFT_OUT, within_budget
from .figures import Figure
from .grouping import Arena, arenas
from .leaderboard import arena_table, leaderboard, of_studies, scores
from .repeated import Repeated
from .tables import FORMS, Table, slug, terminal

__all__ = ["compare", "html", "leaderboard", "report", "terminal", "write"]

FILES = "files.json"  # in the report's folder: a list of its tables and figures


def report(path: str | Path) -> Path:
    """Make the report of a store, or of one trial, from its records. Returns the path of the page.

    >>> page = dml.report(store)
    >>> page.name
    'index.html'
    """
    return made(path)[0]


def made(path: str | Path) -> tuple[Path, list[Table]]:
    """The same, with the leaderboards of the page."""
    path, began = Path(path), time.time_ns()
    found = usable_records.load(path)
    folder = path.parent if path.is_file() else path
    if (folder / records.RECORD).is_file():  # one trial: its store is the folder above
        content = _page(folder.parent, found, Manifest(found[0].id))
        return _write(folder, content), content.leaderboards
    if not found and not (folder / manifest.FILE).exists() and not rungs.read(folder):
        raise UserError(f"{path} holds no records of trials.")
    stated = usable_records.planned(folder, found)
    content = _page(folder, found, stated)
    index = _write(folder, content)
    if not stated.trials and not stated.search:
        keep(folder, content.arenas, began)
    return index, content.leaderboards


def unchanged(store: Path) -> Path | None:
    """The page of a store that was made after every change of its records and of its manifest."""
    index = store / FOLDER / "index.html"
    return index if usable_records.unchanged(store, index) else None


def write(
    store: str | Path,
    found: Iterable[Record],
    expected: Iterable[Mapping[str, Any]] | None = None,
    title: str | None = None,
    about: str | None = None,
    joined: Sequence[Repeated] = (),
) -> Path:
    """Write tables, figures and the page of these records into the store's ``report`` folder. Returns the path of the
    page.

    ``expected`` are the trials that were planned, each with its ``id`` and ``config``: those without a record
    are shown as missing. What is not given is read from ``experiment.json``, if a sweep has left one. ``joined`` are the
    repeated methods that the page begins with, where the records alone would not tell.

    >>> dml.reports.write(store, dml.records.load_store(store), title="My own").name
    'index.html'
    """
    store = Path(store)
    stated = usable_records.planned(store)
    trials = stated.trials if expected is None else [dict(trial) for trial in expected]
    stated = replace(stated, title=title or stated.title, about=about or stated.about, trials=trials)
    return _write(store, _page(store, found, stated, joined=joined))


def html(store: str | Path) -> str:
    """The page of a store as it is now, as HTML. Nothing is written.

    >>> dml.reports.html(store)[:15]
    '<!doctype html>'
    """
    store = Path(store)
    found = usable_records.load(store)
    return page.render(_page(store, found, usable_records.planned(store, found), [".svg"]))


def _page(
    store: Path,
    found: Iterable[Record],
    stated: Manifest,
    suffixes: Sequence[str] = (".png", ".svg"),
    joined: Sequence[Repeated] = (),
) -> page.Page:
    """The content of the page for these records, whose trials are in ``store``, with its figures drawn as such files."""

    def drawn(*made: Figure | None) -> list[page.Drawn]:
        return [(one, figure_files.draw(one, suffixes)) for one in made if one]

    name, all_arenas = store.resolve().name, arenas(found, stated.trials, stated.search)
    pictures, left_out = within_budget(all_arenas, store)
    warnings = _unfinished(all_arenas)
    if left_out:
        warnings.append(LEFT_OUT.format("; ".join(left_out)))
    repeats = joined or repeated.of_arenas(all_arenas)
    sections = [page.Section(one.title, repeated.tables(one), drawn(repeated.figure(one))) for one in repeats]
    if (lengths := rungs.read(store)) and (table := rungs.table(lengths, name)):
        sections.append(page.Section(f"{table.title} ({table.of})", [table]))
    sections += [
        page.Section(
            arena.title,
            _tables(arena, all_arenas),
            drawn(*figures.of_arena(arena, all_arenas), transfer.figure(arena)),
            answers.of_arena(arena, all_arenas),
            shown,
        )
        for arena, shown in zip(all_arenas, pictures)
    ]
    place = shlex.quote(str(store))
    return page.Page(stated.title or name, stated.about, place, sections, all_arenas, warnings)


def _write(folder: Path, content: page.Page) -> Path:
    """Write into the ``report`` folder of ``folder``. Returns the page's path."""
    target = folder / FOLDER
    written: dict[str, bytes] = {}
    for section in content.sections:
        for table in section.tables:
            written |= {f"{table.name}{suffix}": form(table).encode() for suffix, form in FORMS.items()}
        for figure, drawn in section.figures:
            name = f"{figure.name}-{slug(section.title)}"
            written |= {f"{name}{suffix}": file for suffix, file in drawn.items()}
    for name, file in written.items():
        with files.replacing(target / name, "wb") as stream:
            stream.write(file)
    _clear_away(target, written)
    with files.replacing(target / "index.html") as stream:
        stream.write(page.render(content))
    return target / "index.html"


def _unfinished(found: Iterable[Arena]) -> list[str]:
    """One line about the trials without a result, if there are any."""
    cells = [cell for arena in found for cell in arena.cells]
    counts = Counter(problem.status for cell in cells for problem in cell.problems)
    if not counts:
        return []
    total = sum(len(cell.records) + len(cell.problems) for cell in cells)
    kinds = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    without = f"Of {layout.plural(total, 'trial')}, {sum(counts.values())} have no result"
    return [f"{without}: {kinds}. The list of trials says why."]


def _tables(arena: Arena, others: list[Arena]) -> list[Table]:
    """The first is the one to see first."""
    first = [arena_table(arena)]
    if not arena.finished:
        return first
    first += [*optimism.tables(arena, others), *of_studies(arena)]
    return [*first, scores(arena), cost.table(arena), *transfer.tables(arena)]


def _clear_away(folder: Path, written: Iterable[str]) -> None:
    """Remove the tables and figures that an earlier report wrote here and this one did not."""
    before = files.read_json(folder / FILES) if (folder / FILES).exists() else []
    for name in set(before).difference(written):
        # Only in this folder, whatever the list says.
        if Path(name).name == name and (folder / name).is_file():
            (folder / name).unlink(missing_ok=True)
    files.write_json(folder / FILES, [*written])
