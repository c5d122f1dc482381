from collections.abc import Sequence
from typing import Any

from .. import metrics
from .shared.base import KIND, Protocol, Trained


@KIND.register(
    title="Train half and test half, the best test epoch of each metric",
    also=("maximum per metric", "roth2020"),
    watches="test",
    results={
        "untrained": "before any training",
        "maximum": "of every metric the best over all test epochs: the test set chose an epoch for each column",
        "best": "at the best test epoch: the test set chose the epoch",
        "last": "after the last epoch: nothing was chosen",
    },
    leading="maximum",
    beside="last",
)
class PerMetric(Protocol):
    """As ``paper``, but every metric is reported at its own best test epoch, as Roth et al. do.

    No single model has all of these scores: each is the highest of its column. The result ``best`` is one model, that
    of the best epoch by the criterion.

    criterion: the metric that chooses the epoch of ``best``, whose weights are kept; nothing: the headline.
    """

    def results(self, trained: Trained) -> dict[str, Any]:
        return {
            "untrained": trained.entries(0)[0],
            "maximum": maximum(trained.entries(0)),
            "last": trained.last(0),
            "best": trained.best(0),
        }


def maximum(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The best value of every metric after training began, and its epoch (the first of equals)."""
    found: dict[str, Any] = {}
    for entry in entries[1:] or entries:
        for name, value in entry.get("metrics", {}).items():
            if value is None:  # not finite
                continue
            if name not in found or metrics.get(name).better(value, found[name][0]):
                found[name] = value, entry["epoch"]
    return {
        "measured_on": "test",
        "metrics": {name: value for name, (value, _) in found.items()},
        "epochs": {name: epoch for name, (_, epoch) in found.items()},
    }
