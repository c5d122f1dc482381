"""What was equal for all methods, as the records have it, and what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from .. import cost
from ..grouping import SEED_AND_PLACE, Cell, plain
from ..tables import Column, Row, Table, body, text
from .sections import NOTHING, Section, listed
from .sources import Network, Sources, network_name


def _mean(of_record: Callable) -> Callable[[Cell], Any]:
    return lambda cell: round(fmean(of_record(record) for record in cell.records))


def _name(key: str) -> Callable[[Cell], Any]:
    return lambda cell: cell.config[key]["name"]


def _width(cell: Cell) -> Any:
    if cell.config["head"]["to_classes"]:
        return "as many as classes to train"
    return int(cell.config["embed_dim"] * cell.config["ensemble"]["members"])


def _schedule(cell: Cell) -> str:
    """Its name, and the options that are set."""
    name, *options = sorted(cell.config["schedule"].items(), key=lambda one: one[0] != "name")
    return ", ".join([name[1], *(f"{key} {plain(value)}" for key, value in options if value)])


@dataclass(frozen=True)
class Condition:
    """Something that is to be the same for all methods, and the keys of the configuration that it covers."""

    name: str
    of_cell: Callable[[Cell], Any]
    covers: tuple[str, ...] = ()


CONDITIONS = (
    Condition("images seen in training", _mean(cost.images)),
    Condition("steps", _mean(cost.steps), ("iterations", "epochs")),
    Condition("images a batch", lambda cell: cell.config["batch_size"], ("batch_size",)),
    Condition("size of the embedding, of all members together", _width, ("embed_dim", "head.to_classes")),
    Condition("members of the ensemble", lambda cell: cell.config["ensemble"]["members"], ("ensemble.",)),
    Condition("looks at the test classes", _mean(cost.looks), ("evaluation.",)),
    Condition("backbone", network_name, ("backbone.",)),
    Condition("optimizer", _name("optimizer"), ("optimizer.name",)),
    Condition("schedule", _schedule, ("schedule.",)),
    Condition("transform", _name("transform"), ("transform.",)),
)
OF_THE_METHOD = "method."  # a method is its loss with its options


def section(sources: Sources) -> Section:
    made = Section(["## Conditions"])
    if not sources.networks:
        made.say(NOTHING)
    for network in sources.networks:
        _of_network(made, network)
    return made


def _of_network(made: Section, network: Network) -> None:
    made.blocks.append(f"### Equal on {network.name}")
    found = [(condition, *_rule(condition, network.cells)) for condition in CONDITIONS]
    unequal = [condition.name for condition, _, exceptions in found if exceptions]
    made.say(
        f"Of {len(found)} conditions, {len(found) - len(unequal)} are the same for all "
        f"{len(network.cells)} methods.",
        f"Exceptions: {listed(unequal)}. Where a method is an exception, its score is not one under equal conditions."
        if unequal
        else "",
    )
    rows = [Row([condition.name, text(rule), _told(exceptions)]) for condition, rule, exceptions in found]
    columns = [Column(name, numeric=False) for name in ("condition", "value", "exceptions")]
    made.blocks.append(body(Table("conditions", "Conditions", network.name, columns, rows)))
    free = chosen_keys(network.cells)
    made.say(
        "Beside the options of the method itself, the configurations differ in "
        f"{listed((f'`{key}`' for key in free), most=len(free))}: what a method chose for itself."
        if free
        else "Beside the options of the method itself, the configurations do not differ."
    )


def _rule(condition: Condition, cells: list[Cell]) -> tuple[Any, dict[str, Any]]:
    """The value that most methods have, and those of the others."""
    values = {cell.label: condition.of_cell(cell) for cell in cells}
    rule, _ = Counter(values.values()).most_common(1)[0]
    return rule, {label: value for label, value in values.items() if value != rule}


def _told(exceptions: dict[str, Any]) -> str:
    return "; ".join(f"{label}: {text(value)}" for label, value in exceptions.items())


def chosen_keys(cells: list[Cell]) -> list[str]:
    """The keys in which the configurations differ, but for the method's own options and the conditions above."""
    covered = (OF_THE_METHOD, *SEED_AND_PLACE, *(key for one in CONDITIONS for key in one.covers))
    keys = dict.fromkeys(key for cell in cells for key in cell.flat)
    return [
        key
        for key in keys
        if not key.startswith(covered) and len({plain(cell.flat.get(key)) for cell in cells}) > 1
    ]
