"""A search file: a trial's configuration with ranges in place of some values.

    title: Proxy-NCA on the built-in characters
    trials: 30                                              # to be tried
    config:
      method: {name: proxy_nca, scale: {range: [1.0, 10.0], log: true}}
      data: {name: glyphs, size: 32}
      batch_size: {choose: [32, 64, 128]}
      optimizer: {lr: {range: [1e-5, 1e-2], log: true}}
      epochs: 6

A range of whole numbers gives whole numbers. A range may also stand in a list, such as that of the regularizers. A search is
for the best criterion of the validated protocol: its value at the best epoch, averaged over folds, on classes that are used
neither to train nor to test. ``draw`` says how values are proposed: tpe goes by the trials before, sobol by the trial's
number alone (``sobol``); every tries each combination of values once, in order.

With ``rungs`` it is a search by halving: many short trainings, of whose settings the best get longer ones.

    images: 108000                 # that a training of full length sees, whatever the method
    evaluations: 12                # of a training of full length; shorter ones have fewer, but two at least
    rungs:
      - {trials: 24, length: 1/9}  # trainings of their own, with a schedule of this length
      - {trials: 8, length: 1/3}
      - {trials: 3, folds: 2, refine: 4}  # and four more: the method's own settings, others near the best
      - {trials: 3, folds: 4}      # the best of these, once more with another seed: what was only lucky falls back
    searches: 2                    # as often, with points, seeds and folds of their own
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from typing import Any, Literal

from ..base.errors import UserError
from ..base.options import build
from ..parts import protocols
from ..trial import config
from ..trial.config import Trial
from ..trial.config.building import name_of_command

PROTOCOL = "validated"  # of a search that names none
WITHOUT_TEST = "validation_only"  # of one with rungs
EDGE = 0.1  # the share of a range at either end where a winner makes one wonder what lies beyond
NEAR = 0.5  # the share of a range that is near a value, half of it on either side
SEEDS = 100  # from the seeds of one search to those of the next
FEWEST = 2  # evaluations of a training, as long as it has so many steps

Number = int | float


@dataclass(frozen=True)
class Range:
    """From the first to the second number of ``range``, both included; ``log``: 1 to 10 is as likely as 10 to 100."""

    range: list[Number]
    log: bool = False
    step: Number | None = None
    note: str = ""  # why there

    def check(self, key: str) -> None:
        low, high, *more = [*self.range, math.inf, math.inf][:2] + self.range[2:]
        if more or not low < high < math.inf:
            raise UserError(f"{key}: a range needs a lower and an upper end, not {self.range}.")
        if self.log and (low <= 0 or self.step is not None):
            raise UserError(f"{key}: a range with log must begin above 0 and cannot have a step.")

    @property
    def ends(self) -> tuple[Any, Any]:
        return self.range[0], self.range[1]

    def __str__(self) -> str:
        scale = " on a logarithmic scale" if self.log else ""
        steps = f" in steps of {self.step}" if self.step else ""
        return f"{self.range[0]} to {self.range[1]}{scale}{steps}"

    @property
    def _whole(self) -> bool:
        return all(isinstance(end, int) for end in self.range)

    def at(self, share: float) -> Any:
        """The value at this share of the range, from 0 to below 1, with six digits."""
        low, high = self.range
        step = self.step or (1 if self._whole and not self.log else None)
        if step is not None:
            return low + step * int(share * (int((high - low) / step) + 1))
        value = low * (high / low) ** share if self.log else low + share * (high - low)
        return round(value) if self._whole else float(f"{value:.6g}")

    def values(self, key: str) -> list[Any]:
        """All of them, of a range that has only so many."""
        low, high = self.range
        step = self.step or (1 if self._whole else None)
        if step is None:
            raise UserError(f"{key}: draw: every needs a range of whole numbers or with a step.")
        return [low + step * number for number in range(int((high - low) / step + 1e-9) + 1)]

    def holds(self, value: Any) -> bool:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and self.range[0] <= value <= self.range[1]

    def _share(self, value: Any) -> float:
        """Where in the range the value is, from 0 to 1."""
        scale: Callable[[float], float] = math.log if self.log else float
        low, high = map(scale, self.range)
        return (scale(value) - low) / (high - low)

    def edge(self, value: Any) -> str | None:
        """The end of the range that the value is close to, if it is."""
        share = self._share(value)
        return "low" if share < EDGE else "high" if share > 1 - EDGE else None

    def near(self, value: Any, share: float) -> Any:
        """The value at this share of what is near another one."""
        return self.at(min(max(self._share(value) + NEAR * (share - 0.5), 0), 1 - 1e-9))

    def ask(self, trial: Any, key: str) -> Any:
        low, high = self.range
        if self._whole:
            return trial.suggest_int(key, low, high, log=self.log, step=int(self.step or 1))
        return trial.suggest_float(key, low, high, log=self.log, step=self.step)


@dataclass(frozen=True)
class Choice:
    """One of ``choose``, whatever they are."""

    choose: list[Any]
    note: str = ""

    def check(self, key: str) -> None:
        if not self.choose:
            raise UserError(f"{key}: choose needs at least one value.")

    @property
    def ends(self) -> tuple[Any, Any]:
        return self.choose[0], self.choose[-1]

    def __str__(self) -> str:
        return "one of " + ", ".join(map(_short, self.choose))

    def at(self, share: float) -> Any:
        return self.choose[int(share * len(self.choose))]

    def values(self, key: str) -> list[Any]:
        return self.choose

    def holds(self, value: Any) -> bool:
        return value in self.choose

    def edge(self, value: Any) -> str | None:
        return None

    def near(self, value: Any, share: float) -> Any:
        return value

    def ask(self, trial: Any, key: str) -> Any:
        return json.loads(trial.suggest_categorical(key, [json.dumps(value) for value in self.choose]))


Parameter = Range | Choice


def parameter(given: Mapping[str, Any], where: str) -> Parameter:
    """A range or a choice, as a file or a method's record has it."""
    return build(Range if "range" in given else Choice, given, where=where)


def _short(value: Any) -> str:
    """A value in a few words; a part by its name, with its options."""
    if not isinstance(value, Mapping) or "name" not in value:
        return str(value)
    options = ", ".join(f"{key}={one}" for key, one in value.items() if key != "name")
    return f"{value['name']} ({options})" if options else str(value["name"])


@dataclass(frozen=True)
class HalvingRung:
    """So many trials, each a training of this share of the full length, on so many folds; at full length, then so many more to
    ``refine`` what was found."""

    trials: int
    length: float | str = 1.0  # such as 1/3
    folds: int = 1
    refine: int = 0

    @property
    def images(self) -> Fraction:
        """What the rung costs, where a training of full length costs 1."""
        return (self.trials + self.refine) * self.folds * self.share

    @property
    def share(self) -> Fraction:
        try:
            share = Fraction(str(self.length))
        except (ValueError, ZeroDivisionError):
            share = Fraction(0)
        if not 0 < share <= 1:
            raise UserError(f"rungs: a length is a share of the full one, such as 1/3, not {self.length}.")
        return share


@dataclass(frozen=True)
class Search:
    title: str
    config: dict[str, Any]
    about: str = ""
    trials: int = 50
    seed: int = 0  # of the search; that of the trials is config.seed
    draw: Literal["tpe", "sobol", "every"] = "tpe"  # how values are proposed
    # Of a search by halving, the shortest trainings first:
    rungs: list[HalvingRung] = field(default_factory=list)
    images: int = 0  # that a training of full length sees, where there are rungs
    evaluations: int = 10  # of a training of full length
    number: int = 1  # which of several searches for the same settings, where there are rungs
    parameters: dict[str, Parameter] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        name_of_command(config.expand(self.config))
        self.parameters.update(_parameters(self.config))
        if not self.parameters:
            raise UserError(
                "the search needs a range in its config, such as lr: {range: [1e-5, 1e-2], log: true}."
            )
        for key, parameter in self.parameters.items():
            parameter.check(key)
        if self.rungs:
            self._check_rungs()
        if self.draw == "every":
            count = math.prod(len(one.values(key)) for key, one in self.parameters.items())
            if count > self.trials:
                raise UserError(f"draw: every has {count} combinations, more than trials: {self.trials}.")
            object.__setattr__(self, "trials", count)

    def _check_rungs(self) -> None:
        shares = [rung.share for rung in self.rungs]
        counts = [rung.trials + rung.refine for rung in self.rungs]
        if any(one > next for one, next in pairwise(shares)) or shares[-1] != 1:
            raise UserError("rungs: none may be shorter than the one before, and the last has length 1.")
        if any(next.trials > count for count, next in zip(counts, self.rungs[1:])) or counts[-1] < 1:
            raise UserError(f"rungs: a rung cannot have more trials than the one before: {counts}.")
        if self.images < 1:
            raise UserError("rungs need images: how many a training of full length sees, such as 108000.")
        if any(rung.refine < 0 or (rung.refine and rung.share < 1) for rung in self.rungs):
            raise UserError("rungs: refine, a whole number, is for those of length 1.")
        object.__setattr__(self, "trials", sum(counts))

    def combinations(self) -> Iterator[dict[str, Any]]:
        """The values of every trial, where each combination is tried. The last key changes first."""
        values = [parameter.values(key) for key, parameter in self.parameters.items()]
        return (dict(zip(self.parameters, row)) for row in product(*values))

    def trial(self, values: Mapping[str, Any], rung: int = -1) -> Trial:
        """The trial with these values in the place of the ranges, on this rung if there are any."""
        default = WITHOUT_TEST if self.rungs else PROTOCOL
        given = config.expand(_filled(self.config, values))
        trial = config.trial(config.merge({"protocol": {"name": default}}, given))
        if protocols.get(trial.protocol["name"]).watches != protocols.VALIDATION:
            raise UserError(
                f"a search needs validation classes, and the protocol {trial.protocol['name']} has none: "
                f"leave config.protocol at {default}."
            )
        if protocols.create(**trial.protocol).criterion is None:
            raise UserError(
                f"a search needs a criterion, and the protocol {trial.protocol['name']} names none: "
                "set config.protocol.criterion, such as MAP@R."
            )
        return self._on_rung(trial, range(len(self.rungs))[rung]) if self.rungs else trial

    def _on_rung(self, trial: Trial, number: int) -> Trial:
        """The trial at the length of this rung, with a seed and folds that no other rung or search has. An image counts once for
        every network that is trained on it: so the members of an ensemble share the images."""
        rung, members = self.rungs[number], trial.ensemble.members
        in_turn = members if trial.ensemble.order == "sequential" else 1
        steps = max(1, int(self.images * rung.share / (members * trial.batch_size * trial.accumulate)))
        evaluations = max(FEWEST, float(self.evaluations * rung.share))
        epochs = min(steps, max(1, round(evaluations / in_turn)))
        parts = [one.folds for one in self.rungs if one.folds < trial.protocol["folds"]]
        first = (self.number - 1) * max(parts, default=0) % trial.protocol["folds"]
        changes = {
            "epochs": epochs,
            "iterations": steps // epochs,
            "evaluation": {"every": 1},
            "protocol": {"only": rung.folds, "first": first},
            "search": self.number,
            "seed": trial.seed + SEEDS * self.number + number,
        }
        return config.trial(config.merge(trial.mapping(), changes))

    @cached_property
    def _example(self) -> Trial | None:
        """One of its trials, if it can be made."""
        with suppress(UserError):
            return self.trial(self._at(0))
        return None

    @property
    def direction(self) -> str:
        """Which way the criterion has to go: ``maximize`` or ``minimize``."""
        one = self._example
        lower = one and not config.criterion(one.protocol, one.evaluation).higher_is_better
        return "minimize" if lower else "maximize"

    @property
    def epochs(self) -> int:
        """About how many epochs a trial of the search has in all; 0 where that is not known."""
        return config.total_epochs(self._example) if self._example else 0

    def _at(self, end: int) -> dict[str, Any]:
        return {key: parameter.ends[end] for key, parameter in self.parameters.items()}

    def check(self) -> None:
        """Make the trials at both ends of all ranges: a UserError where one of them cannot be trained."""
        for end in (0, 1):
            values = self._at(end)
            try:
                self.trial(values)
            except UserError as problem:
                chosen = ", ".join(f"{key} {value}" for key, value in values.items())
                raise UserError(f"with {chosen}: {problem}") from None


def _parameters(given: Any, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
    """Every range and choice of a configuration, by its dotted key. An entry of a list is called by its number."""
    for key, value in _entries(given):
        where = f"{prefix}{key}"
        if isinstance(value, Mapping) and ("range" in value or "choose" in value):
            yield where, parameter(value, where)
        elif isinstance(value, (Mapping, list)):
            yield from _parameters(value, f"{where}.")


def _filled(given: Any, values: Mapping[str, Any], prefix: str = "") -> Any:
    """The configuration with values in the place of its ranges and choices."""
    if not isinstance(given, (Mapping, list)):
        return given
    found = [
        (key, values[where] if where in values else _filled(value, values, f"{where}."))
        for key, value in _entries(given)
        for where in [f"{prefix}{key}"]
    ]
    return dict(found) if isinstance(given, Mapping) else [value for _, value in found]


def _entries(given: Any) -> Iterable[tuple[Any, Any]]:
    return given.items() if isinstance(given, Mapping) else enumerate(given)
