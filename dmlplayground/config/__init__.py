"""A trial as a value: typed, validated, completed with every default, and named by its content.

``trial`` makes one of a mapping (``building``, with ``layers`` and ``reading`` below it); ``schema`` says what it
holds, ``checking`` what is refused. ``Trial.mapping()`` is the canonical form: it holds every value, so that a record
can be rerun whatever defaults become.

>>> from dmlplayground import config
>>> config.trial({"method": "npairs"}, ["batch_size=32"]).batch_size
32
"""

from .building import recipe, trial
from .checking import check, check_data
from .layers import COMPONENTS, dotted, expand, merge, nested, override
from .reading import parse_yaml, read_yaml
from .schema import Ensemble, Evaluation, Group, Groups, Head, Named, Optimizer, Protocol, Schedule, Trial

__all__ = [
    "COMPONENTS",
    "Ensemble",
    "Evaluation",
    "Group",
    "Groups",
    "Head",
    "Named",
    "Optimizer",
    "Protocol",
    "Schedule",
    "Trial",
    "check",
    "check_data",
    "dotted",
    "expand",
    "merge",
    "nested",
    "override",
    "parse_yaml",
    "read_yaml",
    "recipe",
    "trial",
]
