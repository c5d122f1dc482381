"""How much of a result is the network, and how much the method: one table of all networks under the same methods."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from dmlplayground.parts import protocols
from dmlplayground.reports import usable_records
from dmlplayground.reports.grouping import score
from dmlplayground.reports.tables import Column, Row, Table, body
from dmlplayground.trial.store.records import Record

WHICH, METRIC = "last", "R@1"  # nothing was chosen
ABOUT = (
    "Heads of 128 numbers on the frozen features of every network whose weights come with a package, and a small network trained "
    "from scratch, all with the same few settings (`experiments/backbones_grocery.yaml`). Nothing was tuned, so no order of the "
    "methods follows."
)
NOTE = (
    f"{METRIC} after the last epoch, in percent: means of the same divisions of the classes and the same seeds. ResNet-50 v1 has "
    "the weights of He et al., not those of torchvision."
)


def of_store(page: Any, store: Path) -> None:
    """A section with the store's networks; nothing if it is not there."""
    records = usable_records.load(store) if store.is_dir() else []
    scores: dict[str, dict[str, list[float]]] = {}
    for record in records:
        if (value := score(record, WHICH, METRIC)) is not None:
            own = scores.setdefault(_network(record), {})
            own.setdefault(record.config["method"]["name"], []).append(value)
            if (untouched := score(record, protocols.UNTOUCHED, METRIC)) is not None:
                own.setdefault(protocols.UNTOUCHED_FEATURES, []).append(untouched)
    if len(scores) < 2:
        return
    means = {name: {method: fmean(values) for method, values in own.items()} for name, own in scores.items()}
    networks = sorted(means, key=lambda name: -max(means[name].values()))
    methods = sorted({record.config["method"]["name"] for record in records})
    page.blocks.append("## How much the network is")
    page.say(
        ABOUT,
        f"A method's best and worst network are {_spans([[means[name][m] for name in networks] for m in methods])} apart; "
        f"a network's best and worst method {_spans([[means[name][m] for m in methods] for name in networks])}.",
    )
    heads = [protocols.UNTOUCHED_FEATURES, *methods]
    columns = [Column("network", numeric=False), *map(Column, heads)]
    rows = [Row([name, *(means[name].get(head) for head in heads)]) for name in networks]
    page.blocks.append(body(Table("networks", "Networks", "grocery", columns, rows, [NOTE])))


def _network(record: Record) -> str:
    data, backbone = record.config["data"], record.config["backbone"]
    return f"{data['backbone']}, frozen" if data["name"] == "frozen" else f"{backbone['name']}, from scratch"


def _spans(groups: Sequence[Sequence[float]]) -> str:
    """The smallest and the largest distance between the ends of a group."""
    spans = sorted(max(group) - min(group) for group in groups)
    return f"{spans[0]:.1f} to {spans[-1]:.1f} points"
