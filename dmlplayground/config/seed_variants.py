"""The trials of a large grid: those that differ in nothing but their seed are built and checked once.

No layer and no check of another key looks at the seed, so that the others need a seed of their own and a name alone.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from ..options import convert
from . import trial_ids
from .building import trial
from .checking import check_seed
from .layers import merge, override
from .schema import Trial

__all__ = ["Seeds"]


class Seeds:
    """One trial with any seed.

    >>> seeds = Seeds({"method": "npairs"})
    >>> seeds.trial({"seed": 3}).seed
    3
    """

    def __init__(self, given: Mapping[str, Any], overrides: Iterable[str] = ()):
        overrides = list(overrides)
        self.overridden = "seed" in merge(*(override(text) for text in overrides))
        self.built = trial(given, overrides)
        self.departures = trial_ids.departures(self.built)

    def trial(self, choice: Mapping[str, Any]) -> Trial:
        """The trial with the seed of ``choice``; with its own where that names none, or an override does."""
        if self.overridden or "seed" not in choice:
            return self.built
        made = copy.copy(self.built)
        object.__setattr__(made, "seed", convert(choice["seed"], int, "seed"))
        check_seed(made.seed)
        departures = {**self.departures, "seed": made.seed}
        if made.seed == trial_ids.neutral_values(Trial)["seed"]:
            del departures["seed"]
        object.__setattr__(made, "id", trial_ids.of_departures(made, departures))
        return made
