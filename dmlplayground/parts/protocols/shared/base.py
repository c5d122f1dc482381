"""The base of every protocol: the registry, its facts, and what it may ask of training.

A protocol only deals with class numbers and with entries of a record; training has images, networks and weights.
"""

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....base.errors import UserError
from ....base.registry import Kind, Named, Part

Entry = dict[str, Any]  # what a record holds of an epoch or of a result: metrics, weights, ...
UNTRAINED = "untrained"  # the result that every protocol has: the network before any training
UNTRAINED_HEAD = "untrained head"  # what tables call it where the network below the head is a trained one
# The result that every trial has that begins with a trained network: its features before any head.
UNTOUCHED = "untouched"
UNTOUCHED_FEATURES = "untouched features"  # what tables call it
# The classes that are kept back from training, and the scores on them beside a result.
VALIDATION = "validation"


class ClassFold(NamedTuple):
    """One training of the trial: the positions of the classes it trains on and of those it keeps back, in order.

    >>> fold = dml.protocols.create("validated", folds=4).folds(98)[0]
    >>> len(fold.train), len(fold.kept)
    (74, 24)
    """

    number: int
    train: Sequence[int]
    kept: Sequence[int]


class Trained(typing.Protocol):
    """What a protocol can ask training once all folds are done.

    >>> hasattr(dml.protocols.Trained, "best")
    True
    """

    def entries(self, fold: int) -> Sequence[Entry]:
        """Everything recorded about the fold's epochs, the untrained network first."""

    def last(self, fold: int) -> Entry:
        """Its last epoch, with the weights."""

    def best(self, fold: int) -> Entry:
        """Its best epoch by the criterion, with the weights; the last one if none was evaluated."""

    def untrained(self) -> Entry:
        """The metrics of an untrained network on the test classes."""

    def tested(self, files: Sequence[str]) -> Entry:
        """The metrics of the models with these weights, side by side, on the test classes."""


class Protocol(Named):
    """Base: one training on all classes. A subclass says what is kept back (``folds``) and what comes out (``results``).

    >>> dml.protocols.create("paper").trainings
    1
    """

    kind = "protocol"

    #: For protocols that watch validation classes: the number of evaluations without a better one after which training
    #: stops, and whether the untrained network is one to be better than.
    patience: int | None = field(default=None, init=False)
    untrained_counts = False

    criterion: str | None = None

    @property
    def trainings(self) -> int:
        """How many folds there are."""
        return 1

    def check(self, epochs: int, members: int, every: int) -> None:
        """Raise UserError if nothing can come out of so many epochs of each of the members that are trained in turn, with
        an evaluation in ``every`` epochs."""

    def folds(self, classes: int) -> list[ClassFold]:
        """How this many training classes are divided."""
        return [ClassFold(0, range(classes), ())]

    def stops(self, evaluated: Sequence[tuple[int, float]], every: int, higher: bool) -> bool:
        """Whether to stop, given the evaluations so far as (epoch, criterion). Epoch 0 is the untrained network; there
        is one evaluation in ``every`` epochs."""
        counted = [one for one in evaluated if one[0] or self.untrained_counts]
        if self.patience is None or not counted:
            return False
        best, _ = max(counted, key=lambda one: (one[1] if higher else -one[1], -one[0]))
        return (evaluated[-1][0] - best) // every >= self.patience

    def results(self, trained: Trained) -> dict[str, Any]:
        """The record's results, by the keys that the protocol's record lists."""
        raise NotImplementedError

    def judged(self, results: Mapping[str, Any]) -> float | None:
        """The criterion on the classes that were kept back, by which a search ranks trials; nothing if it is not finite."""
        raise UserError(f"the protocol {self.key} has no validation classes to judge a search by.")


@dataclass(frozen=True)
class ProtocolPart(Part):
    """What tables, pages and searches need to know of a protocol.

    Trials of different protocols are never compared in one table; those of one protocol only where they agree in the
    options listed as ``comparable``.

    >>> dml.protocols.get("validated").leading
    'joined'
    """

    watches: str = "test"  # the classes that a trial is evaluated on after its epochs: "test" or "validation"
    tests: bool = True  # whether anything is scored on test classes; if not, it is for searches alone
    results: Mapping[str, str] = field(default_factory=dict)  # each key of a record's results, and what it is
    leading: str = "best"  # the result that tables rank by
    beside: str = "last"  # the one shown beside it
    trained: str = "last"  # where training ended, whatever was chosen: compared with the untrained network
    chosen: str = "best"  # the one that holds everything recorded about the chosen epochs
    # Other names of results, as the protocol's study has them.
    labels: Mapping[str, str] = field(default_factory=dict)
    comparable: tuple[str, ...] = ()  # the options in which trials must agree to be compared

    def measured(self, results: Mapping[str, Any], which: str) -> list[Mapping[str, Any]]:
        """The metrics of a result, one set for each of its models; empty if there is no such result."""
        outcome = results.get(self.chosen if which == VALIDATION else which) or []
        entries = outcome if isinstance(outcome, list) else [outcome]
        return [entry.get(VALIDATION if which == VALIDATION else "metrics", {}) for entry in entries]

    def untouched(self, results: Mapping[str, Any], which: str) -> Mapping[str, Any]:
        """The metrics of the untouched features on the classes of the result ``which``; empty if the trial has none."""
        return results.get(UNTOUCHED, {}).get(VALIDATION if which == VALIDATION else "metrics", {})

    def meaning(self, which: str) -> str:
        """What a result is."""
        if which == VALIDATION:
            return "on the classes that chose the epochs, which the search maximises: the mean over folds"
        return self.results[which]

    @property
    def facts(self) -> dict[str, str]:
        return {"watches": f"{self.watches} classes", "leads": self.leading}


KIND: Kind[ProtocolPart, Protocol] = Kind("protocol", "dmlplayground.parts.protocols", ProtocolPart)
