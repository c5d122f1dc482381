"""The tables of an arena: who leads, and every score of every cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from ..base import layout
from ..parts import metrics
from ..parts.protocols import UNTOUCHED_FEATURES, UNTRAINED, UNTRAINED_HEAD
from ..studies import published
from ..trial.store.records import Record
from . import cost
from .grouping import Arena, Cell, arenas, name
from .statistics import leaders
from .tables import Column, Difference, Row, Seconds, Table, units

RULE = (
    "Bold (* in a terminal): the best of the column, and all that are not significantly different from it "
    "(Welch's t-test over seeds, 5 %, Holm's adjustment for many comparisons). A row below a significantly worse row is "
    "never bold, nor is a single run."
)
SINGLE = "Figures without ± come from a single run, so their spread is unknown."
PAIR = (
    "Two seeds are too few to estimate a spread: such rows are tested with the spread of all rows together, and have no "
    "interval."
)
BASELINE = (
    "{}: the backbone's features through a head with random weights; a seed counts once, as the mean of "
    "the trials that start from it."
)
FEATURES = (
    f"{UNTOUCHED_FEATURES}: what the network gives for the same pixels before any training and without a head, "
    "compared by the cosine: the score that training has to beat."
)
LOST = "A search's result is that of its winner: what the other trials reached on test classes is not shown."
ON_VALIDATION = (
    "The untrained row was measured on validation classes, not on the test half: "
    "it cannot be compared with the others."
)
BELOW = "Training ended below the untrained network for"
BELOW_FEATURES = "Training ended below the untouched features for"
ADVICE = "They generalise better as they were: lower optimizer.lr, train fewer steps, or use the features themselves."


@dataclass(frozen=True)
class Field:
    """A column, with its values for a cell, for its backbone before training, and for its untouched features."""

    column: Column
    of_cell: Callable[[Cell], Any]
    of_backbone: Callable[[Cell], Any] = lambda cell: None
    of_features: Callable[[Cell], Any] = lambda cell: None
    metric: Optional[metrics.Metric] = None  # that ranks it: the leaders are bold


def leaderboard(
    records: Iterable[Record], expected: Iterable[Mapping[str, Any]] | None = None, searched: bool = False
) -> list[Table]:
    """One table for each data set and protocol: first the untrained network, then the cells, best first.

    ``expected`` are the trials that were planned, as in ``write``. Trials of a search (``searched``) are ranked by the
    scores that it maximised.

    >>> [table] = dml.reports.leaderboard(dml.records.load_store(store))
    >>> table.columns[0].name
    'method'
    """
    return [arena_table(arena) for arena in arenas(records, expected, searched)]


def arena_table(arena: Arena) -> Table:
    """Mean ± spread of the headline metrics, beside published numbers with the same conditions."""
    quoted = {metric for cell in arena.finished for metric in cell.published(cell.primary)}
    fields = _naming(arena)
    for metric in _leading(arena, quoted):
        fields += _measured(arena, metric)
        fields += _quoted(metric) if metric in quoted else []
    fields += [Field(figure.column, figure) for figure in (cost.SEEN, cost.LOOKED)]
    fields.append(Field(Column("time", "wall time of a trial, mean over seeds"), _seconds))
    return _table("leaderboard", "Leaderboard", arena, fields)


def _leading(arena: Arena, quoted: Collection[str]) -> list[str]:
    """The few metrics to show. Of clusterings, the metric that a study has published rather than one that it has not."""
    published = [name for name in arena.metrics if name in quoted and metrics.get(name).needs == "clusters"]
    leading = metrics.leading([arena.headline, *arena.metrics])
    return list(
        dict.fromkeys(
            published[0] if published and metrics.get(name).needs == "clusters" else name for name in leading
        )
    )


def scores(arena: Arena) -> Table:
    """Every metric, in the shape of the study's tables, with the headline's 95 % interval."""
    which = arena.cells[0].primary
    fields = _naming(arena)
    for metric in arena.metrics:
        fields.append(_score(arena, metric, which, Column(metric, arena.protocol.meaning(which))))
        if metric == arena.headline:
            fields.append(
                Field(Column("95 % interval", f"of the mean of {metric}, by Student's t"), _interval)
            )
    return _table("scores", f"All scores ({which})", arena, fields)


# --- columns ------------------------------------------------------------------------------------------------


def _naming(arena: Arena) -> list[Field]:
    untrained = arena.untrained(arena.headline)

    def factor(key: str) -> Field:
        def value(cell: Cell) -> str | None:
            return cell.factor(key)

        column = Column(name(key), numeric=False)
        if key.startswith("backbone."):
            return Field(column, value, value, value)
        return Field(column, value, of_features=value if key.startswith("transform.") else lambda cell: None)

    return [
        Field(
            Column("method", numeric=False),
            lambda cell: cell.method,
            lambda cell: cell.before,
            lambda cell: UNTOUCHED_FEATURES,
        ),
        *map(factor, arena.factors),
        Field(Column("seeds", "with a result"), _seeds, lambda cell: untrained[cell.backbone].n),
    ]


def _measured(arena: Arena, metric: str) -> list[Field]:
    cell = arena.cells[0]
    return [
        _score(arena, metric, which, Column(f"{metric} {which}", arena.protocol.meaning(which)))
        for which in (cell.primary, cell.secondary)
    ]


def _score(arena: Arena, metric: str, which: str, column: Column) -> Field:
    before = arena.untrained(metric)
    return Field(
        column,
        lambda cell: cell.scores(which, metric),
        lambda cell: before.get(cell.backbone),
        lambda cell: cell.untouched(which, metric),
        metrics.get(metric),
    )


def _quoted(metric: str) -> list[Field]:
    def quote(cell: Cell) -> Any:
        return cell.published(cell.primary).get(metric)

    def difference(cell: Cell) -> Any:
        measured = cell.scores(cell.primary, metric)
        return Difference(measured.mean - quote(cell).value) if measured and quote(cell) else None

    return [
        Field(Column(f"{metric} published", "quoted from the study, not measured here"), quote),
        Field(Column(f"{metric} − published", "what was measured here minus what was published"), difference),
    ]


def _seeds(cell: Cell) -> Any:
    """How many seeds the row is made of, and what became of the others."""
    if not cell.problems:
        return len(cell.records)
    counts = Counter(problem.status for problem in cell.problems)
    return (
        f"{len(cell.records)} ({', '.join(f'{count} {status}' for status, count in sorted(counts.items()))})"
    )


def _seconds(cell: Cell) -> Any:
    return Seconds(cell.seconds.mean) if cell.seconds else None


def _interval(cell: Cell) -> Any:
    interval = cell.score.interval if cell.score else None
    return f"{interval[0]:.2f} to {interval[1]:.2f}" if interval else None


# --- rows ---------------------------------------------------------------------------------------------------


def _table(kind: str, title: str, arena: Arena, fields: list[Field]) -> Table:
    untrained = arena.untrained(arena.headline)
    one_of_each = {cell.backbone: cell for cell in arena.finished}
    baselines = [
        Row([field.of_features(cell) for field in fields], kind="baseline") for cell in arena.untouched()
    ]
    baselines += [
        Row([field.of_backbone(one_of_each[backbone]) for field in fields], kind="baseline")
        for backbone in sorted(
            untrained,
            key=lambda backbone: untrained[backbone].mean,
            reverse=arena.metric.higher_is_better,
        )
    ]
    rows = [
        Row(
            [field.of_cell(cell) for field in fields],
            kind="" if cell.records else "incomplete",
            cell=cell.key,
        )
        for cell in arena.cells
    ]
    for index, field in enumerate(fields):
        if field.metric:
            for place in leaders([row.values[index] for row in rows], field.metric.higher_is_better):
                rows[place].bold.add(index)
    return Table(
        kind,
        title,
        arena.title,
        [field.column for field in fields],
        [*baselines, *rows],
        _notes(arena, [field.metric.key for field in fields if field.metric]),
    )


def _below(arena: Arena, start: Callable[[Cell], float | None]) -> list[str]:
    """The cells where training made the network worse at classes that it has not seen."""
    metric = arena.metric
    return [
        cell.label
        for cell in arena.finished
        if cell.trained
        and (end := cell.scores(cell.protocol.trained, arena.headline))
        and (before := start(cell)) is not None
        and metric.better(before, end.mean)
    ]


def _below_start(arena: Arena) -> list[str]:
    """A sentence for each start that some cells' training ended below, with what to do."""
    untrained = arena.untrained(arena.headline) if arena.untrained_on == {"test"} else {}
    starts = {
        BELOW_FEATURES: lambda cell: cell.untouched(cell.protocol.trained, arena.headline),
        BELOW: lambda cell: untrained[cell.backbone].mean if cell.backbone in untrained else None,
    }
    worse = {sentence: _below(arena, start) for sentence, start in starts.items()}
    rows = layout.plural(len(arena.finished), "row")
    said = [
        f"{sentence} {len(cells)} of {rows}: {'; '.join(cells)}."
        for sentence, cells in worse.items()
        if cells
    ]
    return [*said, ADVICE] if said else []


def _notes(arena: Arena, shown: Iterable[str]) -> list[str]:
    first = arena.cells[0]
    notes = units(shown, "mean ± sample standard deviation over seeds")
    notes += [f"{which}: {arena.protocol.meaning(which)}." for which in (first.primary, first.secondary)]
    if first.searched:
        notes.append(LOST)
    if arena.untouched():
        notes.append(FEATURES)
    if arena.untrained(arena.headline):
        names = {cell.before for cell in arena.finished}
        notes.append(BASELINE.format(UNTRAINED_HEAD if names == {UNTRAINED_HEAD} else UNTRAINED))
    notes.append(RULE)
    notes += _below_start(arena)
    if any(len(cell.records) == 1 for cell in arena.cells):
        notes.append(SINGLE)
    if any(len(cell.records) == 2 for cell in arena.cells):
        notes.append(PAIR)
    if arena.untrained_on - {"test"}:
        notes.append(ON_VALIDATION)
    return notes + published.notes(
        published.Trials(cell.config, len(cell.records), (cell.primary, cell.secondary))
        for cell in arena.finished
    )
