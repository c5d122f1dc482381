"""Makes the winners of searches rows of the recipe ``equal``; ``keep.py`` keeps the records.

python experiments/results/keep_searches.py experiments/results/arenas/glyphs/search

Of a method's searches the one with the better validation score counts.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from dmlplayground import config, hyperparams
from dmlplayground.base import files

ROWS = Path(__file__).resolve().parents[2] / "hyperparams" / "equal"


def main(store: str) -> None:
    best: dict[str, hyperparams.Hyperparams] = {}
    for winner in sorted(Path(store).rglob(hyperparams.WINNER)):
        file = hyperparams.read(winner)
        if file.method not in best or file.search["value"] > best[file.method].search["value"]:
            best[file.method] = file
    for method, file in best.items():
        write_row(ROWS / file.search["data"]["name"] / f"{method}.yaml", file)


def write_row(path: Path, winner: hyperparams.Hyperparams) -> None:
    """Put what was searched into the row, beside what it says already."""
    row: dict[str, Any] = (config.read_yaml(path) or {}) if path.exists() else {}
    common = config.read_yaml(path.with_name(f"{hyperparams.COMMON}.yaml"))
    found = {
        key: {"value": entry.value, "source": entry.source}
        for key, entry in winner.values.items()
        if entry.source == "search" and not key.startswith("protocol.")  # experiments have their own
    }
    if winner.backbone == common["values"]["backbone.name"]["value"]:
        row["target"] = round(100 * winner.search["value"], 2)
        row["values"] = {**row.get("values", {}), **found}
    else:
        own = row.setdefault("backbones", {}).setdefault(winner.backbone, {})
        own["values"] = {**own.get("values", {}), **found}
    with files.replacing(path) as stream:
        stream.write("# Written by experiments/results/keep_searches.py\n" + _yaml(row))


def _yaml(row: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(row), sort_keys=False, default_flow_style=None, width=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
