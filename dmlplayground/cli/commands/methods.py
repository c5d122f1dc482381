"""What is said of a method besides what is said of every part."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...base import layout
from ..listing import below
from . import hyperparams

if TYPE_CHECKING:
    from ...studies.published import Quote

EXAMPLE = "methods npairs"


def about_one(name: str) -> list[str]:
    """What studies published of a method, and where its settings are."""
    from ...parts import methods
    from ...sweeps.search_space import parameter

    record = methods.get(name)
    ranges = {key: parameter(value, key) for key, value in record.ranges.items()}
    looked = [(key, str(one), one.note) for key, one in ranges.items()]
    found, _ = hyperparams.chosen(name)
    rows = hyperparams.rows(found) if found else []
    return [
        layout.fill(f"Paper: {record.paper}"),
        *below(f"Where a search looks (dmlplayground tune --methods {record.key}):", looked),
        *below(f"Settings in recipes (dmlplayground hyperparams {name} lists every value):", rows),
        *_published(name),
    ]


def _published(method: str) -> list[str]:
    """What studies published about it: rows of tables, and curves."""
    from ...studies import published

    listed = []
    for study in published.names():
        if rows := [quote for quote in published.of_method(method) if quote.study == study]:
            title = f"Published (shares in percent, '?' marks doubtful values): {published.get(study).title}"
            curves = _curves([quote for quote in rows if quote.axis])
            listed.append("\n".join([title, _table([quote for quote in rows if not quote.axis]), *curves]))
    return listed


def _table(rows: "Sequence[Quote]") -> str:
    from ...studies import published

    metrics = list(dict.fromkeys(metric for quote in rows for metric in quote.scores))
    lines = [("  where", "data set", "backbone", "outcome", *metrics)]
    for quote in rows:
        place = f"  {quote.source}{', ' * bool(quote.label)}{quote.label}"
        data, network = (published.words(quote.conditions[f"{part}.name"]) for part in ("data", "backbone"))
        scores = (str(quote.scores.get(metric, "-")) for metric in metrics)
        lines.append((place, data, network, quote.outcome, *scores))
    return layout.columns(lines)


def _curves(points: "Sequence[Quote]") -> list[str]:
    lines: dict[str, list[str]] = {}
    for quote in points:
        (score,) = quote.scores.values()
        lines.setdefault(quote.source, []).append(f"{quote.conditions[quote.axis]}: {score.value:g}")
    return [f"  {source}:\n{layout.fill(', '.join(found), 4 * ' ')}" for source, found in lines.items()]
