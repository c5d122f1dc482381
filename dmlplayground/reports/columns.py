"""Columns of an arena's tables, and the one way in which they become a table."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from ..parts import metrics
from ..parts.protocols import UNTOUCHED_FEATURES
from .grouping import Arena, Cell, shown
from .statistics import leaders
from .tables import Column, Row, Table

Value = Callable[[Cell], Any]
LENGTH = "embed_dim"  # what is set; the length that comes of it is shown


def nothing(cell: Cell) -> None:
    """Where a row has no value in a column."""


class Field(NamedTuple):
    """A column, with its values for a cell, for its network before training, and for its untouched features."""

    column: Column
    of_cell: Value
    of_network: Value = nothing
    of_features: Value = nothing
    metric: metrics.Metric | None = None  # that ranks it: the leaders are bold


def naming(arena: Arena) -> list[Field]:
    """The method, and what distinguishes its cells."""
    heading = Column("method", numeric=False)
    fields = [Field(heading, attrgetter("method"), attrgetter("before"), lambda _: UNTOUCHED_FEATURES)]
    if len({cell.length for cell in arena.cells if cell.trained}) > 1:
        numbers = Column("numbers", "of an embedding")
        fields.append(Field(numbers, lambda cell: cell.length if cell.trained else None))
    return fields + [_factor(key) for key in arena.factors if key != LENGTH]


def _factor(key: str) -> Field:
    def value(cell: Cell) -> str | None:
        found = cell.factors[key]
        return None if found is None else shown(found)

    of_network = value if key.startswith("backbone.") else nothing
    of_features = value if key.startswith(("backbone.", "transform.")) else nothing
    return Field(Column(key.removesuffix(".name"), numeric=False), value, of_network, of_features)


def score(arena: Arena, metric: str, which: str, column: Column) -> Field:
    """A metric of a result, over seeds."""
    before = arena.untrained(metric)
    return Field(
        column,
        lambda cell: cell.scores(which, metric),
        lambda cell: before.get(cell.backbone),
        lambda cell: cell.untouched(which, metric),
        metrics.get(metric),
    )


def quoted(metric: str, which: str, heading: str) -> Field:
    """What was published."""
    column = Column(heading, "quoted from the study, not measured here")
    return Field(column, lambda cell: cell.published(which).get(metric))


def table(
    kind: str,
    title: str,
    arena: Arena,
    fields: Sequence[Field],
    notes: Iterable[str] = (),
    cells: Sequence[Cell] | None = None,
    features: Iterable[Cell] = (),
    networks: Iterable[Cell] = (),
) -> Table:
    """A row for each of the cells, in their order (if not given, those with a result, best first). Above them stand the
    untouched features and the networks before training of the other two lists."""
    cells = arena.finished if cells is None else cells
    above = [Row([field.of_features(cell) for field in fields], kind="baseline") for cell in features]
    above += [Row([field.of_network(cell) for field in fields], kind="baseline") for cell in networks]
    rows = [
        Row([field.of_cell(cell) for field in fields], set(), "" if cell.records else "incomplete", cell.key)
        for cell in cells
    ]
    for index, field in enumerate(fields):
        if field.metric:
            for place in leaders([row.values[index] for row in rows], field.metric.higher_is_better):
                rows[place].bold.add(index)
    return Table(kind, title, arena.title, [field.column for field in fields], [*above, *rows], [*notes])
