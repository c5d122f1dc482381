"""What was published: numbers quoted from studies, one file per study, each with the conditions under which it holds.

A number is shown beside a trial's only if all of its conditions agree. If not, ``differences`` says which do not. To
add a study, add a file:

    @KIND.register(title="Authors: Title (venue)", year=2020)
    def quotes():
        yield Quote("table 4", conditions={"method.name": "npairs", "data.name": "cub200", ...}, scores={"R@1": Score(51.6)})
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from ...parts import protocols
from .quotes import KIND, UNTRAINED, Quote, Quoted, Score, Study, agrees, flat, flatten, method_of, words

__all__ = [
    "KIND", "UNTRAINED", "Quote", "Quoted", "Score", "Study", "PublishedTable", "curve", "differences", "find", "flatten",
    "get", "matching", "method_of", "names", "notes", "of_method", "tables", "tabulated", "words",
]  # fmt: skip

names, get = KIND.names, KIND.get
MANY = 10**9  # more runs than any mean needs
MOST = 6  # rows that notes name of those that differ


def tabulated(protocol: str) -> list[Study]:
    """The studies whose tables show the results of this protocol."""
    return [study for study in map(get, names()) if study.protocol == protocol]


@cache
def quotes() -> tuple[Quote, ...]:
    """Every published number, tables before curves."""
    found = [replace(quote, study=key) for key in names() for quote in get(key).build()]
    return tuple(sorted(found, key=lambda quote: bool(quote.axis)))


def of_method(method: str) -> list[Quote]:
    """Everything that was published about a method."""
    return [quote for quote in quotes() if quote.conditions["method.name"] == method]


class PublishedTable(NamedTuple):
    """A table of a study: what all of its rows share is in the title."""

    title: str
    rows: list[tuple[str, ...]]  # the first holds the headings


def tables(study: str) -> list[PublishedTable]:
    """The tables of a study, a line for each of its rows. Points of curves are left out."""
    found: dict[str, list[Quote]] = defaultdict(list)
    for quote in quotes():
        if quote.study == study and not quote.axis:
            found[quote.source].append(quote)
    return [_table(source, each, get(study).metrics) for source, each in found.items()]


def _table(source: str, found: Iterable[Quote], renamed: Mapping[str, str]) -> PublishedTable:
    cells: dict[tuple[str, ...], dict[tuple[str, str], Score]] = {}
    for quote in found:
        there = (words(quote.conditions.get(f"{part}.name", "")) for part in ("method", "data", "backbone"))
        row = cells.setdefault((quote.label, *there), {})
        row.update({(quote.outcome, metric): score for metric, score in quote.scores.items()})
    columns = dict.fromkeys(column for row in cells.values() for column in row)
    differ = [place for place, values in enumerate(zip(*cells)) if len(set(values)) > 1] or [0]
    shared = [name for place, name in enumerate(next(iter(cells))) if place not in differ]
    headings = [("row", "method", "data set", "network")[place] for place in differ]
    rows = [(*headings, *(f"{outcome} {renamed.get(metric, metric)}".strip() for outcome, metric in columns))]
    for names, row in cells.items():
        scores = (str(row[column]) if column in row else "-" for column in columns)
        rows.append((*(names[place] for place in differ), *scores))
    return PublishedTable(", ".join(filter(None, [source, *shared])), rows)


def matching(config: Mapping[str, Any], runs: int) -> list[Quote]:
    """The quotes whose conditions all agree with a configuration and its number of runs."""
    about = _about(method_of(config), config["data"]["name"])
    there = flat(config) if about else {}
    return [quote for quote in about if not quote.differences(there, runs)]


@cache
def _about(method: Any, data: Any) -> tuple[Quote, ...]:
    """The quotes that are about this method and data set at all."""
    there = {"method.name": method, "data.name": data}.items()
    return tuple(quote for quote in quotes() if all(agrees(quote.conditions[key], one) for key, one in there))


def find(config: Mapping[str, Any], runs: int, outcome: str) -> dict[str, Quoted]:
    """The published figures for this outcome of such trials, by metric: from a table, or from a curve if no table has them."""
    found: dict[str, Quoted] = {}
    for quote in _beside(config, runs):
        if _outcome(quote, config) == outcome:
            for metric in quote.scores:
                found.setdefault(metric, _quoted(quote, metric))
    return found


def _outcome(quote: Quote, config: Mapping[str, Any]) -> str:
    """The result of such a trial that the quote is to be compared with."""
    return quote.outcome or protocols.get(config["protocol"]["name"]).leading


def _beside(config: Mapping[str, Any], runs: int) -> list[Quote]:
    """The quotes that can be shown beside such trials. Points of a curve are left out if a table has them, even of more runs."""
    in_tables = any(not quote.axis for quote in matching(config, MANY))
    return [quote for quote in matching(config, runs) if not (quote.axis and in_tables)]


def curve(config: Mapping[str, Any], runs: int, axis: str) -> dict[str, Quoted]:
    """The point of a published curve against ``axis`` that such trials correspond to, by metric."""
    found = (quote for quote in matching(config, runs) if quote.axis == axis)
    return {metric: _quoted(quote, metric) for quote in found for metric in quote.scores}


def differences(config: Mapping[str, Any], runs: int) -> tuple[Quote, list[str]] | None:
    """The nearest table row of the same method and data set, and what differs; None if there is none, or nothing differs."""
    rows = [quote for quote in _about(method_of(config), config["data"]["name"]) if not quote.axis]
    if not rows or _beside(config, runs):
        return None
    there = flat(config)
    nearest = min(rows, key=lambda quote: len(quote.differences(there, runs)))
    return nearest, nearest.differences(there, runs)


def _quoted(quote: Quote, metric: str) -> Quoted:
    score = quote.scores[metric]
    return Quoted(score.value, f"{get(quote.study).title}, {quote.source}", score.doubt, score.half)


def notes(trials: Iterable[tuple[Mapping[str, Any], int]], outcomes: Collection[str]) -> list[str]:
    """Notes on the published figures beside these outcomes of trials (configuration, runs): source, doubts, what differs."""
    sources, doubts, apart = [], [], []
    for config, runs in trials:
        method = method_of(config)
        for quote in _beside(config, runs):
            study = get(quote.study)
            if _outcome(quote, config) in outcomes:
                said = f"Published figures are quoted: {study.title}, {quote.source}. {study.warning}"
                sources.append(said.strip())
                known = [(metric, score.doubt) for metric, score in quote.scores.items() if score.doubt]
                doubts += [f"Doubtful (?): {method} {metric}: {doubt}." for metric, doubt in known]
        if near := differences(config, runs):
            quote, found = near
            row = f"published row of {method} ({quote.study}, {quote.source})"
            apart.append(f"Not compared with the {row}: {'; '.join(found)}.")
    told = list(dict.fromkeys(apart))
    more = [f"The same holds for {len(told) - MOST} more rows."] if len(told) > MOST else []
    return [*dict.fromkeys(sources + doubts), *told[:MOST], *more]
