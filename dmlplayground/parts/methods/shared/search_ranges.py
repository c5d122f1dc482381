"""Where a search looks for a method's own settings: values of a trial by their dotted keys, in the form of a search's file.

The bounds are those of Musgrave et al.'s searches where they searched the option, and ours elsewhere. The rate of the
network is the search's own business: it is the same for all methods.
"""

from __future__ import annotations

from typing import Any

Ranges = dict[str, dict[str, Any]]


def between(low: float, high: float) -> dict[str, Any]:
    """Every value as likely as any other; whole numbers give whole numbers."""
    return {"range": [low, high]}


def scaled(low: float, high: float) -> dict[str, Any]:
    """1 to 10 as likely as 10 to 100."""
    return {"range": [low, high], "log": True}


#: Of losses with weights of their own: their learning rate, which Musgrave et al. searched for all such losses.
OWN_RATE: Ranges = {"groups.loss.lr": scaled(1e-6, 1.0)}

#: Of a margin between distances, as Musgrave et al. have it.
MARGIN = between(-0.2, 2.0)
