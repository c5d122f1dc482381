"""Optimism: how much of a score comes from having looked at the test set."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..parts.protocols import VALIDATION, ProtocolPart
from . import columns
from .columns import Field
from .grouping import SEED_AND_PLACE, Arena, Cell, canonical
from .statistics import Summary, differences
from .tables import Column, Table, units

SAME = "Here the best test epoch was the last in every run: nothing was gained by choosing it."


class Optimism(NamedTuple):
    """A cell whose epoch the test classes chose, and its twin, whose epoch validation classes chose."""

    cell: Cell
    twin: Cell | None

    @property
    def reported(self) -> Summary:
        return self.cell.scores(self.cell.protocol.leading, self.cell.headline)

    @property
    def unchosen(self) -> Summary:
        """What the same runs scored where the test classes chose nothing."""
        return self.cell.scores(self.cell.protocol.beside, self.cell.headline)

    @property
    def gain(self) -> Summary:
        return differences(self.reported, self.unchosen)

    @property
    def validated(self) -> Summary:
        """The twin's models, each scored alone."""
        return self.of_twin(self.twin.protocol.chosen) if self.twin else Summary({})

    def of_twin(self, which: str) -> Summary:
        return self.twin.scores(which, self.cell.headline) if self.twin else Summary({})


def of_arena(arena: Arena, others: Sequence[Arena]) -> list[Optimism]:
    """Of every cell, the best first; none where validation classes chose."""
    if arena.protocol.watches != "test":
        return []
    validated = [other for other in others if other.protocol.watches == VALIDATION]
    twins = {_without_protocol(cell): cell for other in validated for cell in other.finished}
    return [Optimism(cell, twins.get(_without_protocol(cell))) for cell in arena.finished]


def _without_protocol(cell: Cell) -> str:
    return canonical({key: cell.config[key] for key in cell.config.keys() - {*SEED_AND_PLACE, "protocol"}})


def tables(arena: Arena, others: Sequence[Arena]) -> list[Table]:
    """The one table of it, where there is any."""
    found = {one.cell.key: one for one in of_arena(arena, others)}
    if not found:
        return []
    twin = next((one.twin for one in found.values() if one.twin), None)
    own, theirs = _own(arena.protocol), _beside_twin(arena.protocol, twin.protocol) if twin else {}

    def field(column: Column, value: Callable[[Optimism], Summary]) -> Field:
        return Field(column, lambda cell: value(found[cell.key]))

    fields = [field(column, value) for column, value in {**own, **theirs}.items()]
    notes = [
        *units([arena.headline], "mean ± sample standard deviation over seeds"),
        [*own][-1].about,
        *([SAME] if all(one.reported == one.unchosen for one in found.values()) else []),
        *(column.about for column in theirs if column.about.startswith(column.name)),
    ]
    title = f"Optimism of {arena.headline}"
    return [columns.table("optimism", title, arena, [*columns.naming(arena), *fields], notes)]


Values = dict[Column, Callable[[Optimism], Summary]]


def _own(protocol: ProtocolPart) -> Values:
    first, second = protocol.leading, protocol.beside
    gain = f"{first} − {second}"
    about = f"{gain}: what the choice of the test epoch adds to the same runs (mean ± spread of the gaps, seed by seed)."
    return {
        Column(first, protocol.meaning(first)): lambda one: one.reported,
        Column(second, protocol.meaning(second)): lambda one: one.unchosen,
        Column(gain, about): lambda one: one.gain,
    }


def _beside_twin(protocol: ProtocolPart, validated: ProtocolPart) -> Values:
    first, alone, together = protocol.leading, validated.chosen, validated.leading
    bound = (
        f"{first} − {alone}: what it adds to models that never saw the test set before they were scored. Those were "
        "trained on fewer classes, since a part was kept back for validation. So this gap is an upper bound of the "
        "optimism, apart from noise."
    )
    ensemble = f"{first} − {together}: against the models of all folds side by side, an ensemble of several times the size."
    kinds: list[tuple[str, str, Callable[[Optimism], Summary]]] = [(alone, bound, lambda one: one.validated)]
    if together != alone:
        kinds.append((together, ensemble, lambda one: one.of_twin(together)))
    shown = {Column(which, f"{validated.key}: {validated.meaning(which)}"): of for which, _, of in kinds}
    return shown | {
        Column(f"{first} − {which}", about): lambda one, of=of: differences(one.reported, of(one))
        for which, about, of in kinds
    }
