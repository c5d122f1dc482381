"""How a part does on the built-in characters: its curve and its cost, read off records that are kept with the source."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from markdown_text import folded, inline, table

from dmlplayground import __version__, config, metrics
from dmlplayground.base import registry, resources
from dmlplayground.base.registry import Kind, Part
from dmlplayground.reports import place
from dmlplayground.trial.store import records

WARNING = "Small images and a training of seconds: this shows what the part does and what it costs, not how good it is."
KEPT = Path(__file__).resolve().parent.parent / "experiments" / "results"


def on_glyphs(plural: str, kind: Kind, part: Part) -> str:
    """Curve and cost in the grid that trains every part of the kind once, and those of the quick start."""
    if plural == "metrics":
        return _of_metric(part)
    sections = [
        _section(_naming(f"parts/{plural}", kind, part), f"parts/{plural}"),
        _section(_naming("quickstart", kind, part), "quickstart") if plural == "methods" else "",
    ]
    told = [section for section in sections if section]
    return "\n\n".join(["## On the built-in characters", WARNING, *told]) if told else ""


def _section(runs: Sequence[records.Record], experiment: str) -> str:
    if not runs:
        return ""
    metric = metrics.headline(runs[0].config["evaluation"])
    about = config.read_yaml(resources.find_experiment(experiment))["about"]
    rows = [
        (
            record.config["method"]["name"],
            str(record.seed),
            *(
                f"{curve[epoch]:.2f}"
                for curve in [_curve(record, metric)]
                for epoch in (min(curve), max(curve))
            ),
            _cost(record, experiment),
        )
        for record in runs
    ]
    heads = ("method", "seed", f"{metric.label} untrained", "last epoch", "processor time a step")
    curves = curve_svg([_curve(record, metric) for record in runs], metric.label)
    return "\n\n".join([f"`{experiment}`: {inline(' '.join(about.split()))}", curves, table(heads, rows)])


def _naming(store: str, kind: Kind, part: Part) -> list[records.Record]:
    return [record for record in _kept(store) if part.key in _named(record.config, kind.setting)]


def _named(configuration: Mapping[str, Any], setting: str) -> list[str]:
    """The parts that a configuration names under a key; augmentations are a transform's."""
    where = configuration["transform"] if setting == "augment" else configuration
    given = where.get(setting) or []
    return [
        each["name"] if isinstance(each, Mapping) else each
        for each in (given if isinstance(given, list) else [given])
    ]


@cache
def _kept(store: str) -> list[records.Record]:
    folder = KEPT / store
    return sorted(records.load_store(folder), key=lambda record: record.seed) if folder.is_dir() else []


def _curve(record: records.Record, metric: metrics.Metric) -> dict[int, float]:
    """The mean over the trial's trainings, epoch by epoch."""
    found: dict[int, list[float]] = {}
    for entry in record.epochs:
        if metric.key in entry.get("metrics", {}):
            found.setdefault(entry["epoch"], []).append(metric.scale * entry["metrics"][metric.key])
    return {epoch: sum(values) / len(values) for epoch, values in found.items()}


def _step(record: records.Record) -> float:
    """Milliseconds that the processor works for a step of training: the least of the epochs, which nothing disturbed."""
    return min(
        (1000 * e["processor_seconds"] / e["steps"] for e in record.epochs if "processor_seconds" in e),
        default=0,
    )


def _cost(record: records.Record, experiment: str) -> str:
    """Seconds belong to a machine; how a step compares with the others of the grid says more."""
    if not (step := _step(record)):
        return f"trial of {record.seconds:.1f} s"
    usual = median(_step(other) for other in _kept(experiment))
    return f"{step:.1f} ms, {step / usual:.2f} times the median of the grid"


def costs() -> str:
    """What a step of training costs with each part, a table a kind."""
    found = []
    for plural in registry.HOMES:
        kind, kept = registry.kind(plural), _kept(f"parts/{plural}")
        runs = {name: _naming(f"parts/{plural}", kind, kind.get(name)) for name in kind.names()}
        steps = {name: min(map(_step, own)) for name, own in runs.items() if own}
        rows = [
            (f"[{name}](parts/{plural}/{name}.md)", f"{step:.1f}", f"{step / median(map(_step, kept)):.2f}")
            for name, step in sorted(steps.items(), key=lambda pair: pair[1])
        ]
        heads = (kind.name, "ms of the processor a step", "times the median")
        found += [folded(plural.capitalize(), table(heads, rows))] if rows else []
    return "\n\n".join(found)


def _of_metric(part: Part) -> str:
    """The metric itself, epoch by epoch, in a trial that measures all."""
    for record in _kept("parts/metrics"):
        for name in record.epochs[0]["metrics"]:
            if metrics.get(name).family == part.key:
                curve = _curve(record, metrics.get(name))
                values = f"{curve[min(curve)]:.4g} untrained, {curve[max(curve)]:.4g} trained"
                told = f"{name} in one trial of `parts/metrics`: {values}."
                drawn = curve_svg([curve], metrics.get(name).label)
                return "\n\n".join(["## On the built-in characters", WARNING, inline(told), drawn])
    return ""


def curve_svg(curves: Sequence[Mapping[int, float]], label: str) -> str:
    """Lines over epochs as a small picture that needs no script."""
    width, height, left, bottom = 420, 150, 34, 18
    highest = max(max(curve.values()) for curve in curves)
    top = highest if highest < 1.5 else max(10.0, highest)
    last = max(map(max, curves))

    def place(epoch: int, value: float) -> str:
        x = left + (width - left - 6) * epoch / max(last, 1)
        return f"{x:.1f},{(height - bottom) - (height - bottom - 8) * value / top:.1f}"

    lines = [" ".join(place(*point) for point in sorted(curve.items())) for curve in curves]
    drawn = "".join(f'<polyline points="{line}"/>' for line in lines)
    return (
        f'<svg class="curve" viewBox="0 0 {width} {height}" role="img" aria-label="{label} by epoch">'
        f'<path d="M{left} 8V{height - bottom}H{width - 6}"/>{drawn}'
        f'<text x="{left - 4}" y="14" text-anchor="end">{top:.2g}</text>'
        f'<text x="{left - 4}" y="{height - bottom}" text-anchor="end">0</text>'
        f'<text x="{left + 6}" y="14">{label}</text>'
        f'<text x="{width - 6}" y="{height - 4}" text-anchor="end">epoch {last}</text></svg>'
    )


# --- the findings ---------------------------------------------------------------------------------------------------

FINDINGS = Path(__file__).resolve().parent / "findings.json"  # written by makers/findings.py
KINDS = {
    "scratch": "a network trained from scratch",
    "finetuned": "a pretrained network, trained further",
    "features": "a head on frozen features",
}


def found(path: Path = FINDINGS) -> dict[str, Any]:
    """What the findings say of every arena in which methods can be compared."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def supported(*kinds: str, path: Path = FINDINGS) -> set[str]:
    """The methods that cannot be told apart from the best in some arena of these kinds: a complete one, if there is any."""
    told = [one for one in found(path).values() if one["kind"] in kinds]
    complete = [one for one in told if one["complete"]]
    return {name for one in complete or told for name in one["best"]}


def recommended() -> str:
    """Which methods to begin with, as the findings have it."""
    complete = {name: one for name, one in found().items() if one["complete"]}
    if not complete:
        return "No arena of [the findings](findings.md) is complete yet, so they recommend no method."
    lines = [
        f"* {KINDS[one['kind']].capitalize()} (`{name}`, by {one['score']}): {', '.join(f'`{best}`' for best in one['best'])}"
        for name, one in complete.items()
    ]
    about = "These cannot be told apart from the best of an arena of [the findings](findings.md):"
    return "\n".join([about, "", *lines])


def in_arenas(method: str) -> str:
    """A method's card: its score and place in each arena, with badges, and how to cite them."""
    own = {name: one for name, one in found().items() if method in one["methods"]}
    if not own:
        return ""
    rows = [
        (
            name,
            one["score"],
            f"{one['methods'][method]['mean']:.1f}",
            _ends(one["methods"][method]),
            _place(one, method),
            "not told apart from the best" if method in one["best"] else f"below {one['best'][0]}",
        )
        for name, one in own.items()
    ]
    heads = ("arena", "score", "mean", "95 % interval", "place", "")
    pictures = " ".join(
        f"![{name}: place {_place(one, method)}]({_badge(method, name)})" for name, one in own.items()
    )
    return "\n\n".join(
        [
            "## In the findings",
            table(heads, rows),
            PLACES,
            pictures,
            folded("Cite it", f"```bibtex\n{bibtex(method)}```"),
        ]
    )


PLACES = (
    "A place is a range: methods that cannot be told apart share it. "
    "[`dmlplayground place`](../../place.md) puts any other method, or other settings, beside these."
)


def badges() -> dict[str, str]:
    """Path of each badge -> the picture."""
    return {
        f"parts/methods/{_badge(method, name)}": place.badge(name, tuple(how["places"]), len(one["methods"]))
        for name, one in found().items()
        for method, how in one["methods"].items()
    }


def bibtex(method: str) -> str:
    """An entry that names what was measured, and with which version."""
    own = {name: one for name, one in found().items() if method in one["methods"]}
    notes = [
        f"{name}: {one['score']} {one['methods'][method]['mean']:.1f} ({_ends(one['methods'][method])}), "
        f"place {_place(one, method)}"
        for name, one in own.items()
    ]
    return (
        f"@misc{{dmlplayground_{method},\n  title = {{{{{method} in the arenas of dmlplayground}}}},\n"
        f"  author = {{{{The dmlplayground contributors}}}},\n  year = {{{max(one['year'] for one in own.values())}}},\n"
        f"  note = {{dmlplayground {__version__}. {'; '.join(notes)}}}\n}}\n"
    )


def _ends(how: Mapping[str, Any]) -> str:
    return " to ".join(f"{end:.1f}" for end in how["interval"])


def _place(one: Mapping[str, Any], method: str) -> str:
    return place.among(tuple(one["methods"][method]["places"]), len(one["methods"]))


def _badge(method: str, arena: str) -> str:
    return f"{method}-{arena}.svg"
