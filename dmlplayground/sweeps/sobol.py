"""Proposals from a Sobol sequence: evenly spread, and decided by a trial's number alone.

So a search proposes the same whatever the number of workers and however often it was stopped, and searches with the same
range propose the same values for it. The first trial has the method's own options and the middle of every other range.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scipy.stats import qmc

from ..base import seeds
from ..parts import methods
from .search_space import Search


def proposal(search: Search, number: int) -> Mapping[str, Any]:
    """The values of a trial of the search, counted from 0."""
    parameters = search.parameters
    # The sequence begins with a corner, which is left out; the middle of everything follows.
    shares = qmc.Sobol(len(parameters), scramble=False).fast_forward(number + 1).random()[0]
    if search.rungs and number:  # each of several searches has its own points: all of them moved by as much
        moves = [seeds.generator(search.seed, "search", search.number, key).random() for key in parameters]
        shares = (shares + moves) % 1.0
    values = {key: parameter.at(share) for (key, parameter), share in zip(parameters.items(), shares)}
    return {**values, **_own_options(search)} if number == 0 else values


def _own_options(search: Search) -> dict[str, Any]:
    """The method's own options, batches and head, where the search would find them."""
    record = methods.get(search.config["method"]["name"])
    own = {f"method.{name}": option.default for name, option in record.options.items()}
    own.update(
        {"sampler": dict(record.sampler), **{f"head.{key}": value for key, value in record.head.items()}}
    )
    return {key: own[key] for key, one in search.parameters.items() if key in own and one.holds(own[key])}
