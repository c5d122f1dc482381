"""What searches by halving say of length: every rung trains settings for a length of its own, so the best of each rung is what a
method reaches in that time."""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from ..base import files
from ..base.errors import UserError
from ..parts import metrics
from ..parts.layers import expand
from . import orders
from .tables import Column, Row, Table
from .variance import Comparison

TRIED = "search.json"  # what a search leaves: all that it tried
NOTE = (
    "The best validation score of a search's trials of each length, in percent, mean over searches. Each length is a training of "
    "its own, with its own schedule; shorter ones had more trials to choose from."
)


class Lengths(NamedTuple):
    """The best score of every method at every length, by search."""

    metric: str
    scores: Mapping[Fraction, Mapping[str, Mapping[int, float]]]

    @property
    def shares(self) -> list[Fraction]:
        """Of the final length, the shortest first."""
        return sorted(self.scores)

    def compared(self, share: Fraction) -> Comparison:
        """The methods at a length, over searches."""
        found = {
            name: {((), number, 0): value for number, value in values.items()}
            for name, values in self.scores[share].items()
        }
        return Comparison.of(found, metrics.get(self.metric).higher_is_better)


def read(folder: Path) -> Lengths | None:
    """Those of all searches by halving in a folder and below. None if there are none."""
    scores: dict[Fraction, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    metric = ""
    for path in sorted(folder.glob(f"**/{TRIED}")):
        content = files.read_json(path)
        if not isinstance(content, dict) or not isinstance(content.get("tried"), list):
            raise UserError(f"{path} is not the record of a search.")
        if "rungs" in content:
            config = expand(content["config"])
            metric = metric or (config.get("protocol") or {}).get("criterion") or metrics.CRITERION
            method = (config.get("method") or {}).get("name") or path.parent.name
            for share, value in _best(content, metrics.get(metric)).items():
                scores[share][method][content.get("number", 0)] = value
    return Lengths(metric, scores) if scores else None


def _best(content: Mapping[str, Any], metric: metrics.Metric) -> dict[Fraction, float]:
    """The best score of every length, in percent. Of two rungs of one length the later counts: it judges anew."""
    found = {}
    for number, rung in enumerate(content["rungs"]):
        reached = (one for proposal in content["tried"] for one in proposal.get("reached", [])[number:][:1])
        if values := [one["value"] for one in reached if one.get("value") is not None]:
            best = (max if metric.higher_is_better else min)(values)
            found[Fraction(rung["length"])] = metric.scale * best
    return found


def named(share: Fraction) -> str:
    return "the full length" if share == 1 else f"{share} of the length"


def table(found: Lengths, title: str) -> Table | None:
    """A row for every method, in the order of the longest training, and the taus with that order. None of one length alone."""
    if len(found.shares) < 2:
        return None
    compared = {share: found.compared(share) for share in found.shares}
    last = compared[found.shares[-1]]
    columns = [Column("method", numeric=False), *(Column(named(share)) for share in found.shares)]
    rows = [
        Row([name, *(one.mean(name) if name in one.means else None for one in compared.values())])
        for name in last.methods
    ]
    taus = [orders.agreement(one, last) for one in compared.values()]
    rows.append(Row(["tau with the last", *(one.tau if one else None for one in taus)]))
    return Table("lengths", f"Order by length: {found.metric}", title, columns, rows, [NOTE])
