"""Optimism: how much of a figure comes from having looked at the test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..parts.protocols import VALIDATION, ProtocolPart
from .grouping import SEED_AND_PLACE, Arena, Cell, canonical, name
from .statistics import Summary, differences
from .tables import Column, Row, Table, units

SAME = "Here the best test epoch was the last in every run: nothing was gained by choosing it."


@dataclass(frozen=True)
class Optimism:
    """A cell whose epoch the test classes chose, and its twin, whose epoch validation classes chose."""

    cell: Cell
    twin: Cell | None

    @property
    def reported(self) -> Summary:
        return self._score(self.cell, self.cell.protocol.leading)

    @property
    def unchosen(self) -> Summary:
        """What the same runs scored where the test classes chose nothing."""
        return self._score(self.cell, self.cell.protocol.beside)

    @property
    def gain(self) -> Summary:
        return differences(self.reported, self.unchosen)

    @property
    def validated(self) -> Summary:
        """The twin's models, each scored alone; empty where there is no twin."""
        return self._score(self.twin, self.twin.protocol.chosen) if self.twin else Summary({})

    @property
    def combined(self) -> Summary:
        """The twin's models as one; empty where there is no twin."""
        return self._score(self.twin, self.twin.protocol.leading) if self.twin else Summary({})

    def _score(self, cell: Cell, which: str) -> Summary:
        return cell.scores(which, self.cell.headline)


def of_arena(arena: Arena, others: Sequence[Arena]) -> list[Optimism]:
    """Of every cell, the best first; none where validation classes chose."""
    if arena.protocol.watches != "test":
        return []
    twins = {
        _without_protocol(cell): cell
        for other in others
        if other.protocol.watches == VALIDATION
        for cell in other.finished
    }
    return [Optimism(cell, twins.get(_without_protocol(cell))) for cell in arena.finished]


def _without_protocol(cell: Cell) -> str:
    return canonical(
        {key: value for key, value in cell.config.items() if key not in (*SEED_AND_PLACE, "protocol")}
    )


def tables(arena: Arena, others: Sequence[Arena]) -> list[Table]:
    """The one table of it, where there is any."""
    found = of_arena(arena, others)
    if not found:
        return []
    twin = next((one.twin for one in found if one.twin), None)
    own, theirs = _own_columns(arena.protocol), _twin_columns(arena.protocol, twin.protocol) if twin else []
    columns = [
        Column("method", numeric=False),
        *(Column(name(key), numeric=False) for key in arena.factors),
        *own,
        *theirs,
    ]
    notes = [
        *units([arena.headline], "mean ± sample standard deviation over seeds"),
        own[-1].about,
        *([SAME] if all(one.reported == one.unchosen for one in found) else []),
        *(column.about for column in theirs[2:]),
    ]
    rows = [_row(one, bool(twin)) for one in found]
    return [Table("optimism", f"Optimism of {arena.headline}", arena.title, columns, rows, notes)]


def _own_columns(protocol: ProtocolPart) -> list[Column]:
    first, second = protocol.leading, protocol.beside
    gain = (
        f"{first} − {second}: what the choice of the test epoch adds to the same runs (mean ± spread of the gaps, seed "
        "by seed)."
    )
    return [
        *(Column(which, protocol.meaning(which)) for which in (first, second)),
        Column(f"{first} − {second}", gain),
    ]


def _twin_columns(protocol: ProtocolPart, validated: ProtocolPart) -> list[Column]:
    first, alone, together = protocol.leading, validated.chosen, validated.leading
    bound = (
        f"{first} − {alone}: what it adds to models that never saw the test set before they were scored. Those were "
        "trained on fewer classes, since a part was kept back for validation. So this gap is an upper bound of the "
        "optimism, apart from noise."
    )
    ensemble = f"{first} − {together}: against the models of all folds side by side, an ensemble of several times the size."
    return [
        *(Column(which, f"{validated.key}: {validated.meaning(which)}") for which in (alone, together)),
        Column(f"{first} − {alone}", bound),
        Column(f"{first} − {together}", ensemble),
    ]


def _row(one: Optimism, paired: bool) -> Row:
    values: list[Any] = [one.cell.method, *map(one.cell.factor, one.cell.factors)]
    values += [one.reported, one.unchosen, one.gain]
    if paired:
        values += [one.validated, one.combined]
        values += [differences(one.reported, score) for score in (one.validated, one.combined)]
    return Row(values, cell=one.cell.key)
