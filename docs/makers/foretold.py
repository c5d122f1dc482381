"""What rho and density of the training embeddings say of the score, beside what Roth et al. published; and published orders
beside those found here."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from dmlplayground.parts import metrics
from dmlplayground.reports import orders, transfer
from dmlplayground.reports.grouping import score
from dmlplayground.reports.statistics import LEVEL, holm
from dmlplayground.reports.tables import Column, Row, Table, body, ends, signed
from dmlplayground.studies import published

STUDY = "roth2020"
ADDED = "rho_"  # rows with the regulariser that their study proposes beside the methods it compares
ABOUT = (
    "Spearman's correlation of a figure of the training embeddings with the score, over methods: here a point is a trial, with "
    "intervals by bootstrap over methods, each with all of its trials; published: a point is a method's mean."
)


def of_arenas(page: Any, ready: Sequence[Any]) -> None:
    page.blocks.append("## What rho and density foretell")
    rows = [row for arena in ready for row in _of_arena(arena)]
    if rows:
        columns = [
            Column(head, numeric=False)
            for head in ("figure", "arena", "here", "interval", *_published_data())
        ]
        page.say(ABOUT, _signs(rows))
        page.blocks.append(body(Table("foretold", "Foretold", "", columns, rows)))
    else:
        page.say("No arena that can be compared has measured them yet.")
    page.blocks.append("## Published orders beside these")
    _orders(page, ready)


def _of_arena(arena: Any) -> list[Row]:
    found = []
    for figure in _published_figures():
        one = _predictor(arena, figure)
        if one and (value := one.correlation(True)) is not None:
            theirs = [_published(data, figure) for data in _published_data()]
            told = [_signed(value), ends(one.interval(True)), *map(_signed, theirs)]
            found.append(Row([figure, arena.name, *told]))
    return found


def _predictor(arena: Any, figure: str) -> transfer.Predictor | None:
    """The figure beside the score of the same epoch: the last one, where it is measured."""
    points = []
    for name in arena.compared.methods:
        pairs = []
        for record in arena.found.runs[name].values():
            which = arena.found.protocol.beside
            value = transfer.numbers_of(record, transfer.TRAINING, which).get(figure)
            reached = score(record, which, arena.found.metric)
            if value is not None and reached is not None:
                pairs.append((value, reached))
        points += [pairs] if pairs else []
    return transfer.Predictor(transfer.TRAINING, figure, points) if len(points) >= transfer.LEAST else None


def _signed(value: float | None) -> str | None:
    return None if value is None else signed(value)


def _signs(rows: Sequence[Row]) -> str:
    """How often the interval here has no zero, and how often the sign is then that of the published points."""
    beyond = [row for row in rows if row.values[3] and (row.values[3][0] == "−") == ("to −" in row.values[3])]
    other = [row for row in beyond if any(one and one[0] != row.values[2][0] for one in row.values[4:])]
    return (
        f"Of {len(rows)} correlations here, {len(beyond)} have an interval without 0; {len(other)} of these have the other sign "
        "in some published data set."
    )


def _quoted() -> dict[str, dict[str, dict[str, float]]]:
    """Roth's figures and scores by data set and method."""
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for quote in published.quotes():
        if quote.study == STUDY and not quote.label.startswith(ADDED) and not quote.axis:
            for name, value in quote.scores.items():
                found[str(quote.conditions["data.name"])][quote.label].setdefault(name, value.value)
    return found


def _published_figures() -> list[str]:
    quotes = [
        quote for quote in published.quotes() if quote.study == STUDY and quote.outcome == transfer.TRAINING
    ]
    return list(dict.fromkeys(name for quote in quotes for name in quote.scores))


def _published_data() -> list[str]:
    return [data for data in _quoted() if _published(data, _published_figures()[0]) is not None]


def _published(data: str, figure: str) -> float | None:
    headline = metrics.leading([one.key for one in metrics.chosen()])[0]
    points = [
        (of[figure], of[headline]) for of in _quoted()[data].values() if figure in of and headline in of
    ]
    return transfer.correlation(points, ranked=True) if len(points) >= transfer.LEAST else None


# --- orders ----------------------------------------------------------------------------------------------------------------


def tables() -> dict[str, dict[str, float]]:
    """The published scores by method, by study, table, data set and network; of several rows of a method the highest."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    headline = metrics.leading([one.key for one in metrics.chosen()])[0]
    for quote in published.quotes():
        method = str(quote.conditions["method.name"])
        if (
            quote.axis
            or method == published.UNTRAINED
            or quote.label.startswith(ADDED)
            or headline not in quote.scores
        ):
            continue
        source = f"{quote.study}, {quote.source}, {quote.conditions['data.name']}, {quote.conditions['backbone.name']}"
        found[source][method] = max(quote.scores[headline].value, found[source].get(method, 0.0))
    return {source: scores for source, scores in found.items() if len(scores) > orders.LEAST}


def _orders(page: Any, ready: Sequence[Any]) -> None:
    from scipy import stats

    rows, chances = [], []
    for arena in ready:
        for source, theirs in tables().items():
            shared = [name for name in arena.compared.methods if name in theirs]
            if len(shared) > orders.LEAST:
                ours = [arena.compared.mean(name) for name in shared]
                tau, p = stats.kendalltau(ours, [theirs[name] for name in shared])
                rows.append(Row([arena.name, source, len(shared), float(tau)]))
                chances.append(float(p))
    if not rows:
        page.say("There is no arena yet that shares enough methods with a published table.")
        return
    adjusted = holm(chances)
    for row, p in zip(rows, adjusted):
        row.values.append(f"{p:.3f}")
    beyond = sum(p is not None and p < LEVEL for p in adjusted)
    above = sum(row.values[3] > 0 for row in rows)
    page.say(
        f"Data, networks, budgets and tuning all differ. Tau is above 0 in {above} of {len(rows)} comparisons, and beyond chance "
        f"after Holm's adjustment in {beyond}; p is the chance of such a tau if the orders had nothing to do with each other."
    )
    heads = ("arena", "published", "methods", "tau", "p, adjusted")
    columns = [Column(head, numeric=number > 1) for number, head in enumerate(heads)]
    page.fold(Table("published", "Every published table", "orders", columns, rows))
