"""Where a search looks for a method's own settings: values of a trial by their dotted keys, in the form of a search's file.

Boxes are small: most go from a quarter of a published or usual value to four times that value, which is named beside each.
A search with few trials finds little in a wider one. The bounds of Musgrave et al.'s own searches stand in those searches.
The rate of the network is the search's business: it is the same for all methods.
"""

from typing import Any

Ranges = dict[str, dict[str, Any]]
FACTOR = 4


def between(low: float, high: float, note: str = "") -> dict[str, Any]:
    """Every value as likely as any other; whole numbers give whole numbers."""
    return {"range": [low, high], **_noted(note)}


def scaled(low: float, high: float, note: str = "") -> dict[str, Any]:
    """1 to 10 as likely as 10 to 100."""
    return {"range": [low, high], "log": True, **_noted(note)}


def about(value: float, note: str = "") -> dict[str, Any]:
    """From a quarter of the value to four times as much, on a logarithmic scale."""
    low, high = value / FACTOR, value * FACTOR
    if isinstance(value, int):
        low, high = round(low), round(high)
    return scaled(low, high, note or f"usually {value:g}")


def one_of(*values: Any, note: str = "") -> dict[str, Any]:
    return {"choose": list(values), **_noted(note)}


def _noted(note: str) -> dict[str, str]:
    return {"note": note} if note else {}


def blocks(*per_class: int) -> Ranges:
    """How many images of a class are in a batch, and so how many classes."""
    return {"sampler": one_of(*({"name": "blocks", "per_class": count} for count in per_class))}


#: Of losses over pairs, triplets or ranks.
CLASS_BLOCKS = blocks(2, 4)

#: Of losses that read any batch.
ANY_BATCH: Ranges = {"sampler": one_of({"name": "shuffled"}, {"name": "blocks", "per_class": 4})}

#: Of losses that read embeddings of any length: their authors and later suites differ.
LENGTH: Ranges = {"head.normalize": one_of(False, True, note="published both ways")}

#: Of losses with weights of their own: their learning rate.
OWN_RATE: Ranges = {
    "groups.loss.lr": scaled(3e-4, 1e-1, "most winners of Musgrave et al.'s searches: 5e-4 to 7e-2")
}

#: Of a margin between distances of unit embeddings.
MARGIN = about(0.2, "FaceNet and Roth et al. 0.2; Musgrave et al.'s searches 0.05 to 0.14")
#: Of the distances within which positives are left alone and beyond which negatives are.
POSITIVE = between(0.0, 0.4, "Roth et al. 0; Musgrave et al.'s searches 0.1 to 0.4")
NEGATIVE = between(0.3, 1.3, "Roth et al. 1; Musgrave et al.'s searches 0.4 to 1.1")
