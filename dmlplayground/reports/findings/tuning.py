"""How the methods were tuned: counted in what the searches left."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

from ...base.layout import plural
from ...parts import protocols
from ...parts.protocols import VALIDATION
from ...trial import config
from ..grouping import Cell, shown
from ..tables import Column, Row, Table, body
from .sections import Section, listed
from .sources import COMPARED, Network, Sources, Tuning, network_name

CLOSE = 1e-3  # relative: files of hyperparameters may hold fewer digits than the search


def section(sources: Sources) -> Section:
    made = Section(["## Tuning"])
    networks = {COMPARED[network.store]: network for network in sources.networks}
    for store, tunings in sources.tunings.items():
        _of_store(made, store, tunings, networks.get(store))
    if not sources.tunings:
        made.say("There are no records of searches yet.")
    return made


def _of_store(made: Section, store: str, tunings: list[Tuning], network: Network | None) -> None:
    """The searches for one network, and whether the methods were compared with what they found."""
    names = {network_name(Cell(config.of_today(one.config))) for tuning in tunings for one in tuning.records}
    title = listed(sorted(names))
    made.blocks.append(f"### For {title}")
    usual, methods = Counter(len(one.tried) for one in tunings).most_common(1)[0]
    others = [f"{one.method} ({len(one.tried)})" for one in tunings if len(one.tried) != usual]
    made.say(
        f"{plural(methods, 'method')} had {plural(usual, 'trial')} each (`{store}`).",
        f"Others had more or fewer: {listed(others)}." if others else "",
        _judged(tunings),
        _kept(network) if network else "",
    )
    heads = ("method", "trials", "by outcome", "what was searched, and the winner's values", "winner's score")
    columns = [Column(head, numeric=head in ("trials", "winner's score")) for head in heads]
    made.blocks.append(body(Table("tuning", "Tuning", title, columns, [*map(_row, tunings)])))
    criteria = {one.criterion.label for one in tunings}
    made.say(
        f"The winner's score is {listed(sorted(criteria))} on validation classes. These are other and fewer classes than the "
        "test classes, so it is not to be compared with the scores below."
    )


def _judged(tunings: list[Tuning]) -> str:
    """Which classes the searches were judged by."""
    watched = {
        protocols.get(record.config["protocol"]["name"]).watches for one in tunings for record in one.records
    }
    if watched == {VALIDATION}:
        return (
            "All of these trials were judged by validation classes alone; the test classes had no part in it."
        )
    return ""


def _row(one: Tuning) -> Row:
    states = Counter(trial["state"] for trial in one.tried)
    best = one.winner
    values = best["values"] if best else {}
    told = [f"`{key}` {_value(values[key])}" if key in values else f"`{key}`" for key in one.searched]
    score = one.criterion.shown(best["value"]) if best else None
    outcome = ", ".join(f"{count} {state}" for state, count in states.most_common())
    return Row([one.method, len(one.tried), outcome, ", ".join(told), score])


def _value(value: Any) -> str:
    """A choice is kept as JSON."""
    return shown(json.loads(value) if isinstance(value, str) else value)


def _kept(network: Network) -> str:
    """Whether the methods were then compared with the settings that won, and with seeds of their own."""
    found = {one.method: one for one in network.tunings}
    untuned = [cell.label for cell in network.cells if cell.label not in found]
    known = [cell for cell in network.cells if cell.label in found and found[cell.label].winning]
    others = [cell.label for cell in known if not _has_values(cell, found[cell.label])]
    told = [f"There is no search for {listed(untuned)}."] if untuned else []
    if others:
        verb = "was" if len(others) == 1 else "were"
        told.append(f"{listed(others)} {verb} compared with other values than those that won.")
    elif known:
        told.append(f"The trials below have the values that won ({plural(len(known), 'method')} checked).")
    return " ".join([*told, _seeds(network)])


def _seeds(network: Network) -> str:
    """Whether a search has seen the seeds of the comparison."""
    searched = {record.seed for one in network.tunings for record in one.records}
    seen = searched & {record.seed for cell in network.cells for record in cell.records}
    if not searched:
        return ""
    if seen:
        return f"The searches saw seeds of the comparison: {listed(map(str, sorted(seen)))}."
    return f"The comparison has seeds that no search saw (theirs: {listed(map(str, sorted(searched)))})."


def _has_values(cell: Cell, one: Tuning) -> bool:
    """Whether it agrees with the winner in everything that was searched."""
    won = Cell(config.of_today(one.winning.config)).flat if one.winning else {}
    keys = [
        key
        for key in {**won, **cell.flat}
        if any(key == searched or key.startswith(f"{searched}.") for searched in one.searched)
    ]
    return all(_same(cell.flat.get(key), won.get(key)) for key in keys)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=CLOSE)
    return bool(one == other)
