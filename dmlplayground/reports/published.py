"""What was published: numbers quoted from the study, for the trials that correspond to its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .. import files
from .tables import Quoted

TOLERANCE = 0.3  # a batch may be larger or smaller by this share and still count as the study's


@cache
def _book() -> dict[str, Any]:
    return files.read_json(Path(__file__).with_name("published.json"))


def find(config: Mapping[str, Any]) -> dict[str, Quoted]:
    """The published figures for a trial like this one, in percent by metric; empty where nothing corresponds.

    A trial corresponds to the study's tables when data set, backbone, embedding size and (nearly) batch size
    are theirs; to a point of its curves when all but the size on the axis is, and that size is the point's.
    """
    setting = _book()["settings"].get(config["method"]["name"])
    if setting is None:
        return {}
    same_width = setting["embed_dim"] in (None, config["embed_dim"])
    same_batch = any(abs(config["batch_size"] - size) <= TOLERANCE * size for size in setting["batch_sizes"])
    if same_width and same_batch:
        return _from_table(config)
    if same_batch:
        return _from_curve("embed_dim", config)
    return _from_curve("batch_size", config) if same_width else {}


def tables_of(method: str) -> dict[tuple[str, str], dict[str, Quoted]]:
    """What the study's tables say of a method: by (data set, backbone), figures by metric."""
    tables = _book()["tables"].items()
    places = [(data, backbone) for data, methods in tables for backbone in methods.get(method, {})]
    return {place: _table(method, *place) for place in places}


def curves_of(method: str) -> dict[tuple[str, str, str], dict[str, float]]:
    """What its curves say: by (data set, backbone, axis), R@1 by the value on the axis."""
    curves = _book()["curves"].items()
    return {
        (curve["data"], curve["backbone"], axis): curve["methods"][method]
        for axis, curve in curves
        if method in curve["methods"]
    }


def _from_table(config: Mapping[str, Any]) -> dict[str, Quoted]:
    return _table(*(config[part]["name"] for part in ("method", "data", "backbone")))


def _table(method: str, data: str, backbone: str) -> dict[str, Quoted]:
    book = _book()
    scores = book["tables"].get(data, {}).get(method, {}).get(backbone, {})
    doubts = book["doubts"].get(f"{data}.{method}.{backbone}", {})
    return {
        metric: Quoted(value, book["table_sources"][data], doubts.get(metric, ""))
        for metric, value in scores.items()
    }


def _from_curve(axis: str, config: Mapping[str, Any]) -> dict[str, Quoted]:
    curve = _book()["curves"][axis]
    if (config["data"]["name"], config["backbone"]["name"]) != (curve["data"], curve["backbone"]):
        return {}
    point: float | None = curve["methods"].get(config["method"]["name"], {}).get(str(config[axis]))
    return {} if point is None else {"R@1": Quoted(point, curve["source"])}


def notes(configs: Iterable[Mapping[str, Any]]) -> list[str]:
    """What must be said of the published figures beside these trials: their source, and what is doubtful."""
    quotes = [
        (config["method"]["name"], metric, quote)
        for config in configs
        for metric, quote in find(config).items()
    ]
    sources = dict.fromkeys(quote.source for _, _, quote in quotes)
    doubts = dict.fromkeys(
        f"Doubtful (?): {method} {metric}: {quote.doubt}." for method, metric, quote in quotes if quote.doubt
    )
    return [*(f"Published figures are quoted: {source}." for source in sources), *doubts]
