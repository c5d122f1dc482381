from typing import Any

from ...base.options import Count
from .shared.base import KIND, Protocol, Trained


@KIND.register(
    title="Train half and test half, the best test epoch",
    also=("best epoch", "test"),
    watches="test",
    results={
        "untrained": "before any training",
        "best": "at the best test epoch, as the study reports it: the test set chose the epoch",
        "last": "after the last epoch: nothing was chosen",
        "beforehand": "at the epoch that was set beforehand, such as a search chose on validation classes",
    },
    leading="best",
    beside="last",
    comparable=("criterion",),
)
class Paper(Protocol):
    """All classes of the train half are trained on; after its epochs the trial is scored on the test half.

    The best of these scores is what Fehérvári et al. and most papers report, so the test set has chosen the epoch;
    the score of the last epoch, which nothing chose, stands beside it.

    criterion: the metric that chooses the best epoch; nothing: the headline of the evaluation.
    epoch: an epoch to report besides, chosen before the trial: the one that a search found best on validation classes. The
        epochs of an ensemble's members are counted through.
    """

    epoch: Count | None = None

    def check(self, epochs: int, members: int, every: int) -> None:
        if self.epoch is not None:
            own = (self.epoch - 1) % max(epochs, 1) + 1
            self.require(
                self.epoch <= epochs * members and (own % every == 0 or own == epochs),
                f"epoch {self.epoch} is not one of the {epochs * members} epochs, or is not evaluated.",
            )

    def results(self, trained: Trained) -> dict[str, Any]:
        entries = trained.entries(0)
        found = {"untrained": entries[0], "last": trained.last(0), "best": trained.best(0)}
        return found if self.epoch is None else {**found, "beforehand": entries[self.epoch]}
