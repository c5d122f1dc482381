"""Which tables there are, and what stands in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Optional

from ..records import Record
from . import published
from .cells import Arena, Cell, arenas, name, plain
from .statistics import Summary, leaders
from .tables import Column, Difference, Quoted, Row, Seconds, Table

RULE = (
    "Bold (* in a terminal): the best of the column, and all that are not significantly different from it (Welch's t-test over seeds, "
    "5 %, Holm's adjustment for many comparisons). A single run is never bold."
)
MEANING = {
    "best": "at the best test epoch, as the study reports it: the test set chose the epoch",
    "last": "after the last epoch: nothing was chosen",
    "joined": "the embeddings of all folds' models side by side; validation classes chose the epochs",
    "separate": "the mean over the folds' models, each scored alone; validation classes chose the epochs",
}
HEADLINE = ("R@1", "NMI")
NO_SPREAD = "Figures without ± come from a single run: nothing is known of their spread."


def leaderboard(
    records: Iterable[Record], expected: Optional[Iterable[Mapping[str, Any]]] = None
) -> list[Table]:
    """A table for each data set and protocol: mean ± spread over seeds, the untrained network first, then the best first."""
    return [arena_table(arena) for arena in arenas(records, expected)]


def arena_table(arena: Arena) -> Table:
    metrics = [metric for metric in HEADLINE if metric in arena.metrics] or list(HEADLINE[:1])
    quoted = any(published.find(cell.config) for cell in arena.cells)
    columns = [
        Column("method", numeric=False),
        *(Column(name(key), numeric=False) for key in arena.factors),
        Column("seeds"),
    ]
    for metric in metrics:
        columns += [Column(f"{metric} {which}", MEANING[which]) for which in _kinds(arena)]
        if quoted:
            columns += [
                Column(f"{metric} published", "quoted from the study, not measured here"),
                Column("difference", f"{metric} {_kinds(arena)[0]} minus published"),
            ]
    columns.append(Column("time", "wall time of a trial, mean over seeds"))
    rows = [*_baselines(arena, metrics, quoted), *(_row(cell, metrics, quoted) for cell in arena.cells)]
    _mark_leaders(arena, columns, rows)
    return Table(
        f"leaderboard-{slug(arena.title)}", f"Leaderboard: {arena.title}", columns, rows, _notes(arena, rows)
    )


def _kinds(arena: Arena) -> tuple[str, str]:
    cell = arena.cells[0]
    return cell.primary, cell.secondary


def _baselines(arena: Arena, metrics: list[str], quoted: bool) -> list[Row]:
    by_metric = {metric: arena.untrained(metric) for metric in metrics}
    rows = []
    for backbone in by_metric[metrics[0]]:
        values: list[Any] = [
            "untrained",
            *(backbone if key == "backbone.name" else None for key in arena.factors),
        ]
        values.append(by_metric[metrics[0]][backbone].n)
        for metric in metrics:
            found = by_metric[metric].get(backbone)
            values += [found, found, *([None, None] if quoted else [])]
        rows.append(Row([*values, None], kind="baseline"))
    return rows


def _row(cell: Cell, metrics: list[str], quoted: bool) -> Row:
    values: list[Any] = [cell.method, *(plain(value) for value in cell.factors.values()), _seeds(cell)]
    for metric in metrics:
        primary = cell.scores(cell.primary, metric)
        values += [primary, cell.scores(cell.secondary, metric)]
        if quoted:
            values += _against(primary, published.find(cell.config).get(metric))
    seconds = cell.seconds
    values.append(Seconds(seconds.mean) if seconds else None)
    return Row(values, kind="" if cell.records else "incomplete", cell=cell.key)


def _against(measured: Optional[Summary], quote: Optional[Quoted]) -> list[Any]:
    return [quote, Difference(measured.mean - quote.value) if measured and quote else None]


def _seeds(cell: Cell) -> Any:
    """How many seeds stand behind the row, and what became of the others."""
    if not cell.problems:
        return len(cell.records)
    counts = Counter(problem.status for problem in cell.problems)
    return (
        f"{len(cell.records)} ({', '.join(f'{count} {status}' for status, count in sorted(counts.items()))})"
    )


def _mark_leaders(arena: Arena, columns: list[Column], rows: list[Row]) -> None:
    ranked = [row for row in rows if row.kind != "baseline"]
    for index, column in enumerate(columns):
        if column.name.split(" ")[-1] in MEANING:
            for place in leaders([row.values[index] for row in ranked]):
                ranked[place].bold.add(index)


def _notes(arena: Arena, rows: list[Row]) -> list[str]:
    kinds = _kinds(arena)
    notes = [
        f"Percent, mean ± sample standard deviation over seeds. {kind}: {MEANING[kind]}." for kind in kinds
    ]
    notes[1] = notes[1].partition(". ")[2]
    notes.append(RULE)
    if any(isinstance(value, Summary) and value.n == 1 for row in rows for value in row.values):
        notes.append(NO_SPREAD)
    measured_on = {
        r.results["untrained"].get("measured_on")
        for cell in arena.finished
        for r in cell.records
        if r.results.get("untrained")
    }
    if measured_on - {"test"}:
        notes.append(
            "The untrained row was measured on validation classes, not on the test half: it cannot be set beside the others."
        )
    notes += published.notes(cell.config for cell in arena.cells)
    return notes


def slug(title: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())
