from __future__ import annotations

from .shared.base import KIND, Protocol


@KIND.register(
    title="Train half and test half, the best test epoch",
    also=("best epoch", "test"),
    watches="test",
    results={
        "untrained": "before any training",
        "best": "at the best test epoch, as the study reports it: the test set chose the epoch",
        "last": "after the last epoch: nothing was chosen",
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
    """

    def results(self, trained):
        return {"untrained": trained.entries(0)[0], "last": trained.last(0), "best": trained.best(0)}
