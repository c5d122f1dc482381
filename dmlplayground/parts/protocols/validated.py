import statistics
from collections.abc import Mapping
from typing import Any

from .. import metrics
from .shared.base import KIND, VALIDATION, ClassFold, Protocol, Trained


@KIND.register(
    title="Folds of the train half choose the epoch, the test half is scored once",
    also=("cross validation", "realistic evaluation", "musgrave2020"),
    watches=VALIDATION,
    results={
        "untrained": "before any training",
        "separate": "the mean over the folds' models, each scored alone; validation classes chose the epochs",
        "joined": "the embeddings of all folds' models side by side; validation classes chose the epochs",
    },
    leading="joined",
    beside="separate",
    trained="joined",
    chosen="separate",
    labels={"joined": "concatenated", "separate": "separated"},
    comparable=("folds", "only", "first", "criterion"),
)
class Validated(Protocol):
    """Classes of the train half are kept back in turn, and choose the epoch; the test half is scored once.

    The classes form a ring in their order. Of n classes fold i trains on those from floor(i n / folds) on, n less
    floor(n / folds) of them, and is watched on the others. The best epoch's model of each fold is then scored on the
    test half: alone (separated, the mean over folds) and with those of all folds side by side (concatenated), as
    Musgrave et al. report it.

    folds: into how many parts the classes are divided; there is a training without each of them.
    only: train so many of the folds; nothing: all of them. One of four is enough to judge a search's trial by, at a quarter
        of the cost.
    first: the number of the first fold that is trained, counted from 0; the others follow it.
    patience: a fold ends after this many evaluations without a better one; nothing: it trains all of its epochs.
    untrained_counts: whether the untrained network is one to be better than when patience is measured. It is never the
        model that is scored.
    criterion: the metric that chooses a fold's epoch, and by which a search ranks its trials.
    """

    def __init__(
        self,
        *,
        folds: int = 4,
        only: int | None = None,
        first: int = 0,
        patience: int | None = None,
        untrained_counts: bool = False,
        criterion: str = metrics.CRITERION,
    ):
        super().__init__(criterion=criterion)
        self.require(2 <= folds <= 1000, f"folds must be from 2 to 1000, not {folds}.")
        self.require(
            only is None or 1 <= only <= folds, f"only must be from 1 to the number of folds, not {only}."
        )
        self.require(0 <= first < folds, f"first must be from 0 to below the number of folds, not {first}.")
        self.require(patience is None or patience >= 1, f"patience must be at least 1, not {patience}.")
        self.count = folds
        self.only = only
        self.first = first
        self.patience = patience
        self.untrained_counts = untrained_counts

    @property
    def trainings(self) -> int:
        return self.only or self.count

    def folds(self, classes: int) -> list[ClassFold]:
        self.require(classes >= 2 * self.count, f"{classes} classes are too few for {self.count} folds.")
        trained = classes - classes // self.count
        found = []
        for number in range(self.trainings):
            start = (self.first + number) % self.count * classes // self.count
            ring = [*range(start, classes), *range(start)]
            found.append(ClassFold(number, sorted(ring[:trained]), sorted(ring[trained:])))
        return found

    def results(self, trained: Trained) -> dict[str, Any]:
        chosen = [trained.best(fold) for fold in range(self.trainings)]
        return {
            "untrained": trained.untrained(),
            "separate": [
                {**entry, VALIDATION: entry["metrics"], **trained.tested(entry["weights"])}
                for entry in chosen
            ],
            "joined": trained.tested([name for entry in chosen for name in entry["weights"]]),
        }

    def judged(self, results: Mapping[str, Any]) -> float | None:
        found = [fold[VALIDATION].get(self.criterion) for fold in results[KIND.get(self.key).chosen]]
        return None if None in found else statistics.mean(found)
