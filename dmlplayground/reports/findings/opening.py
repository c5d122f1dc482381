"""What the page is, and what built-in characters cannot tell about photographs: said first."""

from __future__ import annotations

from ...base.layout import plural
from .sections import Section, listed
from .sources import Network, Sources

HEAD = """# What the methods do under equal conditions

The methods of the three [studies](studies.md) side by side, in trials in which as little as possible differs but the method.
Every number here is computed from the records in `experiments/results/equal` and from the studies' published tables, and every
sentence that states a result is made from these numbers. Scores are in percent and differences in percentage points. ± is
the standard deviation over seeds, and intervals are 95 % intervals."""

LIMITS = """A glyph is a printed character in some typeface, drawn in colours, slants, sizes and noise that vary. Photographs of
birds, cars and products have scenes behind them, poses, light, fine detail, parts that are hidden and labels that are wrong;
glyphs have none of these. The trainings are short as well. So this page tells which differences between methods there are
**on glyphs, under these conditions**. It does not tell which method to choose for photographs, nor that a difference that is
missing here is missing there. What may carry over is the way of comparing: how large the noise is, how many methods
can be told apart in spite of it, and what a protocol does to a score."""


def section(sources: Sources) -> Section:
    made = Section([HEAD, "## What glyphs cannot tell about photographs"])
    made.say(LIMITS)
    for network in sources.networks:
        made.say(_data(network))
    if sources.missing:
        folders = listed(f"`{name}`" for name in sources.missing)
        made.say(
            f"No records are there yet of {folders}; what would be computed from them is left out below."
        )
    return made


def _data(network: Network) -> str:
    """What the methods were trained and tested on, as the records have it."""
    cells = network.cells
    told = {record.data.get(half) for cell in cells for record in cell.records for half in ("train", "test")}
    seeds = sorted({record.seed for cell in cells for record in cell.records})
    return (
        f"On {network.name}: {plural(len(cells), 'method')}, {plural(len(seeds), 'seed')} "
        f"({listed(map(str, seeds))}); {'; '.join(sorted(filter(None, told)))}."
    )
