"""A trial as a value: typed, validated, completed with every default, and named by its content.

``trial`` makes one of a mapping (``building``, with ``layers`` and ``safe_yaml`` below it); ``schema`` says what it
holds, ``checking`` what is refused. ``Trial.mapping()`` is the canonical form: it holds every value, so that a record
can be rerun even if defaults change.

>>> from dmlplayground import config
>>> config.trial({"method": "npairs"}, ["batch_size=32"]).batch_size
32
"""

from ...base.safe_yaml import parse_yaml, read_yaml
from ...parts.layers import COMPONENTS, dotted, expand, merge, nested, overlay, override
from .building import agrees, read, recipe, starts_trained, trial, upgraded
from .checking import check
from .schema import Ensemble, Evaluation, Groups, Head, Named, Trial, reference
from .trial_ids import Places
from .units import Unit, check_batches, check_data, criterion, optimizer_of, total_epochs, units
from .variants import Variants, independent

__all__ = [
    "COMPONENTS", "Ensemble", "Evaluation", "Groups", "Head", "Named", "Places", "Trial", "Unit", "Variants",
    "agrees", "check", "check_batches", "check_data", "criterion", "dotted", "expand", "independent", "merge", "nested",
    "upgraded", "overlay", "override", "optimizer_of", "parse_yaml", "read", "read_yaml", "recipe", "reference",
    "starts_trained", "total_epochs", "trial", "units",
]  # fmt: skip
