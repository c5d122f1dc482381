"""What the findings do not tell, and how to make them again."""

from __future__ import annotations

from .sections import Section
from .sources import Sources

TEXT = """* **Photographs**: see the top of the page. `equal/cub200`, `equal/cars196` and `equal/sop` are the same comparison for
  those who have the images and a GPU.
* **What more effort would give**: a search with few trials finds good settings, not the best ones. A method with many
  options is served worse by it than a method with few.
* **Other budgets**: a method that learns slowly may lead with more images, and one that learns fast with fewer.
* **More than these seeds**: they vary the network's first weights, the batches and the augmentation. The classes, the
  division into halves and the glyphs themselves are the same in every trial, so their part in the noise is not in any interval.
* **That methods are equal**: methods that cannot be told apart may still differ by less than the noise."""

AGAIN = """A finished trial is never run again, so each of these goes on where it was stopped:

1. `dmlplayground tune equal/search/tune_glyphs` and `dmlplayground tune equal/search/tune_glyphs_pretrained`: the searches.
2. `python experiments/results/keep_searches.py STORE equal/search/NAME`: their winners become the settings, and their records
   are kept with the source.
3. `dmlplayground sweep equal/glyphs`, `dmlplayground sweep equal/glyphs_pretrained` and
   `dmlplayground sweep equal/backbones_glyphs`: the trials.
4. `python experiments/results/update.py STORE equal/NAME`: their records are kept in small.
5. `python -m dmlplayground.reports.findings experiments/results/equal docs`: this page."""


def section(sources: Sources) -> Section:
    return Section(["## What this does not tell", TEXT, "## How to run it again", AGAIN])
