"""What will run, and how it went."""

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base import layout, registry
from .listing import value

if TYPE_CHECKING:
    from ..trial.config import Trial
    from ..trial.store.records import Record

MOST_SHOWN = 500  # trials of a dry run that are listed


def conditions(trials: "Sequence[Trial]", recipe: Mapping[str, Any] = {}) -> str:
    """The data, networks and protocols of these trials, and what a recipe sets, so that nothing is chosen silently."""
    rows = []
    for word, plural in {"data": "data", "network": "backbones", "protocol": "protocols"}.items():
        parts = (getattr(trial, registry.kind(plural).setting) for trial in trials)
        different = {repr(part): part for part in parts}.values()
        rows.append((word, "; ".join(dict.fromkeys(_part(plural, part) for part in different))))
    settings = ", ".join(f"{key}={value(one)}" for key, one in recipe.items())
    said = [layout.fill(f"the recipe sets {settings}", later="  ")] if recipe else []
    return "\n".join([layout.columns(rows), *said])


def _part(plural: str, component: Mapping[str, Any]) -> str:
    """A part by its name, with the options that are not at their defaults: ``cub200 (boxes=true)``."""
    name, given = registry.split(component)
    known = registry.kind(plural).get(name).options
    own = [f"{key}={value(one)}" for key, one in given.items() if key in known and one != known[key].default]
    return f"{name} ({', '.join(own)})" if own else name


def dry_run(
    trials: "Sequence[Trial]", store: Path, recipe: Mapping[str, Any] = {}, elsewhere: bool = False
) -> None:
    """Print what would run, after checking everything that can be checked without running it."""
    whole = [configuration(trials[0])] if len(trials) == 1 else []
    print("\n".join([conditions(trials, recipe), *look(trials, elsewhere), *whole, remaining(trials, store)]))


def configuration(trial: "Trial") -> str:
    """Every setting of a trial, as YAML that ``train`` takes."""
    import yaml

    form: dict[str, Any] = {"sort_keys": False, "default_flow_style": None, "allow_unicode": True}
    written = yaml.safe_dump(trial.mapping(), width=(layout.width() or layout.LONG) - 2, **form)
    return "all settings:\n" + textwrap.indent(written.rstrip(), "  ")


def look(trials: "Sequence[Trial]", elsewhere: bool = False) -> list[str]:
    """Errors for what the data or, unless trials run ``elsewhere``, this machine do not allow; notes on sets not here yet."""
    from ..sweeps import checks

    notes: list[str] = []
    checks.require(trials, here=not elsewhere, notes=notes)
    return notes


def remaining(trials: "Sequence[Trial]", store: Path) -> str:
    """What would run, and how much of it is done already."""
    from ..sweeps.job import status
    from ..trial.config import Places
    from ..trial.store import packed

    rows, there = [], {path.name for path in store.iterdir()} if store.is_dir() else set()
    for folder in map(Places(store).folder, trials):  # of many trials that are new, none is asked for
        begun = folder.name in there or packed.FILE in there
        rows.append((folder.name, status(folder) if begun else "not started"))
    more = [f"and {len(rows) - MOST_SHOWN:,} more"] if len(rows) > MOST_SHOWN else []
    counted = tally(Counter(state for _, state in rows))
    count = layout.plural(len(trials), "trial")
    return "\n".join([layout.columns(rows[:MOST_SHOWN]), *more, f"{count} in {store}: {counted}"])


def tally(states: Counter) -> str:
    """``24 finished, 2 failed``"""
    return ", ".join(f"{count} {state}" for state, count in states.most_common()) + "."


def results(record: "Record", folder: Path) -> str:
    """A finished trial's results."""
    from ..parts import metrics, protocols

    # If a result has several models, each has figures of its own; the report shows their mean.
    protocol = protocols.get(record.config["protocol"]["name"])
    models = {key: _models(record.results.get(key)) for key in (protocols.UNTOUCHED, *protocol.results)}
    shown = {key: entries[0] for key, entries in models.items() if len(entries) == 1}
    names = list([*shown.values()][-1]["metrics"])
    rows = [("", *names)]
    for key, entry in shown.items():
        label = f"{key} (epoch {entry['epoch']})" if entry.get("epoch") else key
        rows.append((label, *(metrics.get(name).shown(entry["metrics"][name]) for name in names)))
    lines = [layout.columns(rows), f"finished in {record.seconds:.0f} s; record in {folder}"]
    return "\n".join([*lines, *_worse_than_before(protocol.trained, record.results)])


def _models(result: Any) -> list[Mapping[str, Any]]:
    """The models of a result."""
    return result if isinstance(result, list) else [result] if result else []


def _worse_than_before(trained: str, results: Mapping[str, Any]) -> list[str]:
    """A warning if training made the network worse at classes that it has not seen."""
    from ..parts import metrics, protocols

    after = next(iter(_models(results.get(trained))), {}).get("metrics", {})
    advice = "Train with a lower optimizer.lr or fewer steps (iterations, epochs)"
    starts = {
        protocols.UNTOUCHED: ("untouched features", f"{advice}, or use the features themselves."),
        protocols.UNTRAINED: ("untrained network", f"{advice}."),
    }
    for which, (start, remedy) in starts.items():
        before, worse = results.get(which, {}).get("metrics", {}), []
        for name in after:
            metric, values = metrics.get(name), (before.get(name), after[name])
            if metric.leads and None not in values and metric.better(*values):
                worse.append(f"{name} {metric.shown(after[name])} (before: {metric.shown(before[name])})")
        if worse:
            below = f"warning: training ended below the {start}: {'; '.join(worse)}."
            return [
                layout.fill(f"{below} On new classes the network was better before. {remedy}", later="  ")
            ]
    return []


def scores(values: Mapping[str, Any]) -> str:
    """Metrics, one on a line: in percent, or as plain numbers where they are not fractions."""
    from ..parts import metrics

    return layout.columns([(name, metrics.get(name).shown(value)) for name, value in values.items()])


def report(store: Path, anew: bool = True) -> None:
    """Make the report of a store, and print its leaderboard; unless ``anew`` only if something is newer than the page."""
    from .. import reports

    if not anew and (page := reports.unchanged(store)):
        print(f"report: {page}, made when the last trial had ended")
        return
    page, board = reports.made(store)
    print(f"\n{reports.terminal(board)}\n\nreport: {page}")
