"""Using a trained network: embeddings of any images, exact search among them, and files for other programs.

>>> import dmlplayground as dml
>>> model = dml.load("runs/quickstart/margin-glyphs-conv4-e64-s0-93eb9d9b95")   # doctest: +SKIP
>>> embeddings = model.embed(["a.jpg", "b.jpg"])                                # doctest: +SKIP
>>> index = model.search("photos")                                              # doctest: +SKIP
>>> index.find("query.jpg", count=5)                                            # doctest: +SKIP
"""

from pathlib import Path
from typing import TYPE_CHECKING

from ..trial.store import BEST
from .index import Index

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Index", "load"]


def load(target: str | Path, which: str = BEST, engine: str = "float32") -> "Model":
    """The trained model of a trial (its folder), or of an export (its ``.json``).

    ``which`` is the trial's ``best`` or ``last`` model; for a validated trial it is always the folds' models together.
    ``engine`` is how embeddings are computed: float32, fused (the same numbers, faster) or bfloat16.

    >>> model = dml.load(trial)
    >>> model.embed(np.zeros((2, 24, 24, 3), np.uint8)).shape
    (2, 8)
    """
    from .model import Model  # loads MXNet

    return Model(Path(target), which, engine)
