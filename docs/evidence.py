"""What is known of a method beside its record: how it does on the built-in characters, and what studies published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from markdown_text import folded, inline, table

from dmlplayground import hyperparams, metrics
from dmlplayground.reports import published
from dmlplayground.store import records

KEPT = Path(__file__).resolve().parent.parent / "experiments" / "results" / "quickstart"


def on_glyphs(method: str) -> str:
    """Curve and cost of the method in the quick start whose records are kept with the source."""
    runs = [record for record in _kept() if record.config["method"]["name"] == method]
    if not runs:
        return ""
    metric = metrics.headline(runs[0].config["evaluation"])
    curves = [
        {
            epoch["epoch"]: metric.scale * epoch["metrics"][metric.key]
            for epoch in record.epochs
            if "metrics" in epoch
        }
        for record in runs
    ]
    rows = [
        (str(record.config["seed"]), f"{curve[0]:.2f}", f"{curve[max(curve)]:.2f}", f"{record.seconds:.1f} s")
        for record, curve in zip(runs, curves)
    ]
    cores, system = runs[0].machine["cores"], runs[0].machine["processor"]
    return "\n\n".join(
        [
            "## On the built-in characters",
            f"{metric.label} after epochs of training, a line a seed, in the quick start: a small network, trained "
            "from nothing for seconds. It shows that the method learns, not how good it is.",
            curve_svg(curves, metric.label),
            table(("seed", "untrained", "last epoch", f"whole trial ({cores} cores, {system})"), rows),
        ]
    )


@cache
def _kept() -> list[records.Record]:
    return sorted(records.load_store(KEPT), key=lambda record: record.config["seed"])


def curve_svg(curves: Sequence[Mapping[int, float]], label: str) -> str:
    """Lines over epochs as a small picture that needs no script."""
    width, height, left, bottom = 420, 150, 34, 18
    top = max(10.0, max(max(curve.values()) for curve in curves))
    last = max(map(max, curves))

    def place(epoch: int, value: float) -> str:
        x = left + (width - left - 6) * epoch / max(last, 1)
        return f"{x:.1f},{(height - bottom) - (height - bottom - 8) * value / top:.1f}"

    lines = [" ".join(place(*point) for point in sorted(curve.items())) for curve in curves]
    drawn = "".join(f'<polyline points="{line}"/>' for line in lines)
    return (
        f'<svg class="curve" viewBox="0 0 {width} {height}" role="img" aria-label="{label} by epoch">'
        f'<path d="M{left} 8V{height - bottom}H{width - 6}"/>{drawn}'
        f'<text x="{left - 4}" y="14" text-anchor="end">{top:.0f}</text>'
        f'<text x="{left - 4}" y="{height - bottom}" text-anchor="end">0</text>'
        f'<text x="{width - 6}" y="{height - 4}" text-anchor="end">epoch {last}</text></svg>'
    )


def settings(method) -> str:
    """Every value that a study gives the method, with its source, a table a recipe."""
    found = []
    for name, recipe in hyperparams.of_method(method.key):
        values = hyperparams.describe(method.key, recipe.on(recipe.backbone))
        rows = [
            (f"`{key}`", f"`{value.value}`", inline(" ".join(filter(None, [value.source or "", value.note]))))
            for key, value in values.items()
        ]
        note = inline(" ".join(recipe.note.split()))
        title = f"{name.study}, {name.data}" + f", row {name.row}" * (name.row != method.key)
        found.append(folded(title, f"{note}\n\n{table(('key', 'value', 'source'), rows)}"))
    if not found:
        return ""
    words = "; ".join(f"*{source}*: {meaning}" for source, meaning in hyperparams.SOURCES.items())
    return "\n\n".join(["## Published settings", *found, f"The words of the last column. {words}."])


def published_of(method: str) -> str:
    """What studies report of the method."""
    found = []
    for study in published.names():
        quotes = [quote for quote in published.of_method(method) if quote.study == study]
        rows, points = [q for q in quotes if not q.axis], [q for q in quotes if q.axis]
        if quotes:
            warning = inline(published.get(study).warning)
            found += [f"### {inline(published.get(study).title)}", warning, _rows(rows), _points(points)]
    if not found:
        return ""
    return "\n\n".join(["## Published numbers", "In percent; ? where there is reason to doubt it.", *found])


def _rows(quotes: Sequence[published.Quote]) -> str:
    if not quotes:
        return ""
    names = list(dict.fromkeys(metric for quote in quotes for metric in quote.scores))
    rows = []
    for quote in quotes:
        place = quote.source + f", {quote.label}" * bool(quote.label)
        where = [_words(quote.conditions.get(f"{part}.name", "")) for part in ("data", "backbone")]
        rows.append((inline(place), *where, quote.outcome, *(_score(quote, name) for name in names)))
    return table(("where", "data set", "network", "outcome", *names), rows)


def _points(quotes: Iterable[published.Quote]) -> str:
    lines: dict[str, list[str]] = {}
    for quote in quotes:
        (score,) = quote.scores.values()
        lines.setdefault(quote.source, []).append(f"{quote.conditions[quote.axis]}: {score.value:g}")
    return "\n".join(f"* {inline(source)}: {', '.join(found)}" for source, found in lines.items())


def _words(condition) -> str:
    return inline(str(condition) if isinstance(condition, str) else " or ".join(map(str, condition)))


def _score(quote: published.Quote, metric: str) -> str:
    score = quote.scores.get(metric)
    return f"{score.value:g}{'?' * bool(score.doubt)}" if score else ""
