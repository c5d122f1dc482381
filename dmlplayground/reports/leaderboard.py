"""The tables of an arena: who leads, and every score of every cell."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from ..base import layout
from ..parts import metrics
from ..parts.protocols import UNTOUCHED_FEATURES, UNTRAINED, UNTRAINED_HEAD
from ..studies import published
from ..studies.published import Study
from ..trial.store.records import Record
from . import columns, cost
from .columns import Field
from .grouping import Arena, Cell, arenas
from .tables import Column, Difference, Interval, Seconds, Table, ends, units

LEADERBOARD = "leaderboard"
RULE = (
    "Bold (* in a terminal): the best of the column, and all that are not significantly different from it "
    "(Welch's t-test over seeds, 5 %, Holm's adjustment for many comparisons). A row below a significantly worse row is "
    "never bold, nor is a single run."
)
SINGLE = "Numbers without ± come from a single run, so their spread is unknown."
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
INTERVALS = (
    "±: half of the 95 % interval of the mean over runs, by Student's t. Fewer than three runs have none."
)


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
    first = arena.cells[0]
    published_here = {metric for cell in arena.finished for metric in cell.published(cell.primary)}
    fields = _naming(arena)
    for metric in _leading(arena, published_here):
        for which in (first.primary, first.secondary):
            column = Column(f"{metric} {which}", arena.protocol.meaning(which))
            fields.append(columns.score(arena, metric, which, column))
        if metric in published_here:
            quoted = columns.quoted(metric, first.primary, f"{metric} published")
            fields += [quoted, _difference(metric, quoted.of_cell)]
    spent = Column("time", "wall time of a trial, mean over seeds")
    time = Field(spent, lambda cell: Seconds(cell.seconds.mean) if cell.seconds else None)
    return _table(LEADERBOARD, "Leaderboard", arena, [*fields, cost.SEEN, cost.LOOKED, time])


def _leading(arena: Arena, quoted: Collection[str]) -> list[str]:
    """The few metrics to show. Of clusterings, the metric that a study has published rather than one that it has not."""
    of_clusters = {name for name in arena.metrics if metrics.get(name).needs == "clusters"}
    published = [name for name in arena.metrics if name in quoted and name in of_clusters][:1]
    leading = metrics.leading([arena.headline, *arena.metrics])
    shown = (published[0] if published and name in of_clusters else name for name in leading)
    return list(dict.fromkeys(shown))


def scores(arena: Arena) -> Table:
    """Every metric, in the shape of the study's tables, with the headline's 95 % interval."""
    which = arena.cells[0].primary
    fields = _naming(arena)
    for metric in arena.metrics:
        fields.append(columns.score(arena, metric, which, Column(metric, arena.protocol.meaning(which))))
        if metric == arena.headline:
            heading = Column("95 % interval", f"of the mean of {metric}, by Student's t")
            fields.append(Field(heading, lambda cell: ends(cell.score.interval if cell.score else None)))
    return _table("scores", f"All scores ({which})", arena, fields)


def _naming(arena: Arena) -> list[Field]:
    before = arena.untrained(arena.headline)
    seeds = Field(Column("seeds", "with a result"), _seeds, lambda cell: before[cell.backbone].n)
    return [*columns.naming(arena), seeds]


def _difference(metric: str, quoted: columns.Value) -> Field:
    def value(cell: Cell) -> Any:
        measured, theirs = cell.scores(cell.primary, metric), quoted(cell)
        return Difference(measured.mean - theirs.value) if measured and theirs else None

    return Field(Column(f"{metric} − published", "what was measured here minus what was published"), value)


def _seeds(cell: Cell) -> Any:
    """How many seeds the row is made of, and what became of the others."""
    if not cell.problems:
        return len(cell.records)
    counts = Counter(problem.status for problem in cell.problems)
    others = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    return f"{len(cell.records)} ({others})"


def _table(kind: str, title: str, arena: Arena, fields: list[Field]) -> Table:
    before = arena.untrained(arena.headline)
    one_of_each = {cell.backbone: cell for cell in arena.finished}
    networks = sorted(
        before, key=lambda backbone: before[backbone].mean, reverse=arena.metric.higher_is_better
    )
    notes = _notes(arena, [field.metric.key for field in fields if field.metric])
    networks_first = [one_of_each[backbone] for backbone in networks]
    return columns.table(kind, title, arena, fields, notes, arena.cells, arena.untouched(), networks_first)


def _below_start(arena: Arena) -> list[str]:
    """A sentence for each start that some cells' training ended below, at classes that it has not seen, with what to do."""
    untrained = arena.untrained(arena.headline) if arena.untrained_on == {"test"} else {}
    starts: dict[str, Callable[[Cell], float | None]] = {
        BELOW_FEATURES: lambda cell: cell.untouched(cell.protocol.trained, arena.headline),
        BELOW: lambda cell: untrained[cell.backbone].mean if cell.backbone in untrained else None,
    }
    trained = [cell for cell in arena.finished if cell.trained]
    ends = [(cell, cell.scores(cell.protocol.trained, arena.headline)) for cell in trained]
    said = []
    for sentence, start in starts.items():
        before = ((cell, start(cell), end) for cell, end in ends if end)
        better = arena.metric.better
        worse = [cell.label for cell, score, end in before if score is not None and better(score, end.mean)]
        if worse:
            rows = layout.plural(len(arena.finished), "row")
            said.append(f"{sentence} {len(worse)} of {rows}: {'; '.join(worse)}.")
    return [*said, ADVICE] if said else []


def _notes(arena: Arena, shown: Iterable[str]) -> list[str]:
    first = arena.cells[0]
    notes = units(shown, "mean ± sample standard deviation over seeds")
    notes += [f"{which}: {arena.protocol.meaning(which)}." for which in (first.primary, first.secondary)]
    headed = {cell.before for cell in arena.finished} == {UNTRAINED_HEAD}
    counts = {len(cell.records) for cell in arena.cells}
    conditions: dict[str, Any] = {
        LOST: first.searched,
        FEATURES: arena.untouched(),
        BASELINE.format(UNTRAINED_HEAD if headed else UNTRAINED): arena.untrained(arena.headline),
        RULE: True,
        **dict.fromkeys(_below_start(arena), True),
        SINGLE: 1 in counts,
        PAIR: 2 in counts,
        ON_VALIDATION: arena.untrained_on - {"test"},
    }
    notes += [note for note, holds in conditions.items() if holds]
    return notes + _quotes(arena, (first.primary, first.secondary))


def _quotes(arena: Arena, outcomes: Collection[str]) -> list[str]:
    return published.notes([(cell.config, len(cell.records)) for cell in arena.finished], outcomes)


def of_studies(arena: Arena) -> list[Table]:
    """The results of a protocol with folds under the names of each study whose tables show them, if its metrics were measured."""
    studies = published.tabulated(arena.protocol.key)
    return [_of_study(arena, one) for one in studies if set(one.metrics) <= set(arena.metrics)]


def _of_study(arena: Arena, study: Study) -> Table:
    labels = arena.protocol.labels
    fields = [*columns.naming(arena), Field(Column("runs"), lambda cell: len(cell.records))]
    for which, label in labels.items():
        known = {metric for cell in arena.finished for metric in cell.published(which)}
        for metric, theirs in study.metrics.items():
            fields.append(_mean(which, metric, f"{label} {theirs}"))
            if metric in known:
                fields.append(columns.quoted(metric, which, f"{label} {theirs} published"))
    # Untrained networks first, then the best first.
    cells = sorted(arena.finished, key=lambda cell: cell.trained)
    meanings = "; ".join(f"{label}: {arena.protocol.results[which]}" for which, label in labels.items())
    notes = [*units(study.metrics, "mean over runs"), f"{meanings}.", INTERVALS, *_quotes(arena, labels)]
    title = " and ".join(labels.values()).capitalize()
    return columns.table("repeats", title, arena, fields, notes, cells, arena.untouched())


def _mean(which: str, metric: str, heading: str) -> Field:
    def value(cell: Cell) -> Interval | None:
        measured = cell.scores(which, metric)
        return Interval.of(measured.mean, measured.interval) if measured else None

    return Field(Column(heading), value, of_features=lambda cell: cell.untouched(which, metric))
