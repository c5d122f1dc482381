"""The table of metrics: what each is computed from, which way it points, its unit and its label.

A metric is a function in a file of this package, and its record says what the function is given:

* "ranks": where the positives of every query stand (``engine.ranks.Ranks``); it returns one value a query, and the
  metric is their mean over the queries that count;
* "clusters": the classes and the clusters of the same points;
* "embeddings": the embeddings and their labels.

A name that ends in ``@K`` is a family: ``R@10`` is the metric ``R@K`` with K = 10.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ....base import registry
from ....base.errors import UserError
from ....base.options import Must

HIGHEST_RANK = 10**6
MEMBER = re.compile(r"(.*@)(-?\d+)$")  # of a family
FROM_ONE = Must(
    f"be from 1 to {HIGHEST_RANK}", range(1, HIGHEST_RANK + 1).__contains__
)  # a process can send it
NOT_ZERO = Must("be other than 0", lambda k: k != 0)


@dataclass(frozen=True)
class Metric(registry.Part):
    """What is known of one metric, or of a family of them.

    >>> dml.metrics.get("R@1").shown(0.5368)
    '53.68'
    """

    needs: str = "ranks"
    higher_is_better: bool = True
    percent: bool = True  # a fraction, which is shown in percent; otherwise a number without a unit
    least: float = 0.0  # of a fraction: below 0 where chance is taken off
    # Whether it is better where classes lie closer together and further apart; else it is worse there.
    separates: bool = True
    leads: bool = False  # one of the few that are shown where there is no room for all
    numbers: Must | None = None  # of a family: which K its members' names may end in
    number: int | None = None  # the K of one of its members
    looks_at_all: bool = False  # needs the ranks of all positives, however deep

    given: ClassVar[tuple[str, ...]] = ("ranks", "classes", "clusters", "embeddings", "labels", "k")

    @property
    def family(self) -> str:
        """The key in the table: ``R@K`` for ``R@10``."""
        return self.key if self.number is None else re.sub(r"-?\d+$", "K", self.key)

    @property
    def label(self) -> str:
        """What stands at an axis."""
        return f"{self.key} (%)" if self.percent else self.key

    @property
    def suffix(self) -> str:
        """What follows its name at an axis."""
        return f"{', %' * self.percent}{', lower is better' * (not self.higher_is_better)}"

    @property
    def scale(self) -> float:
        """What a recorded value is multiplied by to be shown."""
        return 100.0 if self.percent else 1.0

    @property
    def facts(self) -> dict[str, str]:
        return {
            "from": self.needs,
            "better": "higher" if self.higher_is_better else "lower",
            "unit": "percent" if self.percent else "none",
        }

    def shown(self, value: float | None) -> str:
        """A recorded value as a reader wants it: ``53.68``. Records have None for what is infinite or undefined."""
        if value is None:
            return "–"
        return f"{self.scale * value:.{2 if self.percent else 4}f}"

    def better(self, one: float | None, other: float | None) -> bool:
        """Whether ``one`` beats ``other``; None beats nothing and is beaten by any number."""
        if one is None or other is None:
            return one is not None
        return one > other if self.higher_is_better else one < other

    def depth(self, references: int) -> int:
        """How many neighbours of a query it looks at, where that is more than its positives."""
        return references if self.looks_at_all else max(self.number or 1, 1)

    def measure(self, *given: Any) -> Any:
        """The function's result; a family's gets its K."""
        return self.build(*given) if self.number is None else self.build(*given, k=self.number)


class Metrics(registry.Kind[Metric, Any]):
    """The kind, whose families have members: ``get("R@10")``.

    >>> dml.metrics.KIND.get("R@10").key
    'R@10'
    """

    def get(self, key: str) -> Metric:
        """The record of a metric, or of the member of a family that a number makes: ``R@10``.

        >>> dml.metrics.get("R@10").number
        10
        """
        known = _MEMBERS.get(key) if isinstance(key, str) else None
        if known and self._parts.get(known[0].key) is known[0]:
            return known[1]
        found = MEMBER.fullmatch(key) if isinstance(key, str) else None
        if found is None or self.holds(key) not in self.names():
            return super().get(key)
        family, number = super().get(self.holds(key)), int(found[2])
        if family.numbers is not None and not family.numbers.holds(number):
            raise UserError(f"metric {key}: K must {family.numbers.words}.")
        title = family.title.replace("@K", f"@{number}")
        own = f"{family.key.removesuffix('K')}{number}"
        member = dataclasses.replace(family, key=own, title=title, number=number)
        _MEMBERS[key] = family, member
        return member

    def holds(self, name: str) -> str:
        return MEMBER.sub(r"\1K", name)


#: Members of families that were asked for, with their families: a report asks for the same few a million times.
_MEMBERS: dict[str, tuple[Metric, Metric]] = {}


KIND = Metrics(
    "metric",
    "dmlplayground.parts.metrics",
    Metric,
    setting="evaluation.metrics",
    remark="A name that ends in @K is a family: R@10 is R@K with K = 10, and R@K itself stands for one of each of evaluation.ks.",
)

#: What is computed unless a trial chooses: a family without a number stands for one of each of ``KS``.
CRITERION = "MAP@R"  # what chooses an epoch on classes that are kept back, as the Reality Check does
STANDARD = ("R@K", "RP", "MAP@R", "NMI", "NMI_geometric", "AMI", "F1")
KS = (1, 2, 4, 8, 16)


def chosen(names: Sequence[str] = STANDARD, ks: Sequence[int] = KS, clustering: bool = True) -> list[Metric]:
    """The metrics that these names ask for, each once; without ``clustering``, those that need no clusters.

    >>> [metric.key for metric in chosen(["R@K", "P@5", "NMI"], ks=[1, 10], clustering=False)]
    ['R@1', 'R@10', 'P@5']
    """
    if isinstance(names, str):
        raise UserError(f"metrics must be a list of names, not {names!r}.")
    if isinstance(ks, str) or not isinstance(ks, Iterable):
        raise UserError(f"ks must be a list of whole numbers, not {ks!r}.")
    found: dict[str, Metric] = {}
    for name in names:
        metric = KIND.get(name)
        is_family = metric.numbers is not None and metric.number is None
        for member in (_member(metric, k) for k in ks) if is_family else (metric,):
            if clustering or member.needs != "clusters":
                found.setdefault(member.key, member)
    if not found:
        raise UserError(f"no metric is left to compute: {', '.join(names) or 'none'} was asked for.")
    return list(found.values())


def _member(family: Metric, k: Any) -> Metric:
    if isinstance(k, bool) or not isinstance(k, (int, float, np.integer, np.floating)) or k % 1 != 0:
        raise UserError(f"K must be a whole number, not {k!r}.")
    return KIND.get(family.key.replace("@K", f"@{int(k)}"))


def of_trial(evaluation: Mapping[str, Any]) -> list[Metric]:
    """The metrics of a trial, from the ``evaluation`` part of its configuration: the headline first, which is the one
    named there, or else simply the first. Older records chose by ``ks`` and ``clustering`` alone.

    >>> [metric.key for metric in dml.metrics.of_trial({"metrics": ["R@K"], "ks": [1, 2], "headline": "R@2"})]
    ['R@2', 'R@1']
    """
    names = [*evaluation.get("metrics", STANDARD)]
    if evaluation.get("headline") is not None:
        names.insert(0, evaluation["headline"])
    return chosen(names, evaluation.get("ks", KS), evaluation.get("clustering", True))


def headline(evaluation: Mapping[str, Any]) -> Metric:
    """The metric that a trial is known by.

    >>> dml.metrics.headline({"metrics": ["MAP@R", "R@K"], "ks": [1]}).key
    'MAP@R'
    """
    computed = of_trial(evaluation)
    if evaluation.get("headline") is not None:
        return among(evaluation["headline"], computed, "evaluation.headline")
    return computed[0]


def among(name: str, computed: Iterable[Metric], where: str) -> Metric:
    """The metric of this name, if it is one of those that are computed; ``where`` says who asks for it.

    >>> dml.metrics.among("R@1", dml.metrics.chosen(["R@K"], ks=[1, 2]), "the criterion").key
    'R@1'
    """
    by_name = {metric.key: metric for metric in computed}
    if name not in by_name:
        KIND.get(name)  # refuses an unknown name
        raise UserError(
            f"{where} is {name}, which is not computed: add it to evaluation.metrics, or choose from {', '.join(by_name)}."
        )
    return by_name[name]


def first(scores: Mapping[str, float | None]) -> str:
    """The headline of recorded scores, which stands first among them, in a few words: ``R@1 53.68``.

    >>> dml.metrics.first({"R@1": 0.5368, "NMI": 0.6})
    'R@1 53.68'
    """
    name, value = next(iter(scores.items()))
    return f"{name} {KIND.get(name).shown(value)}"


def leading(names: Iterable[str]) -> list[str]:
    """The few of these metrics to show where there is no room for all: the first, which is the headline, and one of each
    leading family.

    >>> leading(["RP", "R@1", "R@2", "NMI", "F1"])
    ['RP', 'R@1', 'NMI']
    """
    shown: dict[str, str] = {}
    for name in names:
        metric = KIND.get(name)
        if metric.leads or not shown:
            shown.setdefault(metric.family, name)
    return list(shown.values())
