from typing import Any

from .shared.base import KIND, VALIDATION, Trained
from .validated import Validated


@KIND.register(
    title="Folds of the train half judge, the test half is not looked at",
    also=("search",),
    watches=VALIDATION,
    tests=False,
    results={
        "untrained": "before any training, on the validation classes of the first fold",
        "judged": "on the validation classes that chose the epochs: the mean over folds",
    },
    leading="judged",
    beside="untrained",
    trained="judged",
    chosen="judged",
    comparable=("folds", "only", "first", "criterion"),
)
class ValidationOnly(Validated):
    """As ``validated``, but nothing is scored on the test half: for searches, whose trials are many and of no interest
    there.
    """

    def results(self, trained: Trained) -> dict[str, Any]:
        chosen = [trained.best(fold) for fold in range(self.trainings)]
        return {
            "untrained": trained.entries(0)[0],
            "judged": [{**entry, VALIDATION: entry["metrics"]} for entry in chosen],
        }
