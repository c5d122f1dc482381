"""Proposals from a Sobol sequence: evenly spread, and decided by a trial's number alone.

So a search proposes the same whatever the number of workers and however often it was stopped, and searches with the same
range propose the same values for it. The first trial has the method's own options and the middle of every other range.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from optuna.samplers import BaseSampler
from scipy.stats import qmc

from ..parts import methods
from .search_space import Choice, Search


class ByNumber(BaseSampler):
    """Proposals that a trial's number decides, as Optuna asks for them: ``proposal`` gives all of a trial's values."""

    def __init__(self, search: Search, proposal: Callable[[int], Mapping[str, Any]]):
        self.search = search
        self.proposal = proposal

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        return {}

    def sample_relative(self, study: Any, trial: Any, search_space: Any) -> dict[str, Any]:
        return {}

    def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
        value = self.proposal(trial.number)[param_name]
        return json.dumps(value) if isinstance(self.search.parameters[param_name], Choice) else value


def proposal(search: Search, number: int) -> Mapping[str, Any]:
    """The values of a trial of the search, counted from 0."""
    parameters = search.parameters
    # The sequence begins with a corner, which is left out; the middle of everything follows.
    shares = qmc.Sobol(len(parameters), scramble=False).fast_forward(number + 1).random()[0]
    values = {key: parameter.at(share) for (key, parameter), share in zip(parameters.items(), shares)}
    return {**values, **_own_options(search)} if number == 0 else values


def _own_options(search: Search) -> dict[str, Any]:
    """The defaults of the method's options, where the search would find them."""
    options = methods.get(search.config["method"]["name"]).options
    own = {f"method.{name}": option.default for name, option in options.items()}
    return {key: own[key] for key, one in search.parameters.items() if key in own and one.holds(own[key])}
