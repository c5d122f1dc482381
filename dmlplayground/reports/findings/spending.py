"""What it all cost."""

from __future__ import annotations

from ...trial.store.records import Record
from .. import cost
from ..tables import Column, Row, Table, body
from .sections import Section
from .sources import Sources

HOUR = 3600


def section(sources: Sources) -> Section:
    made = Section(["## What it cost"])
    if not sources.stores:
        made.say("There are no records yet.")
        return made
    every = [record for found in sources.stores.values() for record in found]
    trained, evaluated, _ = hours(every)
    made.say(
        f"{len(every):,} trials in all, those of the searches among them: {trained:.1f} hours of processor time for "
        f"training and {evaluated:.1f} hours of evaluation. Times are those of the machine that ran them; images, steps and "
        "looks are the same on any."
    )
    made.blocks.append(body(_stores(sources)))
    for network in sources.networks:
        made.blocks.append(f"### By method, on {network.name}")
        made.blocks.append(body(cost.table(network.arena)))
    return made


def hours(found: list[Record]) -> tuple[float, float, float]:
    """Of the processor for training, of evaluation, and from the start of trials to their end."""
    worked = sum(cost.processor(record) or 0.0 for record in found)
    looked = sum(cost.evaluation(record) for record in found)
    return worked / HOUR, looked / HOUR, sum(record.seconds for record in found) / HOUR


def _stores(sources: Sources) -> Table:
    heads = (
        "store",
        "trials",
        "images seen",
        "processor hours of training",
        "hours of evaluation",
        "hours of trials",
    )
    columns = [Column(head, numeric=number > 0) for number, head in enumerate(heads)]
    rows = []
    for name, found in sources.stores.items():
        seen = sum(cost.images(record) for record in found)
        rows.append(Row([f"`{name}`", len(found), seen, *(round(one, 2) for one in hours(found))]))
    notes = ["Hours of trials are added up over workers that ran side by side."]
    return Table("stores", "Stores", "", columns, rows, notes)
